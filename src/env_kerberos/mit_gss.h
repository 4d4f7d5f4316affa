#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "env/gss.h"
#include "env/loop.h"

namespace fairlead::env_kerberos {

/// Whose tickets a process uses and takes.
struct GssIdentity {
  std::string principal;  // "rm/host.example.com@EXAMPLE.COM"; empty: whose ticket is in the default cache
  std::string keytab;     // a path; empty: there is none, and nothing is accepted
  /// Accepts tickets in SPNEGO's wrapping as well (RFC 4559). The principal may be "*": every HTTP/ of the keytab.
  bool negotiates = false;
};

/// MIT's library. A keytab is opened once here: one that cannot be read, or has no key of the principal, is an error.
/// A daemon gets its own tickets with it when it needs some, and keeps them in memory. `loop` outlives it. Two threads,
/// begun when needed: one for the tickets of others, one for those that a KDC gives.
base::Result<std::unique_ptr<env::Gss>> MakeGss(env::Loop& loop, const GssIdentity& identity);

/// `principal` with the name of `host` in the place of _HOST, when that is the whole second part
/// (org.apache.hadoop.security.SecurityUtil.getServerPrincipal): what the resolver calls its address, in lower case;
/// 0.0.0.0 is this machine. Asks the resolver.
std::string WithHost(const std::string& principal, const std::string& host);

/// default_realm of krb5.conf, or why there is none.
base::Result<std::string> DefaultRealm();

}  // namespace fairlead::env_kerberos
