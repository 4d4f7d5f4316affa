#include "shell/rm/unread_rights.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "shell/kerberos/kerberos.h"

namespace fairlead::shell {
namespace {

/// A file may have any number of keys.
constexpr size_t kTold = 200;
constexpr size_t kLookedUp = 1000;

/// Beginnings of keys that cannot mean a resource manager of ours.
constexpr std::string_view kNothingHere[] = {
    "hadoop.http.acceptor.count",
    "hadoop.http.cross-origin.allowed-",  // `.enabled` is told
    "hadoop.http.cross-origin.max-age",
    "hadoop.http.jmx.nan-filter.",
    "hadoop.http.logs.enabled",
    "hadoop.http.max.threads",
    "hadoop.http.metrics.enabled",
    "hadoop.http.selector.count",
    "hadoop.http.sni.",
    "hadoop.http.socket.backlog.size",
    "hadoop.http.temp.dir",
    "hadoop.security.auth_to_local",  // read with Kerberos alone, in Hadoop too
    "hadoop.security.credential.",
    "hadoop.security.credstore.",
    "hadoop.security.crypto.",
    "hadoop.security.dns.log-slow-lookups.",
    "hadoop.security.group.mapping.",  // LDAP's and composite ones: hadoop.security.group.mapping refuses these
    "hadoop.security.groups.cache.background.",
    "hadoop.security.groups.cache.warn.",
    "hadoop.security.groups.shell.",
    "hadoop.security.instrumentation.requires.admin",  // the daemon reads it later
    "hadoop.security.java.secure.random.",
    "hadoop.security.kerberos.ticket.cache.path",
    "hadoop.security.key.",
    "hadoop.security.kms.",
    "hadoop.security.openssl.",
    "hadoop.security.random.device.",
    "hadoop.security.secure.random.",
    "hadoop.security.sensitive-config-keys",  // as the one above
    "hadoop.security.service.user.name.key",
    "hadoop.security.token.service.use_ip",
    "hadoop.security.uid.cache.secs",
    "yarn.webapp.filter-invalid-xml-chars",  // they are always
    "yarn.webapp.scheduler-ui.",
    "yarn.webapp.ui2.",
};

/// Hadoop's defaults of further ones (core-default.xml, yarn-default.xml). Sorted by key.
constexpr std::pair<std::string_view, std::string_view> kDefaults[] = {
    {"hadoop.http.authentication.cookie.persistent", "false"},
    {"hadoop.http.authentication.kerberos.endpoint.whitelist", ""},
    {"hadoop.http.authentication.simple.anonymous.allowed", "true"},
    {"hadoop.http.cross-origin.enabled", "false"},
    {"hadoop.http.idle_timeout.ms", "60000"},
    {"hadoop.security.groups.cache.secs", "300"},
    {"hadoop.security.groups.negative-cache.secs", "30"},
    {"hadoop.security.resolver.impl", "org.apache.hadoop.net.DNSDomainNameResolver"},
    {"yarn.webapp.api-service.enable", "false"},
    {"yarn.webapp.ui1.tools.enable", "true"},
    {"yarn.webapp.xfs-filter.enabled", "true"},
};

/// Filters of web ports whose work other keys switch on here.
constexpr std::string_view kFilters[] = {
    "org.apache.hadoop.http.lib.StaticUserWebFilter",
    "org.apache.hadoop.security.AuthenticationFilterInitializer",
    "org.apache.hadoop.security.authentication.server.ProxyUserAuthenticationFilterInitializer",
};

/// `value` as it is written: asking for it would make the key one that is read.
bool IsDefault(const std::string& key, std::string_view value) {
  if (key == "hadoop.http.filter.initializers") {
    return std::ranges::all_of(base::SplitTrimmed(value, ','), [](const std::string& one) {
      return std::ranges::find(kFilters, one) != std::end(kFilters);
    });
  }
  const auto* found =
      std::ranges::lower_bound(kDefaults, std::string_view(key), {}, [](const auto& row) { return row.first; });
  return value.empty() || (found != std::end(kDefaults) && found->first == key && found->second == value);
}

/// Of Hadoop's filters of logins.
bool IsOfLogin(const std::string& key) {
  return key.starts_with("hadoop.http.authentication.") && !key.ends_with(".anonymous.allowed");
}

}  // namespace

std::vector<UnreadRight> UnreadRights(const config::HadoopConf& conf) {
  const bool kerberos = IsKerberos(conf);
  const std::map<std::string, std::string> written = conf.Explicit();
  std::vector<UnreadRight> told;
  size_t looked_up = 0;
  for (const std::string& key :
       conf.Unread({"hadoop.security.", "hadoop.http.", "yarn.webapp.", "yarn.authorization-provider"})) {
    const auto begins = [&](std::string_view one) { return key.starts_with(one); };
    if (std::ranges::any_of(kNothingHere, begins) || IsDefault(key, base::Trimmed(written.at(key)))) continue;
    if (++looked_up > kLookedUp || told.size() == kTold) break;
    std::string near = conf.ReadAndNear(key);
    // Without Kerberos nobody has to log in, in Hadoop either; but it may be a key misspelt that counts.
    if (!kerberos && near.empty() && IsOfLogin(key)) continue;
    told.push_back({key, std::move(near)});
  }
  return told;
}

}  // namespace fairlead::shell
