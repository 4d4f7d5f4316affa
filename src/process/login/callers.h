#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "endpoints/yarn/rpc_identity.h"
#include "env/net.h"

namespace fairlead::process::login {

/// How callers are known where there is no KDC (fairlead.auth=credentials): on this machine by the kernel's word for
/// the process at the other end of a connection, from other machines by a credential, which is looked at before this.
struct CallerRules {
  /// The user whose process of this machine holds the end `peer` of a connection to `local`; nothing: another
  /// machine's.
  std::function<std::optional<std::string>(const env::Endpoint& peer, const env::Endpoint& local)> local_user;
  std::set<std::string> node_users;  // may run node agents on this machine
  /// fairlead.auth.networks: clients there are believed when they say that they are one of `trusted_users`.
  std::function<bool(const std::string& address)> trusted = {};
  std::set<std::string> trusted_users = {};  // "*": anybody
};

/// Who can become anybody on his machine (su), and so says as whom he acts.
inline constexpr std::string_view kRoot = "root";

/// Why a caller who shows no more than a name is refused; `node`: at the port of nodes. The answer says what to do.
base::Status Believe(const CallerRules& rules, const endpoints::yarn::Caller& caller, const env::Endpoint& peer,
                     const env::Endpoint& local, bool node);
/// Whether clients of that address are believed when they say that they are `user`.
bool IsTrusted(const CallerRules& rules, const std::string& address, const std::string& user);

}  // namespace fairlead::process::login
