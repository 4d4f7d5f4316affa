#include <utility>

#include "process/http/page_proxy.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// /proxy/APPLICATION/...: the page of a running master, fetched for the browser (WebAppProxyServlet). Masters' own
// filters (AmIpFilter) let only the proxy in; pages of the engine's drivers know it by the attempt's secret. Who may
// not see the application does not get there, as in everything else of it that the manager shows.

namespace fairlead::process::rm {

namespace {

/// The part of the target after "/proxy/APPLICATION".
std::string RestOf(const std::string& target, const std::string& id) {
  const size_t at = target.find(id);
  std::string rest = at == std::string::npos ? "" : target.substr(at + id.size());
  return rest.empty() ? "/" : rest;
}

}  // namespace

std::optional<http::Response> FileOfMaster(const http::Request& request) {
  if (!request.path.starts_with("/static/")) return std::nullopt;
  const base::Result<model::ApplicationId> shown = model::ParseApplicationId(http::ShownFrom(request));
  if (!shown.ok()) return std::nullopt;
  return http::Redirect(std::string(http::kProxyPath) + model::ToString(*shown) + request.target);
}

void Web::Proxy(const http::Request& request, const Segments& path, const Reply& reply) {
  if (path.empty()) return reply(http::TextResponse(404, "Write /proxy/APPLICATION/\n"));
  if (auto refused = http::ProxyRefusal(request, {"GET", "HEAD", "PUT"})) return reply(std::move(*refused));
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
  if (!manager_.access().Of(http::CallerOf(request)).May(*app, false)) return reply(http::Redirect(page));
  const std::string& url = attempt->original_url;
  if (!running) return reply(http::Redirect(url.starts_with("http") ? url : "http://" + url));
  // A page without its final slash would resolve its links one level too high.
  const std::string rest = RestOf(request.target, id);
  if (path.size() == 1 && rest[0] != '/' && rest[0] != '?') return reply(http::Redirect("/proxy/" + id + "/"));
  auto target = http::ParsePageUrl(url, "the master's page");
  if (!target.ok()) return reply(http::TextResponse(502, target.error().message + "\n"));
  http::PassOn(loop_, nets_, request,
               {.page = std::move(*target),
                .rest = rest,
                .below = "/proxy/" + id,
                .owner = app->submission.user,
                .more = {{"Cookie", "proxy-user=" + http::PercentEncode(http::CallerOf(request))},
                         {std::string(http::kPageSecret), manager_.keys().PageSecret(attempt->id)}}},
               [reply, id](base::Result<http::Response> answer) {
                 reply(answer.ok() ? std::move(*answer)
                                   : http::TextResponse(502, "The page of " + id +
                                                                 " cannot be shown: " + answer.error().message + "\n"));
               });
}

}  // namespace fairlead::process::rm
