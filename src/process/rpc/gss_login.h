#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/gss.h"
#include "wire/hadoop_rpc/sasl_layer.h"

namespace fairlead::process::rpc {

/// SASL's mechanism GSSAPI (RFC 4752) as the JDK speaks it: a context of Kerberos, then two wrapped messages that agree
/// on a protection. All on the loop's thread.
class GssLogin {
 public:
  using Done = std::function<void(base::Result<wire::hadoop_rpc::LoginStep>)>;

  /// `address`: the client's.
  static std::unique_ptr<GssLogin> OfServer(env::Gss& gss, const std::string& address,
                                            const wire::hadoop_rpc::Protections& offered);
  /// `principal` and `host`: env::Gss::Initiate.
  static std::unique_ptr<GssLogin> OfClient(env::Gss& gss, const std::string& principal, const std::string& host,
                                            const wire::hadoop_rpc::Protections& wanted);

  virtual ~GssLogin() = default;
  /// What the peer has sent; nothing at a client's first step. One at a time. `done` may be called from inside this
  /// call, and not any more once this is destroyed. A server's error is what the client is told.
  virtual void Step(std::string token, Done done) = 0;
  /// Why it failed, for this side alone.
  virtual const std::string& cause() const = 0;
};

}  // namespace fairlead::process::rpc
