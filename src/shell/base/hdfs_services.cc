#include "shell/base/hdfs_services.h"

#include <string_view>

#include "config/name_nodes.h"

namespace fairlead::shell {

namespace {

constexpr std::string_view kScheme = "hdfs://";
constexpr std::string_view kLogical = "ha-hdfs:";
constexpr uint16_t kPort = 8020;

}  // namespace

HdfsServices::HdfsServices(const config::HadoopConf& conf)
    : by_address_(conf.Bool("hadoop.security.token.service.use_ip", true)) {
  for (const auto& [name, written] : config::NameNodes(conf, "dfs.namenode.rpc-address")) {
    for (const std::string& one : written) {
      const base::Result<env::Endpoint> address = env::ParseEndpoint(one, kPort);
      if (address.ok()) names_[name].push_back(*address);
    }
  }
}

std::string HdfsServices::ServiceOf(const std::string& uri, const AddressOf& address_of) const {
  if (!uri.starts_with(kScheme)) return "";
  std::string at = uri.substr(kScheme.size());
  at = at.substr(0, at.find('/'));
  if (const std::string name = config::ServiceNameOf(at); names_.contains(name)) return std::string(kLogical) + name;
  base::Result<env::Endpoint> endpoint = env::ParseEndpoint(at, kPort);
  if (!endpoint.ok()) return "";
  if (by_address_) endpoint->host = address_of(endpoint->host);
  return endpoint->host.empty() ? "" : endpoint->ToString();
}

std::vector<env::Endpoint> HdfsServices::AddressesOf(const std::string& service) const {
  if (service.starts_with(kLogical)) {
    const auto found = names_.find(service.substr(kLogical.size()));
    return found == names_.end() ? std::vector<env::Endpoint>{} : found->second;
  }
  const base::Result<env::Endpoint> endpoint = env::ParseEndpoint(service);
  return endpoint.ok() ? std::vector<env::Endpoint>{*endpoint} : std::vector<env::Endpoint>{};
}

}  // namespace fairlead::shell
