#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/hadoop_conf.h"
#include "endpoints/yarn/rpc_identity.h"
#include "env/gss.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/tls.h"
#include "wire/hadoop_rpc/sasl_layer.h"

// What the commands' calls have in common.

namespace fairlead::shell {

inline constexpr base::Duration kCallTimeout = base::Duration::Seconds(30);

/// An address that may be a wildcard as one that can be connected to.
env::Endpoint Connectable(env::Endpoint endpoint);

/// As whom the process' user calls.
struct ClientLogin {
  std::unique_ptr<env::Gss> gss;  // with the ticket of kinit; null without Kerberos
  std::string manager_principal;
  std::string manager_server;  // what a manager may say it is: that, or a pattern
  /// Of the file of HADOOP_TOKEN_FILE_LOCATION, in place of a ticket.
  std::optional<endpoints::yarn::RpcToken> manager_token;
  std::string web_principal;  // "HTTP/_HOST@EXAMPLE.COM"; empty: pages take no ticket
  wire::hadoop_rpc::Protections protections;
  std::string credential;         // fairlead.auth.credential; empty: there is none
  std::string scheme;             // of the cluster's pages
  std::shared_ptr<env::Tls> tls;  // null where they are plain
};
/// Errors name the keys that are wrong.
base::Result<ClientLogin> ReadLogin(env::Loop& loop, const config::HadoopConf& conf);
/// Completes `login` by the token of the managers at these addresses, where there is one. Who acts for another user, or
/// has a credential, goes by that.
base::Status TakeTokenFile(const std::vector<env::Endpoint>& managers, ClientLogin& login);

/// HADOOP_PROXY_USER, or "".
std::string ProxyUser();

/// `user`, or whom he acts for, at a server of that principal; by a credential where there is one.
endpoints::yarn::RpcUser UserOf(const std::string& user, std::string principal, const std::string& credential);
/// The same at a resource manager.
endpoints::yarn::RpcUser UserAt(const ClientLogin& login, const std::string& user);

}  // namespace fairlead::shell
