#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/hadoop_conf.h"

namespace fairlead::config {

/// By name service (dfs.nameservices) the addresses of its name nodes, as written: KEY.SERVICE.NODE for each of
/// dfs.ha.namenodes.SERVICE, and KEY.SERVICE. A service without any is left out.
std::map<std::string, std::vector<std::string>> NameNodes(const HadoopConf& conf, const std::string& key);

}  // namespace fairlead::config
