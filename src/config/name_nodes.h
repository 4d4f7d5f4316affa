#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/hadoop_conf.h"

namespace fairlead::config {

/// By name service (dfs.nameservices) the addresses of its name nodes, as written: KEY.SERVICE.NODE for each of
/// dfs.ha.namenodes.SERVICE, and KEY.SERVICE. A service without any is left out.
std::map<std::string, std::vector<std::string>> NameNodes(const HadoopConf& conf, const std::string& key);

/// The name service that an authority of hdfs:// may mean: its own name, without HDFS's default port, which FileContext
/// adds (HAUtilClient.isLogicalUri).
std::string ServiceNameOf(const std::string& authority);

}  // namespace fairlead::config
