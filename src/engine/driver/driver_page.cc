#include "engine/driver/driver_page.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "endpoints/yarn/tokens.h"
#include "env_posix/host_names.h"
#include "process/http/page_proxy.h"
#include "process/http/static_file.h"

namespace fairlead::engine {

namespace http = process::http;

/// A file of web/; null when there is none of this name.
const http::StaticFile* FindWebFile(std::string_view name);

namespace {

constexpr std::string_view kStatic = "/static/";

/// ?start=BYTES: where to begin.
http::Response LogPart(const http::Request& request, const DriverPage::Log& log) {
  int64_t start = 0;
  if (const auto asked = request.query.find("start"); asked != request.query.end()) {
    const char* const end = asked->second.data() + asked->second.size();
    const auto read = std::from_chars(asked->second.data(), end, start);
    if (read.ec != std::errc() || read.ptr != end || start < 0) return http::TextResponse(400, "start: write bytes\n");
  }
  const std::optional<std::string> text = log(start);
  if (!text) return http::TextResponse(404, "there is no event log\n");
  http::Response response = http::TextResponse(200, *text);
  response.headers.emplace_back("Cache-Control", "no-cache");
  return response;
}

http::Response Answer(const http::Request& request, const history::History& history, const DriverPage::Log& log) {
  if (request.method != "GET" && request.method != "HEAD") return http::TextResponse(405, "only GET\n");
  if (request.path == "/running.json") return http::JsonResponse(200, history::RunningToJson(history));
  if (request.path == "/history.json") return http::JsonResponse(200, history::ToJson(history));
  if (request.path == "/events.jsonl") return LogPart(request, log);
  // Relative, since the resource manager shows this page below an address of its own.
  if (request.path == "/") return http::Redirect("static/history.html");
  if (request.path.starts_with(kStatic)) {
    if (const http::StaticFile* file = FindWebFile(request.path.substr(kStatic.size()))) {
      return http::StaticResponse(request, *file);
    }
  }
  return http::TextResponse(404, "there are /, /events.jsonl, /running.json and /history.json\n");
}

}  // namespace

DriverPage::Log DriverPage::LogOfFile(std::string path) {
  return [path = std::move(path)](int64_t start) -> std::optional<std::string> {
    std::ifstream file(path, std::ios::binary);
    if (path.empty() || !file) return std::nullopt;
    std::string text(kLogPartMax, '\0');
    file.seekg(start);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(file.gcount()));
    return text;
  };
}

DriverPage::Log DriverPage::LogOfText(std::string text) {
  return [text = std::move(text)](int64_t start) -> std::optional<std::string> {
    return text.substr(std::min(static_cast<size_t>(start), text.size()), kLogPartMax);
  };
}

base::Result<std::unique_ptr<DriverPage>> DriverPage::Listen(env::Loop& loop, env::Net& net,
                                                             const env::Endpoint& endpoint,
                                                             const history::History& history, Log log,
                                                             std::optional<Proxy> proxy, bool https) {
  http::KnownHosts hosts;
  for (const std::string& name : env_posix::OwnHostNames()) hosts.AddName(name);
  hosts.AddName(endpoint.host);
  auto server = http::Server::Listen(
      loop, net, endpoint, std::move(hosts),
      [&history, log = std::move(log), proxy = std::move(proxy)](const http::Request& request, const auto& reply) {
        const std::string secret{http::FindHeader(request.headers, http::kPageSecret)};
        if (proxy && !endpoints::yarn::SameSecret(secret, proxy->secret))
          return reply(http::Redirect(proxy->url + request.target));
        reply(Answer(request, history, log));
      });
  if (!server) return server.error();
  auto page = std::make_unique<DriverPage>();
  page->server_ = std::move(*server);
  const env::Endpoint at = page->server_->local();
  page->url_ = https ? "https://" + env::Endpoint{endpoint.host, at.port}.ToString() : "http://" + at.ToString();
  return page;
}

}  // namespace fairlead::engine
