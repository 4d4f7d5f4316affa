#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "env/disk.h"
#include "env/log.h"
#include "env/net.h"
#include "env_posix/posix_loop.h"
#include "process/http/known_hosts.h"
#include "process/http/server.h"
#include "shell/tls/spark_tls.h"
#include "shell/tls/web_tls.h"

namespace fairlead::shell {

/// Where a Standalone daemon's page is to be.
struct PagePlace {
  env::Endpoint at;
  std::string host;  // as which others know this machine
  int retries = 0;   // spark.port.maxRetries
  const char* key;   // that says another port
  process::http::KnownHosts hosts;
  std::optional<PageTls> tls;
};

/// A Standalone daemon's page: by HTTP; or by HTTPS, and at the port of HTTP what sends browsers there
/// (org.apache.spark.ui.JettyUtils.startJettyServer).
class PagePort {
 public:
  static base::Result<std::unique_ptr<PagePort>> Open(env_posix::PosixLoop& loop, env::Disk& disk, env::Log& log,
                                                      const PagePlace& place, process::http::Server::Handler handler);

  /// On which the daemon's other web ports listen when they are to be HTTPS; null without.
  env::Net* tls_net() const { return tls_ ? &tls_->net() : nullptr; }
  /// As others reach it.
  const std::string& url() const { return url_; }
  /// Requests that have not come to the handler.
  uint64_t refused() const { return page_->refused() + (plain_ ? plain_->refused() : 0); }

 private:
  PagePort() = default;
  base::Status SendToPage(const env::Endpoint& page, env_posix::PosixLoop& loop, env::Log& log, const PagePlace& place);

  std::unique_ptr<WebTls> tls_;  // null: HTTP
  std::unique_ptr<process::http::Server> page_;
  std::unique_ptr<process::http::Server> plain_;  // beside HTTPS
  std::string url_;
};

}  // namespace fairlead::shell
