#include "shell/rm/token_issuers.h"

#include <map>
#include <string>
#include <utility>

#include "config/name_nodes.h"
#include "process/rm/token_services.h"

namespace fairlead::shell {

using config::HadoopConf;
using process::rm::TokenIssuer;

namespace {

constexpr char kLogical[] = "ha-hdfs:";  // HAUtilClient.buildTokenServiceForLogicalUri

std::map<std::string, std::vector<env::Endpoint>> NameServices(const HadoopConf& conf) {
  std::map<std::string, std::vector<env::Endpoint>> out;
  for (const auto& [service, written] : config::NameNodes(conf, "dfs.namenode.rpc-address")) {
    for (const std::string& one : written) {
      const base::Result<env::Endpoint> address = env::ParseEndpoint(one, 8020);
      if (address.ok()) out[service].push_back(*address);
    }
  }
  return out;
}

std::string Value(const HadoopConf& conf, const std::string& key) { return conf.IsSet(key) ? conf.String(key) : ""; }

}  // namespace

std::vector<TokenIssuer> ReadTokenIssuers(const HadoopConf& conf) {
  TokenIssuer hdfs;
  hdfs.kind = "HDFS_DELEGATION_TOKEN";
  hdfs.protocol = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
  hdfs.key = "dfs.namenode.kerberos.principal";
  hdfs.principal = Value(conf, hdfs.key);
  hdfs.addresses = [services = NameServices(conf)](const std::string& service) {
    if (!service.starts_with(kLogical)) return process::rm::AddressOfService(service);
    const auto found = services.find(service.substr(sizeof kLogical - 1));
    return found == services.end() ? std::vector<env::Endpoint>{} : found->second;
  };
  TokenIssuer history;
  history.kind = "MR_DELEGATION_TOKEN";
  history.protocol = "org.apache.hadoop.mapreduce.v2.api.HSClientProtocolPB";
  history.key = "mapreduce.jobhistory.principal";
  history.principal = Value(conf, history.key);
  history.addresses = process::rm::AddressOfService;
  return {std::move(hdfs), std::move(history)};
}

}  // namespace fairlead::shell
