#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "endpoints/v1/cluster.h"
#include "endpoints/v1/events.h"
#include "process/rm/draining.h"
#include "process/rm/own_documents.h"
#include "process/rm/queue_names.h"
#include "process/rm/web.h"
#include "process/rm/web_port.h"
#include "process/rm/web_resources.h"
#include "rm/session_tags.h"

// Fairlead's own view of the cluster, as JSON: /fairlead/v1/cluster, apps, queues, nodes. The pages read it, and the
// commands where YARN's protocols say too little.

namespace fairlead::process::rm {

namespace v1 = endpoints::v1;

const App* Web::OwnNamedApp(const OwnCall& call) const {
  const base::Result<model::ApplicationId> id = model::ParseApplicationId(call.words[0]);
  const App* app = id.ok() ? manager_.core().FindApp(*id) : nullptr;
  if (app == nullptr) OwnError(call.reply, 404, "no such application");
  return app;
}

v1::Cluster Web::OwnCluster() {
  const ClusterSums& sums = manager_.Fresh().cluster();
  const ResourceManagerOptions& options = manager_.options();
  v1::Cluster cluster;
  cluster.id = manager_.core().cluster_timestamp();
  cluster.name = options.cluster_name;
  cluster.version = options.version;
  cluster.profile = options.profile;
  cluster.wishes = ToString(manager_.core().config().queues.wishes);
  cluster.unread_rows = static_cast<int64_t>(manager_.left_out());
  cluster.unread_first = manager_.first_left_out();
  if (const auto facts = options.journal ? options.journal->facts() : std::nullopt) {
    cluster.journal = {facts->writes,        facts->files,   facts->bytes,           facts->bytes_max,
                       facts->segment_bytes, facts->written, facts->within.millis(), facts->disk_free};
  }
  cluster.capacity = sums.capacity;
  cluster.used = sums.used;
  cluster.containers = sums.all.containers;
  const auto count = [](const auto& counts, v1::Counts& by_name, auto state) {
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) by_name.by_name[std::string(EnumName(decltype(state)(i)))] = counts[i];
    }
  };
  count(sums.all.apps, cluster.apps, model::rm::AppState{});
  count(sums.nodes, cluster.nodes, model::rm::NodeState{});
  for (const auto& [reason, asks] : waiting_.counts()) cluster.waiting.by_name[std::string(EnumName(reason))] = asks;
  return cluster;
}

/// A page of applications on its way to its answer.
struct Web::AppsAnswer {
  AppRows rows;
  base::WallTime now;
  AppsPage page;          // of `rows`
  std::vector<bool> may;  // for each row of the page: the caller may see all of it
  std::vector<std::optional<model::scheduler::Pending>> why;

  http::Response Make(base::Instant at) const {
    v1::Applications answer{.total = static_cast<int64_t>(page.total)};
    for (size_t i = 0; i < why.size(); ++i) {
      const AppRow& row = *page.rows[i];
      v1::ListedApplication& one = answer.apps.emplace_back(ApplicationOf(row.app, row.usage, may[i], now));
      if (why[i]) one.pending = PendingOf(*why[i], at);
    }
    return http::JsonResponse(200, v1::Text(answer));
  }
};

// ?group=running|waiting|ended &queue= &user= &text= &sort=[-]COLUMN &offset= &limit=; "total" counts what matches.
// The page is found off the thread that decides; there a dry pass of the scheduler says why each one on it waits; and
// off it again the answer is written.
void Web::OwnApps(const http::Request& request, const Reply& reply) {
  const auto answer = std::make_shared<AppsAnswer>(manager_.Fresh().Rows(), manager_.now_wall());
  const auto find = [query = request.query, answer, viewer = manager_.access().Of(http::CallerOf(request))] {
    std::vector<const AppRow*> all;
    answer->rows.ForEach([&](const AppRow& row) {
      if (viewer.Lists(row.app)) all.push_back(&row);
    });
    answer->page = PageOf(query, all, answer->now);
    for (const AppRow* row : answer->page.rows) answer->may.push_back(viewer.May(row->app, false));
  };
  loop_.Offload(find, alive_([this, reply, answer] { FindReasons(answer, reply); }));
}

// A few in a turn: calls of masters and nodes come between.
void Web::FindReasons(const std::shared_ptr<AppsAnswer>& answer, const Reply& reply) {
  constexpr size_t kInOneTurn = 4;
  const size_t rows = answer->page.rows.size();
  for (size_t asked = 0; asked < kInOneTurn && answer->why.size() < rows;) {
    const size_t i = answer->why.size();
    answer->why.emplace_back();
    const AppRow& row = *answer->page.rows[i];
    const App* now = manager_.core().AppAt(row.app.index);
    if (!answer->may[i] || row.pending == 0 || !now || now->submission.id != row.app.submission.id) continue;
    ++asked;
    std::vector<model::scheduler::Pending> all = manager_.scheduler().Why(row.app.index, manager_.now());
    if (!all.empty()) answer->why[i] = std::move(all.front());
  }
  if (answer->why.size() < rows) {
    return loop_.Post(alive_([this, answer, reply] { FindReasons(answer, reply); }));
  }
  Aside("apps", reply, [answer, at = manager_.now()] { return answer->Make(at); });
}

std::vector<v1::MaintenanceWindow> WindowsOf(const Maintenance& maintenance, const std::string* host) {
  std::vector<v1::MaintenanceWindow> all;
  for (const auto& [name, windows] : maintenance.hosts()) {
    if (host && name != *host) continue;
    for (const Maintenance::Window& one : windows.all) {
      all.push_back({name, one.from_ms, one.until_ms, one.user + " from " + one.peer});
    }
  }
  return all;
}

void Web::SurveyWaiting() {
  Summary& summary = manager_.Fresh();
  if (summary.cluster().all.pending == 0) {
    waiting_.Clear();
  } else {
    waiting_.Survey(summary.Rows(),
                    [this](const AppRow& row) { return manager_.scheduler().Why(row.app.index, manager_.now()); });
  }
  loop_.After(base::Duration::Seconds(1), alive_([this] { SurveyWaiting(); }));
}

void Web::OwnQueues(const Reply& reply) {
  Aside("queues", reply, [view = manager_.scheduler().GetQueues(), queues = manager_.queues()] {
    return http::JsonResponse(200, v1::Text(QueuesOf(view, *queues)));
  });
}

namespace {

v1::Container ContainerOf(const Core& core, const Container& container) {
  const model::rm::ContainerInfo info = core.InfoOf(container);
  return {.id = ToString(info.id),
          .state = std::string(EnumName(container.state)),
          .node = ToString(info.address),
          .http_address = info.http_address,
          .resources = info.resources,
          .priority = info.priority,
          .created_ms = info.created.ms};
}

}  // namespace

void Web::OwnNodes(const http::Request& request, const Reply& reply) {
  Aside("nodes", reply,
        [query = request.query, rows = NodeRows(manager_.core()), out = manager_.draining().hosts(),
         windows = WindowsOf(manager_.draining().maintenance(), nullptr)]() mutable {
          v1::Nodes nodes = NodesOf(query, std::move(rows));
          nodes.drained.emplace();
          for (const auto& [host, one] : out) nodes.drained->push_back({host, one.order.since_ms, one.order.by});
          nodes.maintenance = std::move(windows);
          return http::JsonResponse(200, v1::Text(nodes));
        });
}

const Node* Web::FindNamed(const std::string& address) const {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return nullptr;
  int32_t port = -1;
  std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  return manager_.core().FindNode({address.substr(0, colon), port});
}

namespace {

v1::Measured MeasuredOf(const Node& node) {
  v1::Measured measured;
  const auto known = [](int64_t amount) { return amount != model::MeasuredUse::kUnknown; };
  if (known(node.use.physical_bytes)) {
    measured.memory_mib = MiB(node.use.physical_bytes);
    measured.containers_memory_mib = MiB(node.containers_use.physical_bytes);
  }
  if (known(node.use.milli_cores)) {
    measured.cores = Cores(node.use.milli_cores);
    measured.containers_cores = Cores(node.containers_use.milli_cores);
  }
  const auto set = [&](std::optional<int64_t>& field, int64_t amount) {
    if (known(amount)) field = amount;
  };
  set(measured.disk_bytes_per_second, node.use.disk_bytes);
  set(measured.disk_busy_per_mille, node.use.disk_busy);
  set(measured.network_bytes_per_second, node.use.network_bytes);
  set(measured.containers_disk_bytes_per_second, node.containers_use.disk_bytes);
  return measured;
}

}  // namespace

// Cost: all live containers.
v1::NodeDetail Web::OwnNode(const Node& node, const std::string& user) const {
  v1::NodeDetail detail{NodeOf(NodeRows(manager_.core(), &node).front()), MeasuredOf(node),
                        WindowsOf(manager_.draining().maintenance(), &node.address.host)};
  if (IsGone(&node)) detail.node_gone = true;
  const Viewer viewer = manager_.access().Of(user);
  manager_.core().ForEachApp([&](const App& app) {
    for (const Container* container : InOrder(app.containers)) {
      if (container->node != node.index) continue;
      if (!viewer.May(app, false)) return;
      detail.running.push_back(
          {ContainerOf(manager_.core(), *container), ToString(app.submission.id), app.submission.user});
    }
  });
  return detail;
}

// How far its logs have been gathered, at all and by each node (Hadoop: /cluster/logaggregationstatus/APPLICATION).
v1::GatheredLogs Web::LogsOf(const App& app) const {
  const base::WallTime now = manager_.now_wall();
  v1::GatheredLogs logs{.status = std::string(Name(manager_.log_aggregation().Of(app).At(app, now)))};
  for (const auto& [address, one] : manager_.log_aggregation().NodesOf(app, now)) {
    logs.nodes.push_back({ToString(address), std::string(Name(one.status)), base::Joined(one.messages, "\n"),
                          base::Joined(one.failures, "\n")});
  }
  return logs;
}

v1::ApplicationDetail Web::OwnApp(const App& app, const std::string& user) const {
  const bool full = manager_.access().Of(user).May(app, false);
  const base::WallTime now = manager_.now_wall();
  v1::ApplicationDetail detail{ApplicationOf(app, UsageRecordOf(app, now), full, now)};
  if (!full) return detail;
  detail.diagnostics = Core::VisibleDiagnostics(app);
  detail.logs = LogsOf(app);
  detail.preemptable = fairlead::rm::TraitsOf(app.submission.tags).preemptable;
  for (const auto& [number, attempt] : app.attempts) {
    const bool placed = attempt.master.id.value != 0;
    v1::Attempt& one = detail.attempts.emplace_back(
        ToString(attempt.id), std::string(EnumName(attempt.state)), placed ? ToString(attempt.master.id) : "",
        placed ? ToString(attempt.master.address) : "", attempt.master.http_address, attempt.exit_status,
        attempt.diagnostics);
    if (placed && IsGone(manager_.core().FindNode(attempt.master.address))) one.node_gone = true;
  }
  for (const fairlead::rm::Container* container : InOrder(app.containers)) {
    detail.running.push_back(ContainerOf(manager_.core(), *container));
  }
  if (!app.in_scheduler) return detail;
  for (const model::scheduler::Pending& one : manager_.scheduler().Why(app.index, manager_.now())) {
    detail.pending.push_back(PendingOf(one, manager_.now()));
  }
  return detail;
}

}  // namespace fairlead::process::rm
