#pragma once

#include <vector>

#include "config/hadoop_conf.h"
#include "process/rm/token_issuer.h"
#include "shell/base/hdfs_services.h"

namespace fairlead::shell {

/// Whose tokens the resource manager renews for applications: HDFS's name nodes (dfs.namenode.kerberos.principal) and
/// MapReduce's history server (mapreduce.jobhistory.principal).
std::vector<process::rm::TokenIssuer> ReadTokenIssuers(const config::HadoopConf& conf);

/// How the manager gets new tokens of HDFS for users of applications.
process::rm::IssueRules ReadIssueRules(const config::HadoopConf& conf, const AddressOf& address_of);

}  // namespace fairlead::shell
