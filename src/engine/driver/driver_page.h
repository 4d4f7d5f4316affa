#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/history/history.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/http/server.h"

namespace fairlead::engine {

/// Serves an application's history on a web port: "/" leads to the page for people (web/engine), "/events.jsonl" is the
/// event log that the page reads, "/running.json" are the tasks that run now, "/history.json" is for programs (ToJson).
/// Of a running driver and, after its end, of `fairlead history --serve`. On the loop's thread.
class DriverPage {
 public:
  /// Bytes of the log in one answer.
  static constexpr size_t kLogPartMax = 4 << 20;

  /// Up to kLogPartMax bytes of the event log from a byte on; nothing: there is no log.
  using Log = std::function<std::optional<std::string>(int64_t start)>;
  static Log LogOfFile(std::string path);
  static Log LogOfText(std::string text);

  /// Behind the resource manager's proxy, which knows who may see the application: requests with the secret are the
  /// proxy's, all others are led to it.
  struct Proxy {
    std::string url;  // without a final slash
    std::string secret;
  };

  /// The history must outlive the page. `proxy`: none: whoever asks sees the page. `https`: `net` speaks TLS.
  static base::Result<std::unique_ptr<DriverPage>> Listen(env::Loop& loop, env::Net& net, const env::Endpoint& endpoint,
                                                          const history::History& history, Log log,
                                                          std::optional<Proxy> proxy = std::nullopt,
                                                          bool https = false);
  /// By HTTPS the host is the endpoint's as it was said: the certificate names it.
  const std::string& url() const { return url_; }

 private:
  std::unique_ptr<process::http::Server> server_;
  std::string url_;
};

}  // namespace fairlead::engine
