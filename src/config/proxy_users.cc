#include "config/proxy_users.h"

#include <boost/algorithm/string/trim.hpp>
#include <string_view>
#include <utility>

#include "model/access_list.h"

namespace fairlead::config {

namespace {

struct ProxyKey {
  std::string name;  // of who acts
  std::string_view what;
};

constexpr std::string_view kUsers = ".users";
constexpr std::string_view kGroups = ".groups";
constexpr std::string_view kHosts = ".hosts";

/// "hadoop.proxyuser.hue.hosts" -> hue, .hosts
std::optional<ProxyKey> ReadKey(std::string_view key, std::string_view prefix) {
  if (!key.starts_with(prefix)) return std::nullopt;
  key.remove_prefix(prefix.size());
  for (const std::string_view what : {kUsers, kGroups, kHosts}) {
    if (key.size() > what.size() && key.ends_with(what)) {
      return ProxyKey{std::string(key.substr(0, key.size() - what.size())), what};
    }
  }
  return std::nullopt;
}

}  // namespace

base::Result<ProxyUsers> ProxyUsers::Read(const HadoopConf& conf, const ResolveHost& resolve) {
  ProxyUsers out;
  for (const std::string_view prefix : {"hadoop.proxyuser.", "yarn.resourcemanager.proxyuser."}) {
    for (const auto& [key, raw] : conf.Explicit()) {
      const std::optional<ProxyKey> read = ReadKey(key, prefix);
      if (!read) continue;
      Rule& rule = out.rules_[read->name];
      if (read->what == kHosts) {
        base::Result<MachineList> hosts = MachineList::Parse(conf.String(key), resolve);
        if (!hosts.ok()) return base::Error{key + ": " + hosts.error().message};
        rule.hosts = std::move(*hosts);
      } else if (boost::algorithm::trim_copy(conf.String(key)) == "*") {
        rule.whose.everybody = true;
      } else {
        (read->what == kUsers ? rule.whose.users : rule.whose.groups) = conf.List(key);
      }
    }
  }
  return out;
}

base::Status ProxyUsers::Judge(const Claim& claim) const {
  const auto at = rules_.find(claim.real);
  if (at == rules_.end() || !model::Lists(at->second.whose, claim.user, claim.groups)) {
    return base::Error{"User: " + claim.real_in_full + " is not allowed to impersonate " + claim.user_as_given};
  }
  if (!at->second.hosts || !at->second.hosts->Includes(claim.address)) {
    return base::Error{"Unauthorized connection for super-user: " + claim.real_in_full + " from IP /" + claim.address};
  }
  return {};
}

}  // namespace fairlead::config
