#include "process/rm/past_documents.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "process/rm/own_documents.h"

namespace fairlead::process::rm {

using endpoints::rest::Document;

namespace {

Document CountsOf(const std::map<std::string, int64_t>& counts) {
  Document document = Document::Object();
  for (const auto& [name, count] : counts) document.Add(name, count);
  return document;
}

Document ClusterThen(const Core& core) {
  model::Resources capacity;
  model::Resources used;
  int64_t containers = 0;
  std::map<std::string, int64_t> nodes;
  for (const NodeRow& node : NodeRows(core)) {
    ++nodes[std::string(EnumName(node.state))];
    if (!node.in_scheduler) continue;
    capacity += node.capacity;
    used += node.used;
    containers += node.containers;
  }
  std::map<std::string, int64_t> apps;
  core.ForEachApp([&](const App& app) {
    if (app.state != model::rm::AppState::kNew) ++apps[std::string(EnumName(Core::VisibleState(app)))];
  });
  return Document::Object()
      .Add("capacity", AmountDocument(capacity))
      .Add("used", AmountDocument(used))
      .Add("containers", containers)
      .Add("apps", CountsOf(apps))
      .Add("nodes", CountsOf(nodes));
}

Document AppsThen(const ResourceMachine& machine, base::Instant now, base::WallTime at, const Query& query) {
  std::vector<AppRow> rows;
  machine.core().ForEachApp([&](const App& app) { rows.push_back(RowOf(app, machine.scheduler(), at)); });
  std::vector<const AppRow*> all;
  for (const AppRow& row : rows) all.push_back(&row);
  const AppsPage page = PageOf(query, all, at);
  Document::List list;
  for (const AppRow* row : page.rows) {
    Document document = ShortApp(row->app, row->usage, true, at);
    if (row->pending > 0) {
      const std::vector<model::scheduler::Pending> why = machine.scheduler().Why(row->app.index, now);
      if (!why.empty()) document.Add("pending", PendingDocument(why.front(), now));
    }
    list.push_back(std::move(document));
  }
  return Document::Object().Add("total", static_cast<int64_t>(page.total)).Add("apps", Document(std::move(list)));
}

}  // namespace

std::optional<Document> PastDocument(const ResourceMachine& machine, base::Instant now, base::WallTime at,
                                     std::string_view name, const Query& query) {
  if (name == "cluster") return ClusterThen(machine.core());
  if (name == "apps") return AppsThen(machine, now, at, query);
  if (name == "nodes") return NodesDocument(query, NodeRows(machine.core()));
  if (name == "queues") return QueuesDocument(machine.scheduler().GetQueues(), *machine.core().queues());
  return std::nullopt;
}

}  // namespace fairlead::process::rm
