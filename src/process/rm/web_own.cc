#include <cstdio>
#include <map>
#include <utility>

#include "base/codec.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// Fairlead's own view: /fairlead/v1 (JSON), /metrics (Prometheus), the page at /.

namespace fairlead::process::rm {

using endpoints::rest::Document;

namespace {

Document Amount(const model::Resources& resources) {
  Document document = Document::Object().Add("memory_mib", resources.memory_mib()).Add("vcores", resources.vcores());
  for (size_t type = 2; type < model::ResourceTypes::Count(); ++type) {
    document.Add(std::string(model::ResourceTypes::Name(type)), resources[type]);
  }
  return document;
}

Document ShortApp(const App& app, base::WallTime now) {
  const AppUsage usage = UsageOf(app, now);
  const Attempt* attempt = app.current();
  return Document::Object()
      .Add("id", ToString(app.submission.id))
      .Add("name", app.submission.name)
      .Add("type", app.submission.type)
      .Add("user", app.submission.user)
      .Add("queue", app.submission.queue)
      .Add("state", EnumName(app.state))
      .Add("final_status", EnumName(Core::VisibleFinalStatus(app)))
      .Add("priority", app.submission.priority)
      .Add("progress", Document::Float(attempt ? attempt->progress : 0.0F))
      .Add("submitted_ms", app.submitted.ms)
      .Add("launched_ms", app.launched.ms)
      .Add("finished_ms", Core::IsCompleted(app) ? app.finished.ms : 0)
      .Add("containers", usage.containers)
      .Add("used", Amount(usage.used))
      .Add("tracking_url", attempt ? attempt->original_url : "");
}

}  // namespace

void Web::Own(const http::Request&, const Segments& path, const Reply& reply) {
  const std::string what = path.empty() ? "" : path[0];
  const base::WallTime now = manager_.now_wall();
  const auto answer = [&](const Document& document) { reply(http::JsonResponse(200, document.ToJson(""))); };
  if (what == "apps" && path.size() == 1) {
    Document::List list;
    manager_.core().ForEachApp([&](const App& app) {
      if (app.state != model::rm::AppState::kNew) list.push_back(ShortApp(app, now));
    });
    return answer(Document::Object().Add("apps", Document(std::move(list))));
  }
  if (what == "apps" && path.size() == 2) {
    const base::Result<model::ApplicationId> id = model::ParseApplicationId(path[1]);
    const App* app = id.ok() ? manager_.core().FindApp(*id) : nullptr;
    if (!app) return reply(http::JsonResponse(404, Document::Object().Add("error", "no such application").ToJson("")));
    return answer(OwnApp(*app));
  }
  if (what == "queues") {
    const scheduler::View view = manager_.scheduler().GetView();
    Document::List list;
    for (const scheduler::QueueView& queue : view.queues) {
      list.push_back(Document::Object()
                         .Add("name", queue.name)
                         .Add("parent", queue.parent)
                         .Add("leaf", queue.leaf)
                         .Add("policy", queue.policy)
                         .Add("weight", Document::Double(queue.weight))
                         .Add("fair_share", Amount(queue.fair_share))
                         .Add("steady_share", Amount(queue.steady_share))
                         .Add("min_share", Amount(queue.min_share))
                         .Add("max_share", Amount(queue.max_share))
                         .Add("demand", Amount(queue.demand))
                         .Add("used", Amount(queue.used))
                         .Add("master_used", Amount(queue.master_used))
                         .Add("runnable_apps", queue.runnable_apps)
                         .Add("waiting_apps", queue.waiting_apps));
    }
    return answer(Document::Object().Add("cluster", Amount(view.cluster)).Add("queues", Document(std::move(list))));
  }
  if (what == "nodes") {
    const std::vector<NodeUsage> usage = UsageByNode(manager_.core());
    Document::List list;
    manager_.core().ForEachNode([&](const Node& node) {
      const NodeUsage own = node.index.value < usage.size() ? usage[node.index.value] : NodeUsage{};
      list.push_back(Document::Object()
                         .Add("id", ToString(node.address))
                         .Add("rack", node.rack)
                         .Add("state", EnumName(node.state))
                         .Add("capacity", Amount(node.capacity))
                         .Add("used", Amount(own.used))
                         .Add("containers", own.containers)
                         .Add("http_address", node.HttpAddress())
                         .Add("version", node.version)
                         .Add("health_report", node.health_report));
    });
    return answer(Document::Object().Add("nodes", Document(std::move(list))));
  }
  reply(http::JsonResponse(404, Document::Object().Add("error", "unknown; try apps, queues or nodes").ToJson("")));
}

// An application with its attempts, its containers and why each of its asks waits.
Document Web::OwnApp(const App& app) const {
  Document document = ShortApp(app, manager_.now_wall());
  document.Add("diagnostics", DiagnosticsText(app));
  Document::List attempts;
  for (const auto& [number, attempt] : app.attempts) {
    attempts.push_back(Document::Object()
                           .Add("id", ToString(attempt.id))
                           .Add("state", EnumName(attempt.state))
                           .Add("master", attempt.master.id.value != 0 ? ToString(attempt.master.id) : "")
                           .Add("node", attempt.master.id.value != 0 ? ToString(attempt.master.address) : "")
                           .Add("exit_status", attempt.exit_status)
                           .Add("diagnostics", attempt.diagnostics));
  }
  Document::List containers;
  for (const auto& [id, container] : app.containers) {
    containers.push_back(Document::Object()
                             .Add("id", ToString(id))
                             .Add("state", EnumName(container.state))
                             .Add("node", ToString(container.info.address))
                             .Add("resources", Amount(container.info.resources))
                             .Add("priority", container.info.priority)
                             .Add("created_ms", container.info.created.ms));
  }
  Document::List pending;
  if (app.in_scheduler) {
    for (const model::scheduler::Pending& one : manager_.scheduler().Why(app.index, manager_.now())) {
      pending.push_back(Document::Object()
                            .Add("name", one.ask.name)
                            .Add("priority", one.ask.priority)
                            .Add("count", one.ask.count)
                            .Add("capability", Amount(one.ask.capability))
                            .Add("reason", EnumName(one.reason))
                            .Add("detail", one.detail)
                            .Add("remedy", one.remedy)
                            .Add("waiting_ms", (manager_.now() - one.since).millis()));
    }
  }
  return std::move(document.Add("attempts", Document(std::move(attempts)))
                       .Add("running", Document(std::move(containers)))
                       .Add("pending", Document(std::move(pending))));
}

std::string Web::Metrics() const {
  std::string text;
  const auto gauge = [&](const char* name, const char* help, const char* type, double value) {
    text += "# HELP " + std::string(name) + " " + help + "\n# TYPE " + name + " " + type + "\n";
    char number[64];
    std::snprintf(number, sizeof(number), "%s %.17g\n", name, value);
    text += number;
  };
  const auto count = [&](const char* name, const char* help, uint64_t value) {
    gauge(name, help, "counter", static_cast<double>(value));
  };
  const ResourceManager::Counters& counters = manager_.counters();
  count("fairlead_rm_events_total", "Outside events stepped", counters.events);
  count("fairlead_rm_batches_total", "Batches stepped", counters.batches);
  count("fairlead_rm_allocate_calls_total", "Allocate calls", counters.allocate_calls);
  count("fairlead_rm_containers_granted_total", "Containers handed to masters", counters.granted);
  count("fairlead_rm_heartbeats_total", "Heartbeats of nodes", counters.heartbeats);
  count("fairlead_rm_store_errors_total", "Changes that the state store refused", counters.store_errors);
  gauge("fairlead_rm_rpc_connections", "Open RPC connections", "gauge",
        static_cast<double>(manager_.rpc_server().connections()));
  std::map<std::string, int64_t> apps;
  int64_t containers = 0;
  manager_.core().ForEachApp([&](const App& app) {
    ++apps[std::string(EnumName(app.state))];
    containers += static_cast<int64_t>(app.containers.size());
  });
  std::map<std::string, int64_t> nodes;
  manager_.core().ForEachNode([&](const Node& node) { ++nodes[std::string(EnumName(node.state))]; });
  gauge("fairlead_rm_containers", "Live containers", "gauge", static_cast<double>(containers));
  const auto labelled = [&](const char* name, const char* help, const char* label,
                            const std::map<std::string, int64_t>& values) {
    text += "# HELP " + std::string(name) + " " + help + "\n# TYPE " + name + " gauge\n";
    for (const auto& [value, number] : values) {
      text += std::string(name) + "{" + label + "=\"" + value + "\"} " + std::to_string(number) + "\n";
    }
  };
  labelled("fairlead_rm_apps", "Applications by state", "state", apps);
  labelled("fairlead_rm_nodes", "Nodes by state", "state", nodes);
  std::map<std::string, int64_t> used;
  std::map<std::string, int64_t> fair;
  for (const scheduler::QueueView& queue : manager_.scheduler().GetView().queues) {
    used[queue.name] = queue.used.memory_mib();
    fair[queue.name] = queue.fair_share.memory_mib();
  }
  labelled("fairlead_rm_queue_used_memory_mib", "Memory in use by queue", "queue", used);
  labelled("fairlead_rm_queue_fair_memory_mib", "Fair share of memory by queue", "queue", fair);
  return text;
}

namespace {
std::string Cell(const std::string& text) { return "<td>" + http::HtmlEscape(text) + "</td>"; }
constexpr char kHead[] =
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Fairlead</title><style>body{font:14px/1.4 "
    "system-ui,sans-serif;margin:2em}table{border-collapse:collapse;margin:0 0 2em}td,th{border:1px solid #ccc;"
    "padding:.3em .6em;text-align:left}h1{font-size:1.4em}h2{font-size:1.1em}pre{white-space:pre-wrap}</style>";
}  // namespace

std::string Web::Page() const {
  std::string html = kHead;
  html +=
      "<h1>Fairlead resource manager</h1><h2>Queues</h2><table><tr><th>Queue<th>Weight<th>Used MiB<th>Fair share "
      "MiB<th>Demand MiB<th>Running<th>Waiting</tr>";
  for (const scheduler::QueueView& queue : manager_.scheduler().GetView().queues) {
    html += "<tr>" + Cell(queue.name) + Cell(endpoints::rest::JavaDouble(queue.weight)) +
            Cell(std::to_string(queue.used.memory_mib())) + Cell(std::to_string(queue.fair_share.memory_mib())) +
            Cell(std::to_string(queue.demand.memory_mib())) + Cell(std::to_string(queue.runnable_apps)) +
            Cell(std::to_string(queue.waiting_apps)) + "</tr>";
  }
  html +=
      "</table><h2>Applications</h2><table><tr><th>Id<th>Name<th>User<th>Queue<th>State<th>Final "
      "status<th>Containers</tr>";
  int shown = 0;
  manager_.core().ForEachApp([&](const App& app) {
    if (app.state == model::rm::AppState::kNew || ++shown > 1000) return;
    const std::string id = ToString(app.submission.id);
    html += "<tr><td><a href=\"/cluster/app/" + id + "\">" + id + "</a></td>" + Cell(app.submission.name) +
            Cell(app.submission.user) + Cell(app.submission.queue) + Cell(std::string(EnumName(app.state))) +
            Cell(std::string(EnumName(Core::VisibleFinalStatus(app)))) + Cell(std::to_string(app.containers.size())) +
            "</tr>";
  });
  html += "</table><h2>Nodes</h2><table><tr><th>Node<th>Rack<th>State<th>Memory MiB<th>Cores</tr>";
  manager_.core().ForEachNode([&](const Node& node) {
    html += "<tr>" + Cell(ToString(node.address)) + Cell(node.rack) + Cell(std::string(EnumName(node.state))) +
            Cell(std::to_string(node.capacity.memory_mib())) + Cell(std::to_string(node.capacity.vcores())) + "</tr>";
  });
  return html + "</table></html>";
}

std::string Web::AppPage(const App& app) const {
  const std::string id = ToString(app.submission.id);
  std::string html = kHead;
  html += "<h1>" + id + "</h1><p><a href=\"/\">All applications</a> <a href=\"/proxy/" + id +
          "/\">Master's page</a></p><table>";
  const auto row = [&](const char* name, const std::string& value) {
    html += "<tr><th>" + std::string(name) + "</th>" + Cell(value) + "</tr>";
  };
  row("Name", app.submission.name);
  row("User", app.submission.user);
  row("Queue", app.submission.queue);
  row("State", std::string(EnumName(app.state)));
  row("Final status", std::string(EnumName(Core::VisibleFinalStatus(app))));
  html += "</table><h2>Diagnostics</h2><pre>" + http::HtmlEscape(DiagnosticsText(app)) +
          "</pre><h2>Attempts</h2><table><tr><th>Attempt<th>State<th>Node<th>Diagnostics</tr>";
  for (const auto& [number, attempt] : app.attempts) {
    html += "<tr>" + Cell(ToString(attempt.id)) + Cell(std::string(EnumName(attempt.state))) +
            Cell(attempt.master.id.value != 0 ? ToString(attempt.master.address) : "") + Cell(attempt.diagnostics) +
            "</tr>";
  }
  html += "</table><h2>Waiting</h2><table><tr><th>Ask<th>Count<th>Reason<th>Detail<th>Remedy</tr>";
  if (app.in_scheduler) {
    for (const model::scheduler::Pending& one : manager_.scheduler().Why(app.index, manager_.now())) {
      html += "<tr>" + Cell(one.ask.name + " " + ToString(one.ask.capability)) + Cell(std::to_string(one.ask.count)) +
              Cell(std::string(EnumName(one.reason))) + Cell(one.detail) + Cell(one.remedy) + "</tr>";
    }
  }
  return html + "</table></html>";
}

}  // namespace fairlead::process::rm
