#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/nm.h"
#include "process/nm/ports.h"

namespace fairlead::shell {

struct WebSource {
  std::string scheme;     // hdfs, webhdfs, swebhdfs, http, https
  std::string authority;  // host:port, or the name of an HDFS name service
  std::string path;
  std::string user;
  std::string web_address;  // WebHDFS of the authority; "" when unknown
  std::vector<process::nm::FileSystemToken> tokens = {};
};

/// Fetches a file through HTTP (libcurl): HDFS by WebHDFS (GETFILESTATUS for the time stamp, OPEN for the bytes), http
/// and https as they are, into the open file `to`. The file system's modification time must be the resource's. A server
/// that is slower than 16 KiB a second for a minute is given up.
base::Status FetchFromWeb(const WebSource& source, const model::nm::LocalResource& resource, int to, int64_t bytes_max);

}  // namespace fairlead::shell
