#include <strings.h>

#include <utility>

#include "process/http/client.h"
#include "process/rm/web.h"

// /proxy/APPLICATION/...: the page of a running master, fetched for the browser (WebAppProxyServlet). Masters' own
// filters (AmIpFilter) let only the proxy in.

namespace fairlead::process::rm {

namespace {

struct Target {
  env::Endpoint endpoint;
  std::string path;  // without the final slash
};

/// "http://host:port/base" or "host:port/base".
base::Result<Target> ParseUrl(std::string url) {
  if (url.starts_with("https://")) return base::Error{"the master's page is HTTPS, which the proxy does not speak"};
  if (url.starts_with("http://")) url.erase(0, 7);
  const size_t slash = url.find('/');
  base::Result<env::Endpoint> endpoint = env::ParseEndpoint(url.substr(0, slash), 80);
  if (!endpoint.ok()) return endpoint.error();
  Target target{std::move(*endpoint), slash == std::string::npos ? "" : url.substr(slash)};
  while (target.path.ends_with('/')) target.path.pop_back();
  return target;
}

/// The part of the target after "/proxy/APPLICATION".
std::string RestOf(const std::string& target, const std::string& id) {
  const size_t at = target.find(id);
  std::string rest = at == std::string::npos ? "" : target.substr(at + id.size());
  return rest.empty() ? "/" : rest;
}

bool Forwarded(const std::string& name) {
  static constexpr const char* kNames[] = {"Accept",
                                           "Accept-Language",
                                           "Accept-Charset",
                                           "User-Agent",
                                           "Content-Type",
                                           "Origin",
                                           "Access-Control-Request-Method",
                                           "Access-Control-Request-Headers"};
  for (const char* known : kNames) {
    if (name.size() == std::string_view(known).size() && strncasecmp(name.c_str(), known, name.size()) == 0)
      return true;
  }
  return false;
}

}  // namespace

void Web::Proxy(const http::Request& request, const Segments& path, const Reply& reply) {
  if (path.empty()) return reply(http::TextResponse(404, "Write /proxy/APPLICATION/\n"));
  // Masters' pages may act on GET: a page of another site must not fetch them in somebody's browser.
  if (http::IsForeignFetch(request)) return reply(http::TextResponse(403, "Follow a link to come here.\n"));
  if (request.method != "GET" && request.method != "HEAD" && request.method != "PUT") {
    return reply(http::TextResponse(405, "The proxy passes on GET, HEAD and PUT alone.\n"));
  }
  std::string id = path[0] == "redirect" && path.size() > 1 ? path[1] : path[0];
  const base::Result<model::ApplicationId> parsed = model::ParseApplicationId(id);
  const App* app = parsed.ok() ? manager_.core().FindApp(*parsed) : nullptr;
  if (!app) return reply(http::TextResponse(404, "Application " + id + " could not be found in RM.\n"));
  const Attempt* attempt = app->current();
  const std::string page = manager_.core().config().web_base + "/cluster/app/" + id;
  if (!attempt || attempt->original_url.empty() || attempt->original_url == "N/A" || attempt->original_url == page) {
    return reply(http::Redirect(page));
  }
  const bool running = attempt->state == model::rm::AttemptState::kRunning;
  // A running master judges by the cookie below who sees what; where an ended one's history lies is told here.
  if (!running && !manager_.MayAccess(UserOf(request), *app, false)) return reply(http::Redirect(page));
  const std::string& url = attempt->original_url;
  if (!running) return reply(http::Redirect(url.starts_with("http") ? url : "http://" + url));
  // A page without its final slash would resolve its links one level too high.
  const std::string rest = RestOf(request.target, id);
  if (path.size() == 1 && rest[0] != '/' && rest[0] != '?') return reply(http::Redirect("/proxy/" + id + "/"));
  base::Result<Target> target = ParseUrl(url);
  if (!target.ok()) return reply(http::TextResponse(502, target.error().message + "\n"));
  http::ClientRequest fetch;
  fetch.endpoint = target->endpoint;
  fetch.method = request.method;
  fetch.target = rest == "/" && !target->path.empty() ? target->path : target->path + rest;
  for (const auto& [name, value] : request.headers) {
    if (Forwarded(name)) fetch.headers.emplace_back(name, value);
  }
  fetch.headers.emplace_back("Cookie", "proxy-user=" + http::PercentEncode(UserOf(request)));
  fetch.body = request.body;
  http::Fetch(loop_, net_, std::move(fetch), [reply, id](base::Result<http::Response> answer) {
    if (!answer.ok()) {
      return reply(
          http::TextResponse(502, "The master of " + id + " does not answer: " + answer.error().message + "\n"));
    }
    http::Response response = std::move(*answer);
    std::erase_if(response.headers, [](const auto& header) {
      return strncasecmp(header.first.c_str(), "Transfer-Encoding", 17) == 0 ||
             strncasecmp(header.first.c_str(), "Content-Length", 14) == 0 ||
             strncasecmp(header.first.c_str(), "Content-Type", 12) == 0 ||
             strncasecmp(header.first.c_str(), "Connection", 10) == 0;
    });
    reply(std::move(response));
  });
}

}  // namespace fairlead::process::rm
