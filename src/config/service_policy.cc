#include "config/service_policy.h"

#include <utility>

#include "config/allocation_file.h"
#include "model/access_list.h"

namespace fairlead::config {

namespace {

constexpr std::string_view kAcl = ".acl";
constexpr std::string_view kDefault = "security.service.authorization.default.acl";

/// What `key` says, else what the default's says, else `last`.
std::string PolicyValue(const HadoopConf& policy, const std::string& key, const std::string& of_default,
                        const std::string& last) {
  if (policy.IsSet(key)) return policy.String(key);
  return policy.IsSet(of_default) ? policy.String(of_default) : last;
}

std::string HostsKey(std::string_view acl_key) {
  return std::string(acl_key.substr(0, acl_key.size() - kAcl.size())) + ".hosts";
}

}  // namespace

base::Result<ServicePolicy> ServicePolicy::Read(const HadoopConf& policy, std::span<const Service> services,
                                                const ResolveHost& resolve) {
  ServicePolicy out;
  for (const Service& service : services) {
    Rule& rule = out.rules_[std::string(service.protocol)];
    const std::string key(service.key);
    const std::string of_default(kDefault);
    rule.allowed = ParseAccessList(PolicyValue(policy, key, of_default, "*"));
    rule.blocked = ParseAccessList(PolicyValue(policy, key + ".blocked", of_default + ".blocked", " "));
    const std::string hosts_key = HostsKey(key);
    const std::string default_hosts = HostsKey(kDefault);
    const auto read = [&](const std::string& suffix, const char* last, MachineList& list) -> base::Status {
      base::Result<MachineList> hosts =
          MachineList::Parse(PolicyValue(policy, hosts_key + suffix, default_hosts + suffix, last), resolve);
      if (!hosts.ok()) return base::Error{hosts_key + suffix + ": " + hosts.error().message};
      list = std::move(*hosts);
      return {};
    };
    if (const base::Status hosts = read("", "*", rule.hosts); !hosts.ok()) return hosts.error();
    if (const base::Status blocked = read(".blocked", "", rule.blocked_hosts); !blocked.ok()) return blocked.error();
  }
  return out;
}

bool ServicePolicy::NamesGroups(std::string_view protocol) const {
  const auto at = rules_.find(protocol);
  return at != rules_.end() && (!at->second.allowed.groups.empty() || !at->second.blocked.groups.empty());
}

base::Status ServicePolicy::Judge(const Claim& claim) const {
  const std::string protocol(claim.protocol.substr(0, 300));
  const auto at = rules_.find(claim.protocol);
  if (at == rules_.end()) return base::Error{"Unknown protocol: " + protocol};
  const Rule& rule = at->second;
  if (!model::Lists(rule.allowed, claim.user, claim.groups) || model::Lists(rule.blocked, claim.user, claim.groups)) {
    return base::Error{"User " + claim.shown + " is not authorized for protocol interface " + protocol +
                       ": denied by configured ACL"};
  }
  if (!rule.hosts.Includes(claim.address) || rule.blocked_hosts.Includes(claim.address)) {
    return base::Error{"Host " + claim.address + " is not authorized for protocol interface " + protocol};
  }
  return {};
}

}  // namespace fairlead::config
