#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "endpoints/yarn/rpc_server_session.h"
#include "env/gss.h"
#include "env/loop.h"
#include "wire/hadoop_rpc/sasl_layer.h"

// Hadoop's keys about Kerberos: hadoop.security.authentication, hadoop.rpc.protection, hadoop.security.auth_to_local,
// and each daemon's principal and keytab.

namespace fairlead::shell {

inline constexpr char kManagerPrincipal[] = "yarn.resourcemanager.principal";
inline constexpr char kNodePrincipal[] = "yarn.nodemanager.principal";

/// Whether hadoop.security.authentication is kerberos; what is neither that nor simple is an error of the
/// configuration.
bool IsKerberos(const config::HadoopConf& conf);

/// hadoop.rpc.protection: "privacy,integrity"; what is unknown is an error of the configuration.
wire::hadoop_rpc::Protections ReadProtections(const config::HadoopConf& conf);

/// A daemon's principal and keytab; `prefix` is "yarn.resourcemanager" or "yarn.nodemanager".
struct DaemonIdentity {
  std::string principal;  // as it is written
  std::string keytab;
  std::string host;  // stands for _HOST
  std::string rules;
  bool mit = false;
};
/// Checks what needs neither files nor a resolver; what is missing or cannot be honoured is an error of the
/// configuration.
DaemonIdentity ReadDaemonIdentity(const config::HadoopConf& conf, const std::string& prefix, const std::string& host);

struct DaemonLogin {
  std::unique_ptr<env::Gss> gss;
  std::string principal;  // without _HOST
  endpoints::yarn::KerberosLogin login;
};
/// Opens the keytab and reads krb5.conf; an error says what to do. Asks the resolver.
base::Result<DaemonLogin> LogIn(env::Loop& loop, const DaemonIdentity& identity);

}  // namespace fairlead::shell
