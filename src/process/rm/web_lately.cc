#include <algorithm>
#include <utility>

#include "endpoints/v1/events.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// What happened lately (/fairlead/v1/events) and how it went (/fairlead/v1/history).

namespace fairlead::process::rm {

namespace v1 = endpoints::v1;

namespace {

constexpr size_t kEventsMax = 1000;
constexpr int64_t kHistoryMaxMs = 31LL * 86'400'000;

v1::Event EventOf(const Happening& one) {
  v1::Event event{.number = static_cast<int64_t>(one.number),
                  .at_ms = one.at.ms,
                  .kind = std::string(EnumName(one.kind)),
                  .detail = one.detail};
  if (one.app.number != 0) event.app = ToString(one.app);
  if (!one.queue.empty()) event.queue = one.queue;
  if (!one.node.empty()) event.node = one.node;
  if (!one.http_address.empty()) event.http_address = one.http_address;
  if (one.container.value != 0) event.container = ToString(one.container);
  if (one.size.memory_mib() != 0 || one.size.vcores() != 0) event.size = one.size;
  if (one.kind == HappeningKind::kEnded || one.kind == HappeningKind::kPreempted) event.exit_status = one.exit_status;
  return event;
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
  v1::Events events;
  const auto told = [&](const Happening& one) { return one.app.number == 0 || MayHearOf(viewer, one.app); };
  for (const Happening* one : manager_.lately().Find(filter, most, told)) {
    v1::Event& event = events.events.emplace_back(EventOf(*one));
    if (!one->http_address.empty() && IsGone(FindNamed(one->node))) event.node_gone = true;
  }
  reply(http::JsonResponse(200, v1::Text(events)));
}

// ?queue= (default: root, which is the cluster) &span_s=; the finest samples that reach so far back. Without the
// queue's name in a sample the queue was not there, or it was beyond the ones that are kept.
void Web::OwnHistory(const http::Request& request, const Reply& reply) const {
  const std::string_view asked = Asked(request.query, "queue");
  const std::string_view queue = asked.empty() ? "root" : asked;
  const int64_t span = std::min(static_cast<int64_t>(AskedNumber(request.query, "span_s", 3600)) * 1000, kHistoryMaxMs);
  v1::History history{.queue = std::string(queue)};
  const int64_t from = manager_.now_wall().ms - span;
  for (const ChartSample& sample : manager_.charts().Since(span)) {
    if (sample.at_ms < from) continue;
    v1::Sample& one = history.samples.emplace_back(sample.at_ms, sample.capacity, sample.granted);
    for (const ChartPoint& point : sample.queues) {
      if (point.queue != queue) continue;
      one.used_mib = point.used;
      one.fair_share_mib = point.fair_share;
      one.pending_mib = point.pending;
      one.runnable_apps = point.running;
      one.waiting_apps = point.waiting;
    }
  }
  reply(http::JsonResponse(200, v1::Text(history)));
}

}  // namespace fairlead::process::rm
