#include <algorithm>
#include <utility>

#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// What happened lately (/fairlead/v1/events) and how it went (/fairlead/v1/history).

namespace fairlead::process::rm {

using endpoints::rest::Document;

namespace {

constexpr size_t kEventsMax = 1000;
constexpr int64_t kHistoryMaxMs = 31LL * 86'400'000;

Document EventDocument(const Happening& one) {
  Document document = Document::Object()
                          .Add("number", static_cast<int64_t>(one.number))
                          .Add("at_ms", one.at.ms)
                          .Add("kind", EnumName(one.kind));
  if (one.app.number != 0) document.Add("app", ToString(one.app));
  if (!one.queue.empty()) document.Add("queue", one.queue);
  if (!one.node.empty()) document.Add("node", one.node);
  if (!one.http_address.empty()) document.Add("http_address", one.http_address);
  if (one.container.value != 0) document.Add("container", ToString(one.container));
  if (one.size.memory_mib() != 0 || one.size.vcores() != 0) document.Add("size", AmountDocument(one.size));
  if (one.kind == HappeningKind::kEnded || one.kind == HappeningKind::kPreempted) {
    document.Add("exit_status", one.exit_status);
  }
  return std::move(document.Add("detail", one.detail));
}

}  // namespace

bool Web::MayHearOf(const Viewer& viewer, const model::ApplicationId& id) const {
  const App* app = manager_.core().FindApp(id);
  if (app) return viewer.May(*app, false);
  return !viewer.acls || viewer.IsAdministrator();
}

// ?app= &queue= &node= &kind= &after=NUMBER &limit=; the newest first. Of applications that the caller may not see
// nothing is told. Cost: Lately::Find's.
void Web::OwnEvents(const http::Request& request, const Reply& reply) const {
  Lately::Filter filter;
  const auto& query = request.query;
  if (const auto it = query.find("app"); it != query.end() && !it->second.empty()) {
    const base::Result<model::ApplicationId> id = model::ParseApplicationId(it->second);
    if (!id.ok()) return OwnError(reply, 400, id.error().message);
    filter.app = *id;
  }
  filter.queue = Asked(query, "queue");
  filter.node = Asked(query, "node");
  filter.kind = Asked(query, "kind");
  filter.after = AskedNumber(query, "after", 0);
  const size_t most = std::min(AskedNumber(query, "limit", 100), kEventsMax);
  const Viewer viewer = manager_.access().Of(http::CallerOf(request));
  Document::List list;
  const auto told = [&](const Happening& one) { return one.app.number == 0 || MayHearOf(viewer, one.app); };
  for (const Happening* one : manager_.lately().Find(filter, most, told)) {
    list.push_back(EventDocument(*one));
    if (!one->http_address.empty() && IsGone(FindNamed(one->node))) list.back().Add("node_gone", true);
  }
  reply(http::JsonResponse(200, Document::Object().Add("events", Document(std::move(list))).ToJson("")));
}

// ?queue= (default: root, which is the cluster) &span_s=; the finest samples that reach so far back. Without the
// queue's name in a sample the queue was not there, or it was beyond the ones that are kept.
void Web::OwnHistory(const http::Request& request, const Reply& reply) const {
  const std::string_view asked = Asked(request.query, "queue");
  const std::string_view queue = asked.empty() ? "root" : asked;
  const int64_t span = std::min(static_cast<int64_t>(AskedNumber(request.query, "span_s", 3600)) * 1000, kHistoryMaxMs);
  Document::List list;
  const int64_t from = manager_.now_wall().ms - span;
  for (const ChartSample& sample : manager_.charts().Since(span)) {
    if (sample.at_ms < from) continue;
    Document document = Document::Object()
                            .Add("at_ms", sample.at_ms)
                            .Add("capacity_mib", sample.capacity)
                            .Add("granted", sample.granted);
    for (const ChartPoint& point : sample.queues) {
      if (point.queue != queue) continue;
      document.Add("used_mib", point.used)
          .Add("fair_share_mib", point.fair_share)
          .Add("pending_mib", point.pending)
          .Add("runnable_apps", point.running)
          .Add("waiting_apps", point.waiting);
    }
    list.push_back(std::move(document));
  }
  reply(http::JsonResponse(
      200, Document::Object().Add("queue", std::string(queue)).Add("samples", Document(std::move(list))).ToJson("")));
}

}  // namespace fairlead::process::rm
