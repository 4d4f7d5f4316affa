#include "process/spark_master/master_proxy.h"

#include <optional>
#include <utility>

#include "process/spark_master/master_json.h"
#include "process/spark_master/standalone_application.h"

namespace fairlead::process::spark_master {

namespace {

constexpr std::string_view kStatic = "/static/";

/// "/proxy/ID" -> ID, and what follows it, from the "/" or "?" on.
std::pair<std::string, std::string> Split(std::string_view target) {
  target.remove_prefix(http::kProxyPath.size());
  const size_t end = std::min(target.find_first_of("/?"), target.size());
  return {std::string(target.substr(0, end)), std::string(target.substr(end))};
}

}  // namespace

MasterProxy::MasterProxy(env::Loop& loop, http::PageNets nets, StandaloneMaster& master, ReverseProxy settings)
    : loop_(loop), nets_(nets), master_(master), settings_(std::move(settings)) {}

bool MasterProxy::Takes(const http::Request& request) const {
  if (!settings_.on) return false;
  if (request.target.starts_with(http::kProxyPath)) return true;
  return request.path.starts_with(kStatic) && FindWebFile(request.path.substr(kStatic.size())) == nullptr &&
         !UrlOf(http::ShownFrom(request)).empty();
}

void MasterProxy::Handle(const http::Request& request, const http::Server::Reply& reply) const {
  if (!request.target.starts_with(http::kProxyPath)) {
    return reply(http::Redirect(settings_.front + "/proxy/" + http::ShownFrom(request) + request.target));
  }
  if (auto refused = http::ProxyRefusal(request, {"GET", "HEAD", "POST"})) return reply(std::move(*refused));
  const auto [id, rest] = Split(request.target);
  const std::string below = settings_.front + "/proxy/" + id;
  const std::string url = UrlOf(id);
  if (url.empty()) return reply(http::TextResponse(403, "No worker and no running application has this id.\n"));
  // A page without its final slash would resolve its links one level too high.
  if (!rest.starts_with('/')) return reply(http::Redirect(below + "/" + rest));
  auto page = http::ParsePageUrl(url, "the page");
  if (!page.ok()) return reply(http::TextResponse(502, page.error().message + "\n"));
  http::PassOn(loop_, nets_, request,
               {.page = std::move(*page),
                .rest = rest,
                .below = below,
                .owner = id,
                // Where a page's author asks for it, links begin there (org.apache.spark.ui.UIUtils.uiRoot).
                .more = {{"X-Forwarded-Context", below}}},
               [reply](base::Result<http::Response> answer) {
                 reply(answer.ok() ? std::move(*answer)
                                   : http::TextResponse(502, "It cannot be shown: " + answer.error().message + "\n"));
               });
}

std::string MasterProxy::UrlOf(const std::string& id) const {
  const StandaloneCluster& cluster = master_.cluster();
  std::string url;
  for (const auto& [i, worker] : cluster.workers().all()) {
    if (worker.said.id == id && cluster.workers().Shows(i))
      url = worker.said.web_url;  // the last of an id is the one that lives
  }
  if (!url.empty()) return url;
  const auto index = cluster.records().ShownApplication(id);
  if (!index || cluster.records().applications()[*index].ended.ms != 0) return "";
  return cluster.records().applications()[*index].description.ui_url;
}

}  // namespace fairlead::process::spark_master
