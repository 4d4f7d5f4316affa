#include <algorithm>
#include <cstdio>
#include <functional>

#include "base/text.h"
#include "cluster_command.h"
#include "exit_words.h"
#include "interrupt.h"
#include "model/exit_status.h"
#include "process/http/http.h"
#include "table.h"

// events: what the scheduler did lately.

namespace fairlead::apps {
namespace {

using nlohmann::ordered_json;

struct EventsOptions {
  std::string app;
  std::string queue;
  std::string node;
  std::vector<std::string> nodes{""};  // that `node` means; "": all
  std::string kind;
  int64_t limit = 50;
  bool follow = false;
};

/// Finds what the options name, in short, too. Error: it is not there, though it may have been.
base::Status Find(Cluster& cluster, const model::ApplicationId& app, EventsOptions& options) {
  if (!options.app.empty()) {
    if (const auto report = Report(cluster, app); !report.ok()) return report.error();
  }
  if (!options.queue.empty()) {
    if (base::Status named = NameInFull(cluster, options.queue); !named.ok()) return named;
  }
  if (options.node.empty()) return {};
  options.nodes = {options.node};
  const auto nodes = FindNodes(cluster, options.node);
  if (!nodes.ok()) return nodes.error();
  options.nodes = *nodes;
  return {};
}

std::string TargetOf(const EventsOptions& options, const std::string& node, int64_t after, int64_t limit) {
  std::string target = "events?limit=" + std::to_string(limit) + "&after=" + std::to_string(after);
  for (const auto& [key, value] : {std::pair{"app", options.app}, std::pair{"queue", options.queue},
                                   std::pair{"node", node}, std::pair{"kind", options.kind}}) {
    if (!value.empty()) target += "&" + std::string(key) + "=" + process::http::PercentEncode(value);
  }
  return target;
}

/// The newest first, at most `limit`.
base::Result<ordered_json> Ask(Cluster& cluster, const EventsOptions& options, int64_t after, int64_t limit) {
  std::vector<ordered_json> events;
  for (const std::string& node : options.nodes) {
    const auto answer = AskFairlead(cluster, TargetOf(options, node, after, limit));
    if (!answer.ok()) return answer.error();
    for (const ordered_json& event : answer->at("events")) events.push_back(event);
  }
  const auto number = [](const ordered_json& event) { return event.value("number", int64_t{0}); };
  std::ranges::sort(events, std::greater(), number);
  events.resize(std::min(events.size(), static_cast<size_t>(limit)));
  return ordered_json(events);
}

std::string SizeText(const ordered_json& event) {
  if (!event.contains("size")) return "-";
  return apps::SizeText(event["size"].value("memory_mib", int64_t{0}), event["size"].value("vcores", int64_t{0}));
}

std::string DetailText(const ordered_json& event) {
  return ExitWords(event.value("exit_status", int{model::kExitInvalid}), event.value("detail", ""));
}

void AddRow(Table& table, const ordered_json& event) {
  table.Add({TimeText(event.value("at_ms", int64_t{0})), event.value("kind", ""),
             event.value("container", event.value("app", "-")), event.value("queue", "-"), event.value("node", "-"),
             SizeText(event), DetailText(event)});
}

int Events(const Command& command, Cluster& cluster, EventsOptions& options) {
  const auto app = options.app.empty() ? model::ApplicationId() : model::ParseApplicationId(options.app);
  if (!app) return Complain(command.name, app.error().message, kUsage);
  const base::Status found = Find(cluster, *app, options);
  if (options.follow) NoteInterrupts();
  int64_t after = 0;
  const std::vector<size_t> usual = {19, 9, 38, 16, 21, 15};
  Table table({"TIME", "WHAT", "CONTAINER OR APPLICATION", "QUEUE", "NODE", "SIZE", "DETAIL"},
              options.follow ? usual : std::vector<size_t>());
  for (bool first = true;; first = false) {
    const auto answer = Ask(cluster, options, after, first ? options.limit : 1000);
    if (!answer.ok()) return command.Fail(answer.error());
    const ordered_json& events = *answer;
    if (first && events.empty() && !found.ok()) return command.Fail(found.error());
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      if (command.options.json && options.follow) {
        std::puts(base::VisibleText(event->dump(-1, ' ', false, ordered_json::error_handler_t::replace)).c_str());
      }
      AddRow(table, *event);
    }
    if (!events.empty()) after = events.front().value("number", after);
    if (command.options.json && !options.follow) {
      PrintJson({{"events", events}});
    } else if (!command.options.json) {
      table.Print();
    }
    if (first)
      SayPage(
          command,
          PageUrl(cluster, "/cluster/events",
                  {{"app", options.app}, {"queue", options.queue}, {"node", options.node}, {"kind", options.kind}}));
    if (!options.follow || !PauseUnlessInterrupted(cluster, 1000)) return kOk;
  }
}

}  // namespace

void AddEvents(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<EventsOptions>();
  CLI::App* events = AddClusterCommand<EventsOptions>(
      app, exit_code, "events", "Show what the scheduler did lately: grants, ends, holds, preemptions, refusals",
      options,
      [](const Command& command, Cluster& cluster, EventsOptions& wanted) { return Events(command, cluster, wanted); });
  events->add_option("--app", options->app, "only of this application");
  events->add_option("--queue", options->queue, "only of this queue and those below it; root. may be left out");
  events->add_option("--node", options->node, "only of this node: HOST:PORT, or HOST");
  events->add_option("--kind", options->kind, "only of this kind")
      ->check(
          CLI::IsMember({"granted", "held", "released", "ended", "preempted", "notice", "refused", "state", "action"}));
  events->add_option("--limit", options->limit, "so many at most, the latest")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  events->add_flag("--follow,-f", options->follow, "go on with what happens, until Ctrl-C");
  events->footer(
      "The resource manager remembers the last 4096 of each kind since its start.\n"
      "Examples:\n  fairlead events --kind preempted\n  fairlead events --app application_1700000000000_0001 -f");
}

}  // namespace fairlead::apps
