#pragma once

#include <functional>
#include <memory>
#include <string>

#include "env_posix/posix_loop.h"
#include "process/http/metrics.h"
#include "process/http/server.h"
#include "shell/shuffle/runtime.h"

namespace fairlead::shell {

/// /metrics of a service: Spark's counters by its names.
process::http::MetricsText ShuffleMetrics(const ShuffleRuntime::Status& status);

/// In the state directory: the page's address, and the token that orders must carry, a line each.
inline constexpr const char* kShufflePageFile = "/shuffle.web";

/// The separate service's page: / for people (web/shuffle), /status (JSON), /metrics (Prometheus) for everybody who
/// reaches it, and POST /drain for who can read the state directory.
class ShufflePage {
 public:
  using DrainHandler = std::function<void(base::Duration idle, base::Duration limit)>;
  /// All on `loop`; the references must outlive the page.
  ShufflePage(env_posix::PosixLoop& loop, ShuffleRuntime& runtime, const process::shuffle::Config& config,
              DrainHandler on_drain);

  /// `state`: the state directory; empty: nobody can give orders.
  base::Status Listen(const env::Endpoint& endpoint, process::http::KnownHosts hosts, const std::string& state);
  std::string address() const;

 private:
  void Answer(const process::http::Request& request, const process::http::Server::Reply& reply);
  process::http::Response Drain(const process::http::Request& request);

  env_posix::PosixLoop& loop_;
  ShuffleRuntime& runtime_;
  const process::shuffle::Config& config_;
  const DrainHandler on_drain_;
  const std::string token_;
  std::unique_ptr<process::http::Server> server_;
};

}  // namespace fairlead::shell
