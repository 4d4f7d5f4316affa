#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "env_posix/posix_loop.h"
#include "process/http/metrics.h"
#include "process/http/server.h"
#include "shell/shuffle/runtime.h"

namespace fairlead::shell {

/// /metrics of a service: Spark's counters by its names.
process::http::MetricsText ShuffleMetrics(const ShuffleRuntime::Status& status);

/// What a service's page is made of: its files and its numbers. `path`: what follows the page's own address, "" for the
/// page itself, "status", "static/page.js". False: there is no such thing. `done` is told at once, or on the thread of
/// the service's core.
bool TellShufflePage(ShuffleRuntime& runtime, const process::http::Request& request, std::string_view path,
                     std::function<void(process::http::Response)> done);

/// In the state directory: the page's address ("https://" before it where it is that), and the token that orders must
/// carry, a line each.
inline constexpr const char* kShufflePageFile = "/shuffle.web";

/// The separate service's page: / for people (web/shuffle), /status (JSON), /metrics (Prometheus) for everybody who
/// reaches it, and POST /drain for who can read the state directory.
class ShufflePage {
 public:
  using DrainHandler = std::function<void(base::Duration idle, base::Duration limit)>;
  /// All on `loop`; the references must outlive the page. `tls`: the net on which it is HTTPS; null: it is HTTP.
  ShufflePage(env_posix::PosixLoop& loop, env::Net* tls, ShuffleRuntime& runtime, DrainHandler on_drain);

  /// `state`: the state directory; empty: nobody can give orders.
  base::Status Listen(const env::Endpoint& endpoint, process::http::KnownHosts hosts, const std::string& state);
  /// As this machine reaches it.
  std::string address() const;

 private:
  void Answer(const process::http::Request& request, const process::http::Server::Reply& reply);
  void Drain(const process::http::Request& request, const process::http::Server::Reply& reply);

  env_posix::PosixLoop& loop_;
  env::Net* const tls_;
  ShuffleRuntime& runtime_;
  const DrainHandler on_drain_;
  const std::string token_;
  std::unique_ptr<process::http::Server> server_;
};

}  // namespace fairlead::shell
