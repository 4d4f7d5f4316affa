#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "env/disk.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/tls.h"
#include "process/tls/tls_net.h"

namespace fairlead::engine {

/// The net on which a driver's page listens by HTTPS, with the key and certificate of the job's settings
/// (fairlead.tls.certificate, fairlead.tls.key: PEM files of the machine that runs the driver). They are read once.
class PageTls {
 public:
  /// Null: the settings name no certificate, and the page is HTTP.
  static base::Result<std::unique_ptr<PageTls>> Open(env::Loop& loop, env::Net& net, env::Disk& disk,
                                                     const std::map<std::string, std::string>& settings);
  PageTls(env::Loop& loop, env::Net& net, std::shared_ptr<env::Tls> tls)
      : tls_(std::move(tls)), net_(loop, net, *tls_) {}
  env::Net& net() { return net_; }

 private:
  const std::shared_ptr<env::Tls> tls_;
  process::tls::TlsListening net_;
};

}  // namespace fairlead::engine
