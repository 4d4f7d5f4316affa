#include "process/tls/watched_tls.h"

#include <utility>

#include "base/hash.h"

namespace fairlead::process::tls {

WatchedTls::WatchedTls(env::Loop& loop, TlsFilesSource source) : source_(std::move(source)), timer_(loop) {
  Look();
  Watch();
}

void WatchedTls::Watch() {
  if (source_.look.ns == 0) return;
  timer_.After(source_.look, [this] {
    Look();
    Watch();
  });
}

void WatchedTls::Look() {
  const base::Result<std::string> bytes = source_.read();
  base::StateHasher hash;
  hash.Mix(uint64_t{bytes.ok()});
  hash.Mix(bytes.ok() ? *bytes : bytes.error().message);
  const bool first = !seen_;
  if (std::exchange(seen_, hash.value()) == hash.value()) return;
  base::Result<std::shared_ptr<env::Tls>> made = bytes.ok() ? source_.make(*bytes) : bytes.error();
  const base::Status status = made.ok() ? base::Status() : made.error();
  if (made.ok()) current_ = std::move(*made);
  opened_ = current_ ? base::Status() : status;
  if (!first) source_.on_changed(status);
}

}  // namespace fairlead::process::tls
