#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "endpoints/yarn/rpc_server_session.h"
#include "env/gss.h"
#include "env/loop.h"
#include "process/login/web_login.h"
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
  std::string host;  // stands for _HOST; empty: the machine's own name
  std::string rules;
  bool mit = false;
};
/// Checks what needs neither files nor a resolver; what is missing or cannot be honoured is an error of the
/// configuration.
DaemonIdentity ReadDaemonIdentity(const config::HadoopConf& conf, const std::string& prefix, const std::string& host);

/// `principal` with what the resolver calls `host` in the place of _HOST. For any thread; may wait.
std::string PrincipalAt(const std::string& principal, const std::string& host);

struct DaemonLogin {
  std::unique_ptr<env::Gss> gss;
  std::string principal;  // without _HOST
  endpoints::yarn::KerberosLogin login;
};
/// Opens the keytab and reads krb5.conf; an error says what to do. Asks the resolver.
base::Result<DaemonLogin> LogIn(env::Loop& loop, const DaemonIdentity& identity);

/// Whose tickets a web port takes: hadoop.http.authentication.kerberos.{principal,keytab}, else a daemon's own keys
/// PREFIX.spnego-{principal,keytab-file}.
struct WebIdentity {
  std::string principal;  // "HTTP/_HOST@EXAMPLE.COM"; "*": every HTTP/ of the keytab
  std::string keytab;     // empty: none
  std::string host;       // stands for _HOST
};
/// hadoop.http.authentication.*: fills `out` but for what must be opened. Where Kerberos is on, a web port takes
/// tickets unless hadoop.http.authentication.type is simple (stock leaves it open); without a key nobody gets in, and a
/// warning says so. Reads the file of the secret.
WebIdentity ReadWebIdentity(const config::HadoopConf& conf, const std::string& prefix, const std::string& host,
                            process::login::WebSecurity& out, std::vector<std::string>& warnings);
/// Whose ticket a client shows to web ports: the same key, else HTTP/_HOST in the realm of `daemon`'s principal; empty
/// where ports take none.
std::string WebPrincipal(const config::HadoopConf& conf, const std::string& daemon);
/// Null without a keytab. Asks the resolver.
base::Result<std::unique_ptr<env::Gss>> OpenWeb(env::Loop& loop, const WebIdentity& identity);

}  // namespace fairlead::shell
