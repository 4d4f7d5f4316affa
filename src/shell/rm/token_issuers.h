#pragma once

#include <vector>

#include "config/hadoop_conf.h"
#include "process/rm/token_issuer.h"

namespace fairlead::shell {

/// Whose tokens the resource manager renews for applications: HDFS's name nodes (dfs.namenode.kerberos.principal; a
/// service "ha-hdfs:NAME" by dfs.ha.namenodes.NAME and dfs.namenode.rpc-address.NAME.ID) and MapReduce's history
/// server (mapreduce.jobhistory.principal).
std::vector<process::rm::TokenIssuer> ReadTokenIssuers(const config::HadoopConf& conf);

}  // namespace fairlead::shell
