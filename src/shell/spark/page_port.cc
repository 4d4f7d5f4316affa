#include "shell/spark/page_port.h"

#include <utility>

#include "shell/spark/next_port.h"

namespace fairlead::shell {

namespace http = process::http;

namespace {

/// The page is by HTTPS at `at`, or at the name by which it is called. What changes something has come in the clear,
/// and is not sent on.
http::Response SendToHttps(const http::Request& request, const env::Endpoint& at) {
  const auto called = env::ParseEndpoint(http::FindHeader(request.headers, "Host"), at.port);
  const std::string page =
      "https://" + env::Endpoint{called.ok() ? called->host : at.host, at.port}.ToString() + request.target;
  if (request.method == "GET" || request.method == "HEAD") return http::Redirect(page);
  return http::TextResponse(400, "This page is by HTTPS alone: write " + page + "\n");
}

}  // namespace

base::Result<std::unique_ptr<PagePort>> PagePort::Open(env_posix::PosixLoop& loop, env::Disk& disk, env::Log& log,
                                                       const PagePlace& place, http::Server::Handler handler) {
  std::unique_ptr<PagePort> out(new PagePort());
  env::Endpoint at = place.at;
  env::Net* net = &loop;
  if (place.tls) {
    base::Result<std::unique_ptr<WebTls>> tls = WebTls::Open(loop, loop, disk, log, place.tls->files);
    if (!tls.ok()) return tls.error();
    out->tls_ = std::move(*tls);
    net = &out->tls_->net();
    at.port = place.tls->PortBeside(at.port);
  }
  const char* key = place.tls ? "spark.ssl.standalone.port" : place.key;
  auto page = ListenOnNextFree(log, at, place.retries, "the page", key, [&](const env::Endpoint& here) {
    return http::Server::Listen(loop, *net, here, place.hosts, handler);
  });
  if (!page.ok()) return page.error();
  out->page_ = std::move(*page);
  const env::Endpoint known{place.host, out->page_->local().port};
  out->url_ = (place.tls ? "https://" : "http://") + known.ToString();
  if (!place.tls) return out;
  if (const base::Status plain = out->SendToPage(known, loop, log, place); !plain.ok()) return plain.error();
  return out;
}

base::Status PagePort::SendToPage(const env::Endpoint& page, env_posix::PosixLoop& loop, env::Log& log,
                                  const PagePlace& place) {
  const auto send = [page](const http::Request& request, const http::Server::Reply& reply) {
    reply(SendToHttps(request, page));
  };
  auto plain = ListenOnNextFree(
      log, place.at, place.retries, "the port that sends to the page", place.key,
      [&](const env::Endpoint& here) { return http::Server::Listen(loop, loop, here, place.hosts, send); });
  if (!plain.ok()) return plain.error();
  plain_ = std::move(*plain);
  return {};
}

}  // namespace fairlead::shell
