#pragma once

#include <memory>

#include "env/disk.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/tls.h"
#include "process/tls/tls_net.h"
#include "shell/tls/tls.h"

namespace fairlead::shell {

/// The net by which a daemon fetches others' pages that are HTTPS: a page has to show by its certificate that it is
/// where its address says. What is trusted is read once.
class TrustingNet {
 public:
  /// Null, with a warning, where it cannot be read: nothing but such pages needs it.
  static std::unique_ptr<TrustingNet> Open(env::Loop& loop, env::Net& net, env::Disk& disk, env::Log& log,
                                           const TlsFiles& trust);
  TrustingNet(env::Loop& loop, env::Net& net, std::shared_ptr<env::Tls> tls)
      : tls_(std::move(tls)), net_(loop, net, *tls_) {}
  env::Net& net() { return net_; }

 private:
  const std::shared_ptr<env::Tls> tls_;
  process::tls::TlsConnecting net_;
};

}  // namespace fairlead::shell
