#include "process/rm/past_documents.h"

#include <string>
#include <utility>
#include <vector>

#include "endpoints/v1/cluster.h"
#include "process/rm/own_documents.h"

namespace fairlead::process::rm {

namespace v1 = endpoints::v1;

namespace {

v1::ClusterThen ClusterThen(const Core& core) {
  v1::ClusterThen cluster;
  for (const NodeRow& node : NodeRows(core)) {
    ++cluster.nodes.by_name[std::string(EnumName(node.state))];
    if (!node.in_scheduler) continue;
    cluster.capacity.resources += node.capacity;
    cluster.used.resources += node.used;
    cluster.containers += node.containers;
  }
  core.ForEachApp([&](const App& app) {
    if (app.state != model::rm::AppState::kNew) ++cluster.apps.by_name[std::string(EnumName(Core::VisibleState(app)))];
  });
  return cluster;
}

v1::Applications AppsThen(const ResourceMachine& machine, base::Instant now, base::WallTime at, const Query& query) {
  std::vector<AppRow> rows;
  machine.core().ForEachApp([&](const App& app) { rows.push_back(RowOf(app, machine.scheduler(), at)); });
  std::vector<const AppRow*> all;
  for (const AppRow& row : rows) all.push_back(&row);
  const AppsPage page = PageOf(query, all, at);
  v1::Applications answer{.total = static_cast<int64_t>(page.total)};
  for (const AppRow* row : page.rows) {
    v1::ListedApplication& one = answer.apps.emplace_back(ApplicationOf(row->app, row->usage, true, at));
    if (row->pending == 0) continue;
    const std::vector<model::scheduler::Pending> why = machine.scheduler().Why(row->app.index, now);
    if (!why.empty()) one.pending = PendingOf(why.front(), now);
  }
  return answer;
}

}  // namespace

std::optional<std::string> PastDocument(const ResourceMachine& machine, base::Instant now, base::WallTime at,
                                        std::string_view name, const Query& query) {
  if (name == "cluster") return v1::Text(ClusterThen(machine.core()));
  if (name == "apps") return v1::Text(AppsThen(machine, now, at, query));
  if (name == "nodes") return v1::Text(NodesOf(query, NodeRows(machine.core())));
  if (name == "queues") return v1::Text(QueuesOf(machine.scheduler().GetQueues(), *machine.core().queues()));
  return std::nullopt;
}

}  // namespace fairlead::process::rm
