#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "endpoints/yarn/credentials.h"

namespace fairlead::shell {

struct HdfsTokens {
  endpoints::yarn::Credentials credentials;  // by service, as Hadoop's clients write them
  std::string no_default;                    // why there is none of fs.defaultFS; empty: there is, or none is wanted
};

/// Delegation tokens of HDFS for an application, which the resource manager renews: all in the file of
/// HADOOP_TOKEN_FILE_LOCATION, and, got with the caller's ticket where that has none, of fs.defaultFS and of
/// `file_systems` ("hdfs://nn2:8020"). None without Kerberos. An Error where one of `file_systems` gives none. Blocks:
/// a call each.
base::Result<HdfsTokens> FetchHdfsTokens(const config::HadoopConf& conf, const std::string& user,
                                         const std::vector<std::string>& file_systems);

}  // namespace fairlead::shell
