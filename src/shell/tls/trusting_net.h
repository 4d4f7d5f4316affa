#pragma once

#include "env/disk.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/tls/tls_net.h"
#include "process/tls/watched_tls.h"
#include "shell/tls/tls.h"

namespace fairlead::shell {

/// The net by which a daemon fetches others' pages that are HTTPS: a page has to show by its certificate that it is
/// where its address says. The files that say whom to trust are watched; while none could be read, which a warning
/// tells, such pages alone are not fetched.
class TrustingNet final : public process::tls::TlsConnecting {
 public:
  TrustingNet(env::Loop& loop, env::Net& net, env::Disk& disk, env::Log& log, const TlsFiles& trust);
  void Connect(const env::Endpoint& endpoint, base::Duration timeout, ConnectHandler done) override;

 private:
  process::tls::WatchedTls tls_;
};

}  // namespace fairlead::shell
