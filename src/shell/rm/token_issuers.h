#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/hadoop_conf.h"
#include "process/rm/token_issuer.h"

namespace fairlead::shell {

/// The address of a host; "" of one that has none. May wait.
using AddressOf = std::function<std::string(const std::string& host)>;

/// Whose tokens the resource manager renews for applications: HDFS's name nodes (dfs.namenode.kerberos.principal; a
/// service "ha-hdfs:NAME" by dfs.ha.namenodes.NAME and dfs.namenode.rpc-address.NAME.ID) and MapReduce's history
/// server (mapreduce.jobhistory.principal).
std::vector<process::rm::TokenIssuer> ReadTokenIssuers(const config::HadoopConf& conf);

/// How the manager gets new tokens of HDFS for users of applications.
process::rm::IssueRules ReadIssueRules(const config::HadoopConf& conf, const AddressOf& address_of);

}  // namespace fairlead::shell
