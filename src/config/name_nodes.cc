#include "config/name_nodes.h"

namespace fairlead::config {

std::map<std::string, std::vector<std::string>> NameNodes(const HadoopConf& conf, const std::string& key) {
  std::map<std::string, std::vector<std::string>> out;
  for (const std::string& service : conf.List("dfs.nameservices")) {
    const auto add = [&](const std::string& of) {
      if (const std::string address = conf.String(of); !address.empty()) out[service].push_back(address);
    };
    for (const std::string& node : conf.List("dfs.ha.namenodes." + service)) add(key + "." + service + "." + node);
    add(key + "." + service);
  }
  return out;
}

std::string ServiceNameOf(const std::string& authority) {
  constexpr std::string_view kDefaultPort = ":8020";
  if (!authority.ends_with(kDefaultPort)) return authority;
  return authority.substr(0, authority.size() - kDefaultPort.size());
}

}  // namespace fairlead::config
