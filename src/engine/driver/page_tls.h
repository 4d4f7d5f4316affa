#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "env/disk.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/tls/tls_net.h"
#include "process/tls/watched_tls.h"

namespace fairlead::engine {

/// The net on which a driver's page listens by HTTPS, with the key and certificate of the job's settings
/// (fairlead.tls.certificate, fairlead.tls.key: PEM files of the machine that runs the driver). The files are watched.
class PageTls {
 public:
  /// Null: the settings name no certificate, and the page is HTTP. `disk` has to outlive it; `on_news` gets a line when
  /// the files have changed.
  static base::Result<std::unique_ptr<PageTls>> Open(env::Loop& loop, env::Net& net, env::Disk& disk,
                                                     const std::map<std::string, std::string>& settings,
                                                     std::function<void(const std::string&)> on_news);
  env::Net& net() { return net_; }

 private:
  PageTls(env::Loop& loop, env::Net& net, process::tls::TlsFilesSource source)
      : tls_(loop, std::move(source)), net_(loop, net, tls_) {}

  process::tls::WatchedTls tls_;
  process::tls::TlsListening net_;
};

}  // namespace fairlead::engine
