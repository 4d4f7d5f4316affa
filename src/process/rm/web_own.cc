#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "process/http/routes.h"
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

using endpoints::rest::Document;

/// One request of /fairlead/v1.
struct Web::OwnCall {
  const http::Request& request;
  const std::vector<std::string>& words;  // of its path, for the names in the route's
  const Reply& reply;

  std::string caller() const { return http::CallerOf(request); }
  void Answer(const Document& document) const { reply(http::JsonResponse(200, document.ToJson(""))); }
};
struct Web::OwnRoute {
  std::string_view method;
  std::string_view path;
  void (*answer)(Web& web, const OwnCall& call);
};

std::span<const Web::OwnRoute> Web::OwnRoutes() {
  using Call = const OwnCall&;
  static constexpr OwnRoute kRoutes[] = {
      {"GET", "cluster", [](Web& web, Call call) { call.Answer(web.OwnCluster()); }},
      {"GET", "ha",
       [](Web&, Call call) { call.Answer(HaDocument("", "", {})); }},  // of one of several: WebPort answers
      {"GET", "apps", [](Web& web, Call call) { web.OwnApps(call.request, call.reply); }},
      {"GET", "apps/{id}",
       [](Web& web, Call call) {
         if (const App* app = web.OwnNamedApp(call)) call.Answer(web.OwnApp(*app, call.caller()));
       }},
      {"GET", "apps/{id}/when",
       [](Web& web, Call call) {
         if (const App* app = web.OwnNamedApp(call)) web.AppWhen(call.request, *app, call.reply);
       }},
      {"GET", "queues", [](Web& web, Call call) { web.OwnQueues(call.reply); }},
      {"POST", "queues/refresh", [](Web& web, Call call) { web.RefreshQueues(call.request, call.reply); }},
      {"PUT", "queues/{name}/settings",
       [](Web& web, Call call) { web.SetQueue(call.request, call.words[0], call.reply); }},
      {"GET", "nodes", [](Web& web, Call call) { web.OwnNodes(call.request, call.reply); }},
      {"GET", "nodes/{id}",
       [](Web& web, Call call) {
         if (const Node* node = web.FindNamed(call.words[0])) return call.Answer(web.OwnNode(*node, call.caller()));
         OwnError(call.reply, 404, "there is no node " + call.words[0]);
       }},
      {"PUT", "nodes/{id}/state",
       [](Web& web, Call call) { web.SetNodeState(call.request, call.words[0], call.reply); }},
      {"PUT", "nodes/{id}/maintenance",
       [](Web& web, Call call) { web.SetMaintenance(call.request, call.words[0], call.reply); }},
      {"GET", "events", [](Web& web, Call call) { web.OwnEvents(call.request, call.reply); }},
      {"GET", "history", [](Web& web, Call call) { web.OwnHistory(call.request, call.reply); }},
      {"GET", "past", [](Web& web, Call call) { web.Past(call.request, call.words, call.reply); }},
      {"GET", "past/{document}", [](Web& web, Call call) { web.Past(call.request, call.words, call.reply); }},
      {"POST", "what-if", [](Web& web, Call call) { web.WhatIf(call.request, call.reply); }},
      {"GET", "credentials", [](Web& web, Call call) { web.Credentials(call.request, call.words, call.reply); }},
      {"PUT", "credentials/{name}", [](Web& web, Call call) { web.Credentials(call.request, call.words, call.reply); }},
      {"DELETE", "credentials/{name}",
       [](Web& web, Call call) { web.Credentials(call.request, call.words, call.reply); }},
      {"GET", "pass", [](Web& web, Call call) { web.NodePass(call.request, call.reply); }},
      {"GET", "openapi.json",
       [](Web&, Call call) { call.reply(http::StaticResponse(call.request, *FindWebFile("openapi.json"))); }},
  };
  return kRoutes;
}

void Web::Own(const http::Request& request, const Segments& path, const Reply& reply) {
  const auto route = http::FindRoute(OwnRoutes(), request.method, path);
  if (route.row != nullptr) return route.row->answer(*this, {request, route.words, reply});
  if (!route.methods.empty()) return OwnError(reply, 405, "this takes " + route.methods + " alone");
  std::string known;  // the first words
  for (const OwnRoute& row : OwnRoutes()) {
    const std::string_view word = row.path.substr(0, row.path.find('/'));
    if (!known.ends_with(word)) known += (known.empty() ? "" : ", ") + std::string(word);
  }
  OwnError(reply, 404, "unknown; there are " + known);
}

const App* Web::OwnNamedApp(const OwnCall& call) const {
  const base::Result<model::ApplicationId> id = model::ParseApplicationId(call.words[0]);
  const App* app = id.ok() ? manager_.core().FindApp(*id) : nullptr;
  if (app == nullptr) OwnError(call.reply, 404, "no such application");
  return app;
}

Document Web::OwnCluster() {
  const ClusterSums& sums = manager_.Fresh().cluster();
  const auto counts = [](const auto& values, auto name) {
    std::map<std::string, int64_t> named;
    for (size_t state = 0; state < values.size(); ++state) {
      if (values[state] > 0) named[std::string(name(state))] = values[state];
    }
    Document document = Document::Object();
    for (const auto& [text, count] : named) document.Add(text, count);
    return document;
  };
  Document journal = Document::Object();
  const ResourceManagerOptions& options = manager_.options();
  if (const auto facts = options.journal ? options.journal->facts() : std::nullopt) {
    journal.Add("writes", facts->writes)
        .Add("files", facts->files)
        .Add("bytes", facts->bytes)
        .Add("bytes_max", facts->bytes_max)
        .Add("segment_bytes", facts->segment_bytes)
        .Add("written", facts->written)
        .Add("within_ms", facts->within.millis())
        .Add("disk_free", facts->disk_free);
  }
  Document waiting = Document::Object();
  for (const auto& [reason, count] : waiting_.counts()) waiting.Add(std::string(EnumName(reason)), count);
  return Document::Object()
      .Add("id", manager_.core().cluster_timestamp())
      .Add("name", manager_.options().cluster_name)
      .Add("version", manager_.options().version)
      .Add("profile", manager_.options().profile)
      .Add("wishes", ToString(manager_.core().config().queues.wishes))
      .Add("unread_rows", static_cast<int64_t>(manager_.left_out()))
      .Add("unread_first", manager_.first_left_out())
      .Add("journal", std::move(journal))
      .Add("capacity", AmountDocument(sums.capacity))
      .Add("used", AmountDocument(sums.used))
      .Add("containers", sums.all.containers)
      .Add("waiting", std::move(waiting))
      .Add("apps", counts(sums.all.apps, [](size_t state) { return EnumName(model::rm::AppState(state)); }))
      .Add("nodes", counts(sums.nodes, [](size_t state) { return EnumName(model::rm::NodeState(state)); }));
}

/// A page of applications on its way to its answer.
struct Web::AppsAnswer {
  AppRows rows;
  base::WallTime now;
  AppsPage page;          // of `rows`
  std::vector<bool> may;  // for each row of the page: the caller may see all of it
  std::vector<std::optional<model::scheduler::Pending>> why;

  http::Response Make(base::Instant at) const {
    Document::List list;
    for (size_t i = 0; i < why.size(); ++i) {
      Document document = ShortApp(page.rows[i]->app, page.rows[i]->usage, may[i], now);
      if (why[i]) document.Add("pending", PendingDocument(*why[i], at));
      list.push_back(std::move(document));
    }
    return http::JsonResponse(200, Document::Object()
                                       .Add("total", static_cast<int64_t>(page.total))
                                       .Add("apps", Document(std::move(list)))
                                       .ToJson(""));
  }
};

// ?group=running|waiting|ended &queue= &user= &text= &sort=[-]COLUMN &offset= &limit=; "total" counts what matches.
// The page is found off the thread that decides; there a dry pass of the scheduler says why each one on it waits; and
// off it again the answer is written.
void Web::OwnApps(const http::Request& request, const Reply& reply) {
  const auto answer = std::make_shared<AppsAnswer>(manager_.Fresh().Rows(), manager_.now_wall());
  const auto find = [query = request.query, answer, viewer = manager_.access().Of(http::CallerOf(request))] {
    std::vector<const AppRow*> all;
    answer->rows.ForEach([&](const AppRow& row) { all.push_back(&row); });
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

Document MaintenanceDocument(const Maintenance& maintenance, const std::string* host) {
  Document::List list;
  for (const auto& [name, windows] : maintenance.hosts()) {
    if (host && name != *host) continue;
    for (const Maintenance::Window& one : windows.all) {
      list.push_back(Document::Object()
                         .Add("host", name)
                         .Add("from_ms", one.from_ms)
                         .Add("until_ms", one.until_ms)
                         .Add("by", one.user + " from " + one.peer));
    }
  }
  return Document(std::move(list));
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
    return http::JsonResponse(200, QueuesDocument(view, *queues).ToJson(""));
  });
}

namespace {

Document ContainerOf(const Core& core, const Container& container) {
  const model::rm::ContainerInfo info = core.InfoOf(container);
  return Document::Object()
      .Add("id", ToString(info.id))
      .Add("state", EnumName(container.state))
      .Add("node", ToString(info.address))
      .Add("http_address", info.http_address)
      .Add("resources", AmountDocument(info.resources))
      .Add("priority", info.priority)
      .Add("created_ms", info.created.ms);
}

}  // namespace

// NodesDocument, with "drained": the hosts that operators took out, seen or not, and "maintenance": the windows of
// hosts that have not ended.
void Web::OwnNodes(const http::Request& request, const Reply& reply) {
  Aside("nodes", reply,
        [query = request.query, rows = NodeRows(manager_.core()), out = manager_.draining().hosts(),
         windows = MaintenanceDocument(manager_.draining().maintenance(), nullptr)]() mutable {
          Document::List drained;
          for (const auto& [host, one] : out) {
            drained.push_back(
                Document::Object().Add("host", host).Add("since_ms", one.order.since_ms).Add("by", one.order.by));
          }
          return http::JsonResponse(200, NodesDocument(query, std::move(rows))
                                             .Add("drained", Document(std::move(drained)))
                                             .Add("maintenance", std::move(windows))
                                             .ToJson(""));
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

/// What is not known is left out.
Document MeasuredDocument(const Node& node) {
  Document document = Document::Object();
  const auto known = [](int64_t amount) { return amount != model::MeasuredUse::kUnknown; };
  if (known(node.use.physical_bytes)) {
    document.Add("memory_mib", MiB(node.use.physical_bytes));
    document.Add("containers_memory_mib", MiB(node.containers_use.physical_bytes));
  }
  if (known(node.use.milli_cores)) {
    document.Add("cores", Document::Double(Cores(node.use.milli_cores)));
    document.Add("containers_cores", Document::Double(Cores(node.containers_use.milli_cores)));
  }
  for (const auto& [key, amount] :
       {std::pair("disk_bytes_per_second", node.use.disk_bytes), std::pair("disk_busy_per_mille", node.use.disk_busy),
        std::pair("network_bytes_per_second", node.use.network_bytes),
        std::pair("containers_disk_bytes_per_second", node.containers_use.disk_bytes)}) {
    if (known(amount)) document.Add(key, amount);
  }
  return document;
}

}  // namespace

// A node with what it measured last and the containers on it that the caller may see. Cost: all live containers.
Document Web::OwnNode(const Node& node, const std::string& user) const {
  Document document = ShortNode(NodeRows(manager_.core(), &node).front());
  document.Add("measured", MeasuredDocument(node));
  document.Add("maintenance", MaintenanceDocument(manager_.draining().maintenance(), &node.address.host));
  if (IsGone(&node)) document.Add("node_gone", true);
  Document::List containers;
  const Viewer viewer = manager_.access().Of(user);
  manager_.core().ForEachApp([&](const App& app) {
    for (const Container* container : InOrder(app.containers)) {
      if (container->node != node.index) continue;
      if (!viewer.May(app, false)) return;
      Document one = ContainerOf(manager_.core(), *container);
      containers.push_back(std::move(one.Add("app", ToString(app.submission.id)).Add("user", app.submission.user)));
    }
  });
  return std::move(document.Add("running", Document(std::move(containers))));
}

// How far its logs have been gathered, at all and by each node (Hadoop: /cluster/logaggregationstatus/APPLICATION).
Document Web::LogsOf(const App& app) const {
  const base::WallTime now = manager_.now_wall();
  Document::List nodes;
  for (const auto& [address, one] : manager_.log_aggregation().NodesOf(app, now)) {
    nodes.push_back(Document::Object()
                        .Add("node", ToString(address))
                        .Add("status", std::string(Name(one.status)))
                        .Add("messages", base::Joined(one.messages, "\n"))
                        .Add("failures", base::Joined(one.failures, "\n")));
  }
  return Document::Object()
      .Add("status", std::string(Name(manager_.log_aggregation().Of(app).At(app, now))))
      .Add("nodes", Document(std::move(nodes)));
}

// An application with its attempts, its containers, its logs and why each of its asks waits.
Document Web::OwnApp(const App& app, const std::string& user) const {
  const bool full = manager_.access().Of(user).May(app, false);
  const base::WallTime now = manager_.now_wall();
  Document document = ShortApp(app, UsageRecordOf(app, now), full, now);
  if (!full) {
    const auto none = [] { return Document(Document::List{}); };
    document.Add("logs", Document::Object().Add("status", "").Add("nodes", none()));
    return std::move(
        document.Add("diagnostics", "").Add("attempts", none()).Add("running", none()).Add("pending", none()));
  }
  document.Add("diagnostics", Core::VisibleDiagnostics(app));
  document.Add("preemptable", fairlead::rm::TraitsOf(app.submission.tags).preemptable);
  Document::List attempts;
  for (const auto& [number, attempt] : app.attempts) {
    attempts.push_back(Document::Object()
                           .Add("id", ToString(attempt.id))
                           .Add("state", EnumName(attempt.state))
                           .Add("master", attempt.master.id.value != 0 ? ToString(attempt.master.id) : "")
                           .Add("node", attempt.master.id.value != 0 ? ToString(attempt.master.address) : "")
                           .Add("http_address", attempt.master.http_address)
                           .Add("exit_status", attempt.exit_status)
                           .Add("diagnostics", attempt.diagnostics));
    if (attempt.master.id.value != 0 && IsGone(manager_.core().FindNode(attempt.master.address))) {
      attempts.back().Add("node_gone", true);
    }
  }
  Document::List containers;
  for (const fairlead::rm::Container* container : InOrder(app.containers)) {
    containers.push_back(ContainerOf(manager_.core(), *container));
  }
  Document::List pending;
  if (app.in_scheduler) {
    for (const model::scheduler::Pending& one : manager_.scheduler().Why(app.index, manager_.now())) {
      pending.push_back(PendingDocument(one, manager_.now()));
    }
  }
  document.Add("logs", LogsOf(app));
  return std::move(document.Add("attempts", Document(std::move(attempts)))
                       .Add("running", Document(std::move(containers)))
                       .Add("pending", Document(std::move(pending))));
}

}  // namespace fairlead::process::rm
