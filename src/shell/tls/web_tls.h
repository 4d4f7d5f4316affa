#pragma once

#include <memory>

#include "base/result.h"
#include "env/disk.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/tls/tls_net.h"
#include "process/tls/watched_tls.h"
#include "shell/tls/tls.h"

namespace fairlead::shell {

/// The net on which a daemon's web ports listen where they are HTTPS, by files that are watched.
class WebTls {
 public:
  static base::Result<std::unique_ptr<WebTls>> Open(env::Loop& loop, env::Net& net, env::Disk& disk, env::Log& log,
                                                    const TlsFiles& files);
  env::Net& net() { return net_; }
  /// Handshakes that failed.
  uint64_t failed() const { return net_.failed(); }

 private:
  WebTls(env::Loop& loop, env::Net& net, process::tls::TlsFilesSource source)
      : tls_(loop, std::move(source)), net_(loop, net, tls_) {}

  process::tls::WatchedTls tls_;
  process::tls::TlsListening net_;
};

}  // namespace fairlead::shell
