#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "env/disk.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/timer.h"
#include "process/tls/tls_net.h"
#include "shell/tls/tls.h"

namespace fairlead::shell {

/// The net on which a daemon's web ports listen where they are HTTPS. Its files are looked at by a timer: new ones
/// count for the connections that come from then on, and what cannot be read leaves the earlier ones in place
/// (org.apache.hadoop.security.ssl.FileMonitoringTimerTask).
class WebTls final : private env::Tls {
 public:
  static base::Result<std::unique_ptr<WebTls>> Open(env::Loop& loop, env::Net& net, env::Disk& disk, env::Log& log,
                                                    TlsFiles files);
  env::Net& net() { return net_; }
  /// Handshakes that failed.
  uint64_t failed() const { return net_.failed(); }

 private:
  using Seen = std::vector<std::pair<base::WallTime, uint64_t>>;  // when each file was changed, its size
  WebTls(env::Loop& loop, env::Net& net, env::Disk& disk, env::Log& log, TlsFiles files);
  std::unique_ptr<env::TlsSession> Accept() override { return current_->Accept(); }
  std::unique_ptr<env::TlsSession> Connect(const std::string& host) override { return current_->Connect(host); }
  Seen Look();
  void Watch();

  env::Disk& disk_;
  env::Log& log_;
  const TlsFiles files_;
  std::shared_ptr<env::Tls> current_;
  Seen seen_;
  process::tls::TlsListening net_;
  env::Timer timer_;
};

}  // namespace fairlead::shell
