#include "shell/rm/token_issuers.h"

#include <map>
#include <string>
#include <utility>

#include "config/name_nodes.h"
#include "process/rm/token_services.h"

namespace fairlead::shell {

using config::HadoopConf;
using process::rm::IssueRules;
using process::rm::TokenIssuer;

namespace {

constexpr char kHdfsKind[] = "HDFS_DELEGATION_TOKEN";
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

/// As tokens of the default file system name it (SecurityUtil.buildTokenService); "" where that is no HDFS, or has no
/// address.
std::string DefaultService(const HadoopConf& conf, const std::map<std::string, std::vector<env::Endpoint>>& services,
                           const AddressOf& address_of) {
  constexpr std::string_view kScheme = "hdfs://";
  std::string at = conf.IsSet("fs.defaultFS") ? conf.String("fs.defaultFS") : "";
  if (!at.starts_with(kScheme)) return "";
  at = at.substr(kScheme.size());
  at = at.substr(0, at.find('/'));
  if (services.contains(at)) return kLogical + at;
  base::Result<env::Endpoint> endpoint = env::ParseEndpoint(at, 8020);
  if (!endpoint.ok()) return "";
  if (conf.Bool("hadoop.security.token.service.use_ip", true)) endpoint->host = address_of(endpoint->host);
  return endpoint->host.empty() ? "" : endpoint->ToString();
}

std::string Value(const HadoopConf& conf, const std::string& key) { return conf.IsSet(key) ? conf.String(key) : ""; }

}  // namespace

std::vector<TokenIssuer> ReadTokenIssuers(const HadoopConf& conf) {
  TokenIssuer hdfs;
  hdfs.kind = kHdfsKind;
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

IssueRules ReadIssueRules(const HadoopConf& conf, const AddressOf& address_of) {
  IssueRules rules;
  rules.timeout = conf.Time("yarn.resourcemanager.delegation-token-renewer.thread-timeout", rules.timeout);
  rules.least_left = conf.Time("yarn.resourcemanager.system-credentials.valid-time-remaining", rules.least_left);
  if (!conf.Bool("yarn.resourcemanager.proxy-user-privileges.enabled", false)) return rules;
  rules.kind = kHdfsKind;
  rules.default_service = DefaultService(conf, NameServices(conf), address_of);
  return rules;
}

}  // namespace fairlead::shell
