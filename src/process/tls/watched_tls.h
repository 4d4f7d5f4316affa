#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "env/loop.h"
#include "env/timer.h"
#include "env/tls.h"

namespace fairlead::process::tls {

/// Files with what a port shows, or with whom a client trusts.
struct TlsFilesSource {
  /// Their bytes now; blocks.
  std::function<base::Result<std::string>()> read;
  std::function<base::Result<std::shared_ptr<env::Tls>>(const std::string& bytes)> make;
  base::Duration look;  // how often they are read again; 0: never
  /// Told of a change after the first look: it counts, or why it does not.
  std::function<void(const base::Status&)> on_changed;
};

/// Keys or trust that follow their files: what has changed counts for the connections that come from then on, and what
/// cannot be read leaves the earlier ones in place (org.apache.hadoop.security.ssl.FileMonitoringTimerTask). Bytes are
/// compared, so that it does not matter how a file is replaced: a link somewhere on the way to it may lead elsewhere.
class WatchedTls final : public env::Tls {
 public:
  WatchedTls(env::Loop& loop, TlsFilesSource source);

  /// An error until the files could be read once; before that nobody may Accept or Connect.
  const base::Status& opened() const { return opened_; }
  std::unique_ptr<env::TlsSession> Accept() override { return current_->Accept(); }
  std::unique_ptr<env::TlsSession> Connect(const std::string& host) override { return current_->Connect(host); }

 private:
  void Look();
  void Watch();

  const TlsFilesSource source_;
  std::optional<uint64_t> seen_;  // hash of the bytes, or of why there are none
  base::Status opened_;
  std::shared_ptr<env::Tls> current_;
  env::Timer timer_;
};

}  // namespace fairlead::process::tls
