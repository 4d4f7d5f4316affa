#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "model/nm.h"

namespace fairlead::shell {

struct WebSource {
  std::string scheme;     // hdfs, webhdfs, swebhdfs, http, https
  std::string authority;  // host:port, or the name of an HDFS name service
  std::string path;
  std::string user;
  std::function<std::string(const std::string& scheme, const std::string& authority)> web_address;
};

/// Fetches a file through HTTP (libcurl): HDFS by WebHDFS (GETFILESTATUS for the time stamp, OPEN for the bytes), http
/// and https as they are. The file system's modification time must be the resource's.
base::Status FetchFromWeb(const WebSource& source, const model::nm::LocalResource& resource, const std::string& to,
                          int64_t bytes_max);

}  // namespace fairlead::shell
