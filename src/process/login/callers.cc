#include "process/login/callers.h"

namespace fairlead::process::login {

bool IsTrusted(const CallerRules& rules, const std::string& address, const std::string& user) {
  if (!rules.trusted || !rules.trusted(address)) return false;
  return rules.trusted_users.contains("*") || rules.trusted_users.contains(user);
}

base::Status Believe(const CallerRules& rules, const endpoints::yarn::Caller& caller, const env::Endpoint& peer,
                     const env::Endpoint& local, bool node) {
  const std::string& said = caller.real_user.empty() ? caller.user : caller.real_user;
  if (const std::optional<std::string> user = rules.local_user(peer, local)) {
    if (node) {
      if (rules.node_users.contains(*user)) return {};
      return base::Error{"User " + *user +
                         " may run no node agent on this machine; fairlead.auth.node-users names "
                         "those who may"};
    }
    if (*user == said || *user == kRoot) return {};
    return base::Error{"User " + said + " is refused: this process is " + *user + "'s, and acts as " + *user +
                       " alone; drop HADOOP_USER_NAME (--user), or let " + *user +
                       " act for others by hadoop.proxyuser." + *user + ".*"};
  }
  if (!node && IsTrusted(rules, peer.host, said)) return {};
  return base::Error{"User " + said + " at " + peer.host + " is not known here; 'fairlead credentials make " +
                     (node ? "--node" : "--client") + " NAME' on the resource manager's machine makes a file with " +
                     "which 'fairlead join FILE' lets this machine in" +
                     (node ? "" : ", and fairlead.auth.networks lets in clients that know no such file")};
}

}  // namespace fairlead::process::login
