#include "shell/callers/callers.h"

#include <pwd.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "config/machine_list.h"
#include "env_posix/peer_user.h"
#include "shell/callers/credential.h"
#include "shell/kerberos/kerberos.h"

namespace fairlead::shell {

using config::HadoopConf;

namespace {

constexpr char kNetworks[] = "fairlead.auth.networks";
constexpr char kUsers[] = "fairlead.auth.users";
constexpr char kNodeUsers[] = "fairlead.auth.node-users";

std::string NameOf(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry != nullptr ? entry->pw_name : std::to_string(user);
}

/// The kernel's word, and the names of users, which are looked up once: that may ask a directory.
class LocalUsers {
 public:
  std::optional<std::string> Of(const env::Endpoint& peer, const env::Endpoint& local) {
    const std::optional<uid_t> user = env_posix::UserOfConnection(peer, local);
    if (!user) return std::nullopt;
    const auto [at, fresh] = names_.try_emplace(*user);
    if (fresh) at->second = NameOf(*user);
    return at->second;
  }

 private:
  std::map<uid_t, std::string> names_;
};

std::string Joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
  return out;
}

void ReadTrusted(const HadoopConf& conf, process::login::CallerRules& rules, std::vector<std::string>& warnings) {
  const std::string networks = Joined(conf.List(kNetworks));
  if (networks.empty()) return;
  // Addresses alone: who answers for a name could let himself in.
  const auto unknown = [](const std::string&) { return std::vector<std::string>(); };
  base::Result<config::MachineList> list = config::MachineList::Parse(networks, unknown);
  if (!list.ok()) return conf.Refuse(kNetworks, list.error().message);
  const std::vector<std::string> users = conf.List(kUsers);
  if (users.empty()) {
    return conf.Refuse(kUsers, std::string("whom clients in ") + kNetworks +
                                   " may say they are is not written; write users' names, or * for anybody");
  }
  rules.trusted = [trusted = std::move(*list)](const std::string& address) { return trusted.Includes(address); };
  rules.trusted_users = {users.begin(), users.end()};
  warnings.push_back("whoever has an address in " + networks + " is believed when he says that he is " +
                     (rules.trusted_users.contains("*") ? "anybody" : Joined(users)) + " (" + kNetworks + ")");
}

}  // namespace

bool KnowsCallers(const HadoopConf& conf) {
  const std::string how = conf.String(kAuth, "simple");
  if (how != "simple" && how != "credentials") {
    conf.Refuse(kAuth, "'" + how + "' is unknown; write credentials or simple");
  }
  return how == "credentials";
}

void SetDefaultAuth(const SettingsSource& source, HadoopConf& conf) {
  if (!source.hadoop_conf.empty() || conf.IsSet(kAuth) || IsKerberos(conf) || !env_posix::TellsUsers().ok()) return;
  // Managers that cannot know each other so; their warning says what is open.
  const bool known = conf.IsSet("hadoop.zk.auth") || conf.IsSet("yarn.resourcemanager.zk-auth");
  if (conf.Bool("yarn.resourcemanager.ha.enabled", false) && !known) return;
  conf.Set(kAuth, "credentials", {"by default", 0, 0});
}

void ReadCallers(const HadoopConf& conf, process::login::WebSecurity& out, std::vector<std::string>& warnings) {
  if (!KnowsCallers(conf)) return;
  if (IsKerberos(conf)) {
    return conf.Refuse(kAuth, "Kerberos says who calls (hadoop.security.authentication); write simple, or drop it");
  }
  if (const base::Status tells = env_posix::TellsUsers(); !tells.ok()) return conf.Refuse(kAuth, tells.error().message);
  auto rules = std::make_shared<process::login::CallerRules>();
  rules->local_user = [users = std::make_shared<LocalUsers>()](const env::Endpoint& peer, const env::Endpoint& local) {
    return users->Of(peer, local);
  };
  const std::vector<std::string> node_users = conf.List(kNodeUsers);
  rules->node_users = {node_users.begin(), node_users.end()};
  rules->node_users.insert({"root", NameOf(::geteuid())});
  ReadTrusted(conf, *rules, warnings);
  out.mode = process::login::WebMode::kCallers;
  out.callers = std::move(rules);
}

}  // namespace fairlead::shell
