#include "shell/rm/token_issuers.h"

#include <string>
#include <utility>

#include "process/rm/token_services.h"
#include "shell/kerberos/server_principal.h"

namespace fairlead::shell {

using config::HadoopConf;
using process::rm::IssueRules;
using process::rm::TokenIssuer;

namespace {

std::string Value(const HadoopConf& conf, const std::string& key) { return conf.IsSet(key) ? conf.String(key) : ""; }

}  // namespace

std::vector<TokenIssuer> ReadTokenIssuers(const HadoopConf& conf) {
  TokenIssuer hdfs;
  hdfs.kind = kHdfsTokenKind;
  hdfs.protocol = kHdfsProtocol;
  hdfs.key = kNameNodePrincipal;
  hdfs.principal = ServerPrincipal(conf, hdfs.key);
  hdfs.addresses = [services = HdfsServices(conf)](const std::string& service) {
    return services.AddressesOf(service);
  };
  hdfs.web_kind = kWebHdfsTokenKind;
  const std::string name_node = Value(conf, hdfs.key);
  if (const size_t realm = name_node.rfind('@'); realm != std::string::npos) {
    hdfs.web_principal = "HTTP/_HOST" + name_node.substr(realm);
  }
  TokenIssuer history;
  history.kind = "MR_DELEGATION_TOKEN";
  history.protocol = "org.apache.hadoop.mapreduce.v2.api.HSClientProtocolPB";
  history.key = "mapreduce.jobhistory.principal";
  history.principal = ServerPrincipal(conf, history.key);
  history.addresses = process::rm::AddressOfService;
  return {std::move(hdfs), std::move(history)};
}

IssueRules ReadIssueRules(const HadoopConf& conf, const AddressOf& address_of) {
  IssueRules rules;
  rules.timeout = conf.Time("yarn.resourcemanager.delegation-token-renewer.thread-timeout", rules.timeout);
  rules.least_left = conf.Time("yarn.resourcemanager.system-credentials.valid-time-remaining", rules.least_left);
  if (!conf.Bool("yarn.resourcemanager.proxy-user-privileges.enabled", false)) return rules;
  rules.kind = kHdfsTokenKind;
  rules.default_service = HdfsServices(conf).ServiceOf(Value(conf, "fs.defaultFS"), address_of);
  return rules;
}

}  // namespace fairlead::shell
