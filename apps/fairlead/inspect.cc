#include "inspect.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/text.h"
#include "cluster_command.h"
#include "documents.h"
#include "exit_words.h"
#include "interrupt.h"
#include "model/exit_status.h"
#include "table.h"
#include "when.h"

// apps, app, nodes, queues, kill: over YARN's own protocols, so they work with Hadoop's resource manager, too.
// What only Fairlead knows (shares as they are now, why an ask waits) comes from /fairlead/v1 and is marked absent
// elsewhere.

namespace fairlead::apps {

namespace {

using nlohmann::ordered_json;
namespace yarn = wire::yarn;

constexpr size_t kEndedShown = 20;

std::string Spell(const yarn::ApplicationIdProto& id) {
  return model::ToString(model::ApplicationId{id.cluster_timestamp.value_or(0), id.id.value_or(0)});
}

std::string Spell(const yarn::NodeIdProto& id) {
  return id.host.value_or("?") + ":" + std::to_string(id.port.value_or(0));
}

int64_t Now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

/// Where YARN says -1, for "nothing is held", it is nothing.
Size SizeOf(const yarn::ResourceProto& resource) {
  return {std::max<int64_t>(0, resource.memory.value_or(0)), std::max(0, resource.virtual_cores.value_or(0))};
}

AppReport AppOf(const yarn::ApplicationReportProto& report) {
  const auto usage = report.app_resource_usage.value_or(yarn::ApplicationResourceUsageReportProto{});
  return {.id = Spell(report.ApplicationId()),
          .name = std::string(report.Name()),
          .type = report.application_type.value_or(""),
          .user = std::string(report.User()),
          .queue = std::string(report.Queue()),
          .state = std::string(Name(report.YarnApplicationState())),
          .finalStatus = std::string(Name(report.FinalApplicationStatus())),
          .progress = report.progress.value_or(0),
          .startTime = report.start_time.value_or(0),
          .finishTime = report.finish_time.value_or(0),
          .containers = std::max(0, usage.num_used_containers.value_or(0)),
          .used = SizeOf(usage.UsedResources()),
          .trackingUrl = std::string(report.TrackingUrl()),
          .diagnostics = std::string(report.Diagnostics())};
}

// ---------------------------------------------------------------- apps

struct AppsFilter {
  std::vector<std::string> states;
  std::vector<std::string> users;
  std::vector<std::string> queues;
  bool all = false;
  bool watch = false;
};

yarn::GetApplicationsRequestProto ToRequest(const AppsFilter& filter) {
  using State = yarn::YarnApplicationStateProto;
  constexpr State kStates[] = {State::kNew,     State::kNewSaving, State::kSubmitted, State::kAccepted,
                               State::kRunning, State::kFinished,  State::kFailed,    State::kKilled};
  yarn::GetApplicationsRequestProto request;
  request.users = filter.users;
  request.queues = filter.queues;
  for (const State state : kStates) {
    const bool live = state <= State::kRunning;
    const bool wanted = filter.states.empty() ? filter.all || live : std::ranges::count(filter.states, Name(state)) > 0;
    if (wanted) request.application_states.push_back(state);
  }
  return request;
}

std::vector<std::string> AppRow(const yarn::ApplicationReportProto& report, int64_t now_ms) {
  const auto usage = report.app_resource_usage.value_or(yarn::ApplicationResourceUsageReportProto{});
  const int64_t end = report.finish_time.value_or(0) > 0 ? *report.finish_time : now_ms;
  return {Spell(report.ApplicationId()),
          std::string(report.Name()),
          std::string(report.User()),
          std::string(report.Queue()),
          std::string(Name(report.YarnApplicationState())),
          std::string(Name(report.FinalApplicationStatus())),
          std::to_string(std::max(0, usage.num_used_containers.value_or(0))),
          MemoryText(std::max<int64_t>(0, usage.UsedResources().memory.value_or(0))),
          DurationText(end - report.start_time.value_or(end))};
}

const std::vector<std::string> kAppColumns = {"ID",    "NAME",       "USER",   "QUEUE", "STATE",
                                              "FINAL", "CONTAINERS", "MEMORY", "AGE"};

/// As `kubectl get -w`: each application as it is, then again whenever something but its age has changed, until Ctrl-C.
int WatchApps(const Command& command, Cluster& cluster, AppsFilter filter) {
  filter.all = filter.states.empty();  // an end is shown, too
  const auto request = ToRequest(filter);
  NoteInterrupts();
  std::map<std::string, std::vector<std::string>> shown;
  bool first = true;
  Table table(kAppColumns, {31, 16, 8, 16, 8, 9});
  do {
    const auto answer = cluster.client->Call<yarn::GetApplicationsResponseProto>("getApplications", request);
    if (!answer) return command.Fail(answer.error());
    for (const auto& report : answer->applications) {
      std::vector<std::string> row = AppRow(report, Now());
      std::vector<std::string> facts(row.begin(), row.end() - 1);
      const auto [known, fresh] = shown.try_emplace(row[0]);
      const bool ended = report.YarnApplicationState() > yarn::YarnApplicationStateProto::kRunning;
      const bool changed = known->second != facts && !(first && ended);
      known->second = std::move(facts);
      if (!changed) continue;
      if (command.options.json) {
        std::puts(base::VisibleText(endpoints::v1::Text(AppOf(report))).c_str());
      } else {
        table.Add(std::move(row));
      }
    }
    if (!command.options.json) table.Print();
    first = false;
  } while (PauseUnlessInterrupted(cluster, 1000));
  return kOk;
}

int Apps(const Command& command, Cluster& cluster, AppsFilter& filter) {
  base::Status named;  // a queue that is not there any more may have had applications
  for (std::string& queue : filter.queues) {
    if (const base::Status full = NameInFull(cluster, queue); !full.ok()) named = full;
  }
  if (filter.watch && !named.ok()) return command.Fail(named.error());
  if (filter.watch) return WatchApps(command, cluster, filter);
  const auto request = ToRequest(filter);
  const auto answer = cluster.client->Call<yarn::GetApplicationsResponseProto>("getApplications", request);
  if (!answer) return command.Fail(answer.error());
  if (answer->applications.empty() && !named.ok()) return command.Fail(named.error());
  PrintApps(answer->applications, Now(), command.options.json);
  if (command.options.json) return kOk;
  if (answer->applications.empty() && filter.states.empty() && !filter.all)
    std::fputs("no application is active; --all shows ended ones\n", stderr);
  const auto only = [](const std::vector<std::string>& words) { return words.size() == 1 ? words[0] : ""; };
  SayPage(command, PageUrl(cluster, "/cluster", {{"user", only(filter.users)}, {"queue", only(filter.queues)}}));
  return kOk;
}

// ---------------------------------------------------------------- app

void PrintPending(const ordered_json& detail) {
  if (!detail.is_object() || !detail.contains("pending")) {
    std::puts("Pending      (only Fairlead's resource manager explains pending asks)");
    return;
  }
  if (detail["pending"].empty()) {
    std::puts("Pending      nothing");
    return;
  }
  for (const auto& ask : detail["pending"]) {
    const auto text = [&ask](const char* field) { return base::VisibleText(ask.value(field, "")); };
    const ordered_json size = ask.value("capability", ordered_json::object());
    const std::string name = text("name");
    std::printf("Pending      %lld × %s, %s%s, for %s\n", static_cast<long long>(ask.value("count", int64_t{0})),
                MemoryText(size.value("memory_mib", int64_t{0})).c_str(),
                Counted(size.value("vcores", int64_t{0}), "vcore").c_str(), name == "*" ? "" : (" on " + name).c_str(),
                DurationText(ask.value("waiting_ms", int64_t{0})).c_str());
    std::printf("             %s: %s\n", text("reason").c_str(), text("detail").c_str());
    if (const std::string remedy = text("remedy"); !remedy.empty()) {
      std::printf("             to free it: %s\n", remedy.c_str());
    }
  }
}

/// Attempts with their ends, and the containers that run.
void PrintAttempts(const ordered_json& detail) {
  if (!detail.is_object()) return;
  const auto print = [](const char* name, const std::string& text) {
    std::printf("%-12s %s\n", name, base::VisibleText(text).c_str());
  };
  const auto at = [](const std::string& node) { return node.empty() ? "" : " on " + node; };
  for (const auto& attempt : detail.value("attempts", ordered_json::array())) {
    const std::string words = ExitWords(attempt.value("exit_status", int{model::kExitInvalid}));
    print("Attempt", attempt.value("id", "") + " " + attempt.value("state", "") + at(attempt.value("node", "")) +
                         (words.empty() ? "" : ": " + words));
    if (const std::string master = attempt.value("master", ""); !master.empty()) print("", "master " + master);
  }
  for (const auto& container : detail.value("running", ordered_json::array())) {
    const ordered_json size = container.value("resources", ordered_json::object());
    print("Container", container.value("id", "") + " " + container.value("state", "") +
                           at(container.value("node", "")) + ", " + MemoryText(size.value("memory_mib", int64_t{0})) +
                           ", " + Counted(size.value("vcores", int64_t{0}), "vcore"));
  }
}

/// Containers that have ended, the latest first, as far as the resource manager remembers them.
ordered_json Ended(Cluster& cluster, const std::string& id) {
  const auto answer = AskFairlead(cluster, "events?kind=ended&limit=" + std::to_string(kEndedShown) + "&app=" + id);
  return answer.ok() ? answer->at("events") : ordered_json::array();
}

void PrintEnded(const ordered_json& events, const std::string& id) {
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    const int status = event->value("exit_status", int{model::kExitInvalid});
    const std::string said = status == model::kExitAborted ? event->value("detail", "") : "";
    std::string how = ExitWords(status, said);
    if (how.empty()) how = "ended";
    std::printf(
        "%-12s %s\n", "Ended",
        base::VisibleText(event->value("container", "") + " on " + event->value("node", "") + ": " + how).c_str());
  }
  if (events.size() == kEndedShown)
    std::printf("%-12s fairlead events --kind ended --app %s has more\n", "", id.c_str());
}

int App(const Command& command, Cluster& cluster, const std::string& text) {
  const auto id = model::ParseApplicationId(text);
  if (!id) return Complain(command.name, id.error().message, kUsage);
  const auto report = Report(cluster, *id);
  if (!report) return command.Fail(report.error());
  const auto told = AskIfFairleads(cluster, "apps/" + text);
  if (!told.ok()) return command.Fail(told.error());
  const ordered_json& detail = *told;
  if (command.options.json) {
    PrintDocument(AppAndDetail{AppOf(*report), {detail}, {detail.is_object() ? Ended(cluster, text) : ordered_json()}});
    return kOk;
  }
  const auto usage = report->app_resource_usage.value_or(yarn::ApplicationResourceUsageReportProto{});
  const auto row = [](const char* name, const std::string& value, base::Lines lines = base::Lines::kOne) {
    std::printf("%-12s %s\n", name, base::VisibleText(value, lines).c_str());
  };
  row("Id", text);
  row("Name", std::string(report->Name()));
  row("User", std::string(report->User()));
  row("Queue", std::string(report->Queue()));
  row("Priority", std::to_string(report->priority.value_or(yarn::PriorityProto{}).priority.value_or(0)));
  if (detail.is_object() && !detail.value("preemptable", true))
    row("Gives back", "no: its containers are not taken back");
  row("State", std::string(Name(report->YarnApplicationState())));
  row("Final", std::string(Name(report->FinalApplicationStatus())));
  row("Progress", std::to_string(static_cast<int>(report->progress.value_or(0) * 100)) + " %");
  row("Started", TimeText(report->start_time.value_or(0)));
  row("Finished", TimeText(report->finish_time.value_or(0)));
  row("Containers", std::to_string(std::max(0, usage.num_used_containers.value_or(0))) + ", " +
                        MemoryText(std::max<int64_t>(0, usage.UsedResources().memory.value_or(0))) + ", " +
                        Counted(std::max(0, usage.UsedResources().virtual_cores.value_or(0)), "vcore"));
  row("Page", PageUrl(cluster, "/cluster/app/" + text));
  row("Tracking", std::string(report->TrackingUrl()));
  if (report->application_type.value_or("") == "FAIRLEAD") row("History", "fairlead history " + text);
  if (!report->Diagnostics().empty()) row("Diagnostics", std::string(report->Diagnostics()), base::Lines::kKept);
  PrintAttempts(detail);
  if (detail.is_object()) PrintEnded(Ended(cluster, text), text);
  if (report->YarnApplicationState() <= yarn::YarnApplicationStateProto::kRunning) {
    PrintPending(detail);
    PrintWhenBeside(cluster, text, detail);
  }
  return kOk;
}

// ---------------------------------------------------------------- why

int Why(const Command& command, Cluster& cluster, const std::string& text) {
  const auto id = model::ParseApplicationId(text);
  if (!id) return Complain(command.name, id.error().message, kUsage);
  const auto report = Report(cluster, *id);
  if (!report) return command.Fail(report.error());
  const auto told = AskIfFairleads(cluster, "apps/" + text);
  if (!told.ok()) return command.Fail(told.error());
  PrintWhy(*report, *told, command.options.json);
  if (!command.options.json) PrintWhenBeside(cluster, text, *told);
  SayPage(command, PageUrl(cluster, "/cluster/app/" + text));
  return kOk;
}

// ---------------------------------------------------------------- nodes

struct NodesOptions {
  bool reasons = false;
};

/// Since when a node is in its state, why, and who took it out, as far as the resource manager remembers it; of
/// Hadoop's the node's own words alone. `drained`: the hosts that operators took out.
std::vector<std::string> ReasonRow(Cluster& cluster, const yarn::NodeReportProto& node, const ordered_json& drained) {
  const std::string id = Spell(node.NodeId());
  std::string since = "-", why = node.health_report.value_or(""), who = "-";
  const auto latest = [&](const char* kind) {
    const auto answer = AskFairlead(cluster, std::string("events?limit=1&kind=") + kind + "&node=" + id);
    const ordered_json events = answer.ok() ? answer->value("events", ordered_json::array()) : ordered_json::array();
    return events.empty() ? ordered_json::object() : events.front();
  };
  if (const ordered_json change = latest("state"); !change.empty()) {
    since = TimeText(change.value("at_ms", int64_t{0}));
    const std::string detail = change.value("detail", "");  // "HOST:PORT is LOST: EXPIRED"
    if (why.empty() && detail.rfind(": ") != std::string::npos) why = detail.substr(detail.rfind(": ") + 2);
  }
  bool is_out = false;
  for (const ordered_json& out : drained) {
    if (out.value("host", "") != id.substr(0, id.rfind(':'))) continue;
    is_out = true;
    if (out.value("by", "").empty()) continue;
    who = out.value("by", "");
    since = TimeText(out.value("since_ms", int64_t{0}));
  }
  if (!is_out && drained.is_array() && node.NodeState() == yarn::NodeStateProto::kDecommissioned) {
    why = "its host is taken out no more, unless by a file of hosts; its node agent has ended, start it again";
  }
  return {id, std::string(Name(node.NodeState())), since, who, why.empty() ? "-" : why};
}

int NodesOutOfService(const Command& command, Cluster& cluster, const std::vector<yarn::NodeReportProto>& nodes) {
  Table table({"NODE", "STATE", "SINCE", "BY", "WHY"});
  std::vector<NodeReason> list;
  const auto known = AskIfFairleads(cluster, "nodes?limit=0");
  if (!known.ok()) return command.Fail(known.error());
  const ordered_json drained = known->is_object() ? known->at("drained") : ordered_json();
  for (const auto& node : nodes) {
    if (node.NodeState() == yarn::NodeStateProto::kRunning) continue;
    const std::vector<std::string> row = ReasonRow(cluster, node, drained);
    list.push_back({row[0], row[1], row[2], row[3], row[4]});
    table.Add(row);
  }
  if (command.options.json) {
    PrintDocument(list);
  } else if (table.size() > 0) {
    table.Print();
  } else {
    std::puts("every node serves");
  }
  return kOk;
}

int Nodes(const Command& command, Cluster& cluster, NodesOptions& options) {
  const auto answer =
      cluster.client->Call<yarn::GetClusterNodesResponseProto>("getClusterNodes", yarn::GetClusterNodesRequestProto{});
  if (!answer) return command.Fail(answer.error());
  if (options.reasons) return NodesOutOfService(command, cluster, answer->node_reports);
  const auto known = AskIfFairleads(cluster, "nodes");
  if (!known.ok()) return command.Fail(known.error());
  const std::string page = cluster.client->Page();
  PrintNodes(answer->node_reports, command.options.json, page.substr(0, page.find("://") + 3),
             known->is_object() ? *known : ordered_json::object());
  SayPage(command, PageUrl(cluster, "/cluster/nodes"));
  return kOk;
}

// ---------------------------------------------------------------- queues

void AddQueueRows(const yarn::QueueInfoProto& queue, const std::string& parent, ordered_json& list, Table& table) {
  const std::string own = queue.queue_name.value_or("?");
  const std::string name = parent.empty() || own.starts_with(parent + ".") ? own : parent + "." + own;
  const auto percent = [](float share) { return std::to_string(std::lround(share * 100)) + " %"; };
  list.push_back({{"name", name},
                  {"state", Name(queue.State())},
                  {"capacity", queue.capacity.value_or(0)},
                  {"currentCapacity", queue.current_capacity.value_or(0)},
                  {"applications", queue.applications.size()}});
  table.Add({name, std::string(Name(queue.State())), percent(queue.capacity.value_or(0)),
             percent(queue.current_capacity.value_or(0)), std::to_string(queue.applications.size())});
  for (const auto& child : queue.child_queues) AddQueueRows(child, name, list, table);
}

/// Hadoop's, over YARN's protocol.
int PrintHadoopsQueues(const Command& command, Cluster& cluster) {
  yarn::GetQueueInfoRequestProto request;
  request.queue_name = "root";
  request.include_child_queues = true;
  request.recursive = true;
  request.include_applications = true;
  const auto answer = cluster.client->Call<yarn::GetQueueInfoResponseProto>("getQueueInfo", request);
  if (!answer) return command.Fail(answer.error());
  ordered_json list = ordered_json::array();
  Table table({"QUEUE", "STATE", "CAPACITY", "USED", "APPS"});
  AddQueueRows(answer->QueueInfo(), "", list, table);
  if (command.options.json) {
    PrintJson(list);
  } else {
    table.Print();
  }
  return kOk;
}

int Queues(const Command& command, Cluster& cluster) {
  auto answer = AskIfFairleads(cluster, "queues");
  if (!answer.ok()) return command.Fail(answer.error());
  if (answer->is_object()) {
    PrintQueues(std::move(*answer), command.options.json);
  } else if (const int code = PrintHadoopsQueues(command, cluster); code != kOk) {
    return code;
  }
  SayPage(command, PageUrl(cluster, "/cluster/scheduler"));
  return kOk;
}

// ---------------------------------------------------------------- kill

int Kill(const Command& command, Cluster& cluster, const std::vector<std::string>& ids, bool wait) {
  int result = kOk;
  std::vector<Killed> list;
  for (const std::string& text : ids) {
    const auto id = model::ParseApplicationId(text);
    if (!id) {
      result = Complain(command.name, id.error().message, kUsage);
      continue;
    }
    const auto before = Report(cluster, *id);
    if (!before) {
      result = command.Fail(before.error());
      continue;
    }
    if (const auto state = before->YarnApplicationState(); state >= yarn::YarnApplicationStateProto::kFinished) {
      const auto code = state == yarn::YarnApplicationStateProto::kKilled ? kOk : kFailed;
      const int told = Complain(command.name, text + " has ended before: " + std::string(Name(state)), code);
      if (told != kOk) result = told;
      continue;
    }
    yarn::KillApplicationRequestProto request;
    request.application_id = ToProto(*id);
    request.diagnostics = "killed by " + cluster.client->user() + " with fairlead kill";
    while (true) {
      const auto answer = cluster.client->Call<yarn::KillApplicationResponseProto>("forceKillApplication", request);
      if (!answer) {
        result = command.Fail(answer.error());
        break;
      }
      if (answer->IsKillCompleted() || !wait) {
        list.push_back({text, answer->IsKillCompleted()});
        if (!command.options.json)
          std::printf("%s %s\n", text.c_str(), answer->IsKillCompleted() ? "killed" : "is being killed");
        break;
      }
      cluster.client->Pause(100);
    }
  }
  if (command.options.json) PrintDocument(list);
  return result;
}

// ---------------------------------------------------------------- values

int PrintNames(Cluster& cluster, const char* list, const char* field) {
  const auto answer = AskFairlead(cluster, list);
  if (!answer.ok()) return kUnreachable;
  for (const auto& one : answer->value(list, ordered_json::array()))
    std::puts(base::VisibleText(one.value(field, "")).c_str());
  return kOk;
}

/// One word a line, for completion scripts, which may not make a shell wait.
int Values(Cluster& cluster, const std::string& kind) {
  cluster.client->SetPatience(base::Duration::Millis(0));
  if (kind == "queues") {
    return PrintNames(cluster, "queues", "name");
  }
  if (kind == "nodes") {
    return PrintNames(cluster, "nodes", "id");
  }
  AppsFilter filter;
  filter.all = kind == "apps";
  const auto request = ToRequest(filter);
  const auto answer = cluster.client->Call<yarn::GetApplicationsResponseProto>("getApplications", request);
  if (!answer) return kUnreachable;
  for (const auto& report : answer->applications) std::puts(Spell(report.ApplicationId()).c_str());
  return kOk;
}

struct KillOptions {
  std::vector<std::string> ids;
  bool no_wait = false;
};
struct NoOptions {};

}  // namespace

// ---------------------------------------------------------------- what an older state is shown by, too

std::string SumsText(const ClusterSums& sums) {
  return Counted(sums.nodes, "node") + ", " + Counted(sums.running, "application") + " running and " +
         std::to_string(sums.pending) + " pending, " + Counted(sums.containers, "container") + ", " +
         MemoryText(sums.used_mib) + " of " + MemoryText(sums.total_mib) + " in use";
}

void PrintApps(const std::vector<yarn::ApplicationReportProto>& reports, int64_t now_ms, bool json) {
  std::vector<AppReport> list;
  Table table(kAppColumns);
  for (const auto& report : reports) {
    list.push_back(AppOf(report));
    table.Add(AppRow(report, now_ms));
  }
  if (json) return PrintDocument(list);
  table.Print();
}

void PrintWhy(const yarn::ApplicationReportProto& report, const ordered_json& detail, bool json) {
  const std::string state(Name(report.YarnApplicationState()));
  if (json) {
    return PrintDocument(
        AppWaits{Spell(report.ApplicationId()), state, {detail.is_object() ? detail.at("pending") : ordered_json()}});
  }
  const bool ended = report.YarnApplicationState() > yarn::YarnApplicationStateProto::kRunning;
  std::printf("%-12s %s\n", "State", (state + (ended ? ": it waits for nothing any more" : "")).c_str());
  if (!ended) PrintPending(detail);
}

void PrintMaintenance(const ordered_json& windows) {
  for (const ordered_json& one : windows) {
    const std::string line = "maintenance of " + one.value("host", "") + " from " +
                             TimeText(one.value("from_ms", int64_t{0})) + " to " +
                             TimeText(one.value("until_ms", int64_t{0})) + ", by " + one.value("by", "");
    std::puts(base::VisibleText(line).c_str());
  }
}

void PrintNodes(const std::vector<yarn::NodeReportProto>& nodes, bool json, const std::string& scheme,
                const ordered_json& known) {
  const ordered_json windows = known.value("maintenance", ordered_json::array());
  std::map<std::string, std::string> versions;
  for (const ordered_json& node : known.value("nodes", ordered_json::array()))
    versions[node.value("id", "")] = node.value("version", "");
  std::vector<NodeReport> list;
  std::vector<std::string> head = {"NODE", "STATE", "RACK", "CONTAINERS", "MEMORY", "VCORES", "PAGE"};
  if (!versions.empty()) head.insert(head.end() - 1, "HADOOP");
  Table table(head);
  for (const auto& node : nodes) {
    const auto& used = node.Used();
    const auto& total = node.Capability();
    NodeReport& one =
        list.emplace_back(Spell(node.NodeId()), std::string(Name(node.NodeState())), node.rack_name.value_or(""),
                          node.http_address.value_or(""), node.num_containers.value_or(0), SizeOf(used), SizeOf(total),
                          node.health_report.value_or(""));
    if (const auto version = versions.find(one.id); version != versions.end()) one.version = version->second;
    for (const ordered_json& window : windows) {
      if (window.value("host", "") != Spell(node.NodeId()).substr(0, Spell(node.NodeId()).rfind(':'))) continue;
      if (!one.maintenance) one.maintenance.emplace();
      one.maintenance->json.push_back(window);
    }
    std::vector<std::string> row = {
        one.id,
        one.state,
        node.rack_name.value_or("-"),
        std::to_string(one.containers),
        MemoryText(used.memory.value_or(0)) + " of " + MemoryText(total.memory.value_or(0)),
        std::to_string(used.virtual_cores.value_or(0)) + " of " + std::to_string(total.virtual_cores.value_or(0)),
        scheme + one.httpAddress};
    if (!versions.empty()) row.insert(row.end() - 1, one.version.value_or("-"));
    table.Add(row);
  }
  if (json) return PrintDocument(list);
  if (nodes.empty()) {
    std::puts("no node is registered; start node agents ('fairlead nm') that know this resource manager");
  } else {
    table.Print();
  }
  PrintMaintenance(windows);
}

std::string PastUseText(const ordered_json& queue) {
  if (!queue.contains("past_ppm")) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", static_cast<double>(queue["past_ppm"].get<int64_t>()) / 10'000);
  return text;
}

void PrintQueues(ordered_json answer, bool json) {
  TakeNoBoundsOut(answer);
  if (json) return PrintJson(answer);
  std::vector<std::string> head = {"QUEUE", "WEIGHT", "FAIR SHARE", "AT MOST", "USED", "WANTED", "RUNNABLE", "WAITING"};
  const auto any = [&](const char* field) {
    return std::any_of(answer.at("queues").begin(), answer.at("queues").end(),
                       [&](const ordered_json& queue) { return queue.contains(field); });
  };
  const bool past = any("past_ppm");
  const bool budgets = any("budget");
  if (past) head.emplace_back("PAST USE");
  if (budgets) head.emplace_back("BUDGET");
  Table table(head);
  const auto amount = [](const ordered_json& queue, const char* field) {
    const ordered_json value = queue.value(field, ordered_json::object());
    return SizeText(value.value("memory_mib", int64_t{0}), value.value("vcores", int64_t{0}));
  };
  for (const auto& queue : answer.at("queues")) {
    char weight[16];
    std::snprintf(weight, sizeof weight, "%g", queue.value("weight", 1.0));
    std::vector<std::string> row = {queue.value("name", ""),
                                    weight,
                                    amount(queue, "fair_share"),
                                    queue.at("max_share").is_object() ? amount(queue, "max_share") : "-",
                                    amount(queue, "used"),
                                    amount(queue, "demand"),
                                    std::to_string(queue.value("runnable_apps", 0)),
                                    std::to_string(queue.value("waiting_apps", 0))};
    if (past) row.push_back(PastUseText(queue));
    if (budgets) row.push_back(queue.value("budget", "-"));
    table.Add(row);
  }
  table.Print();
}

void AddInspect(CLI::App& app, int& exit_code) {
  auto filter = std::make_shared<AppsFilter>();
  CLI::App* apps = AddClusterCommand<AppsFilter>(
      app, exit_code, "apps", "List applications", filter,
      [](const Command& command, Cluster& cluster, AppsFilter& options) { return Apps(command, cluster, options); });
  apps->add_flag("--all,-a", filter->all, "ended ones, too");
  apps->add_flag("--watch,-w", filter->watch, "go on with what changes, until Ctrl-C");
  apps->add_option("--state", filter->states, "only these states")
      ->check(CLI::IsMember({"NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING", "FINISHED", "FAILED", "KILLED"}));
  apps->add_option("--of-user", filter->users, "only of these users");
  apps->add_option("--queue", filter->queues, "only of these queues; root. may be left out");
  apps->footer("Examples:\n  fairlead apps\n  fairlead apps --watch\n  fairlead apps --all --queue root.prod --json");

  auto id = std::make_shared<std::string>();
  CLI::App* one = AddClusterCommand<std::string>(
      app, exit_code, "app", "Show one application and why its asks wait", id,
      [](const Command& command, Cluster& cluster, std::string& text) { return App(command, cluster, text); });
  one->add_option("id", *id, "application id")->required();
  one->footer(
      "Examples:\n  fairlead app application_1700000000000_0001\n"
      "  fairlead app application_1700000000000_0001 --json");

  auto waiting = std::make_shared<std::string>();
  CLI::App* why = AddClusterCommand<std::string>(
      app, exit_code, "why", "Say why an application's asks wait, and what would free them", waiting,
      [](const Command& command, Cluster& cluster, std::string& text) { return Why(command, cluster, text); });
  why->add_option("id", *waiting, "application id")->required();
  why->footer(
      "Examples:\n  fairlead why application_1700000000000_0001\n"
      "  fairlead why application_1700000000000_0001 --json");

  auto node_options = std::make_shared<NodesOptions>();
  CLI::App* nodes = AddClusterCommand<NodesOptions>(app, exit_code, "nodes", "List nodes", node_options, Nodes);
  nodes->add_flag("--reasons", node_options->reasons,
                  "those that do not serve: since when, why, and who took them out");
  nodes->footer("Examples:\n  fairlead nodes\n  fairlead nodes --reasons\n  fairlead nodes --json");

  CLI::App* queues = AddClusterCommand<NoOptions>(
      app, exit_code, "queues", "List queues with their shares", std::make_shared<NoOptions>(),
      [](const Command& command, Cluster& cluster, NoOptions&) { return Queues(command, cluster); });
  queues->footer("Examples:\n  fairlead queues\n  fairlead queues --json");

  auto kind = std::make_shared<std::string>();
  CLI::App* values = AddClusterCommand<std::string>(
      app, exit_code, "values", "", kind,
      [](const Command&, Cluster& cluster, std::string& wanted) { return Values(cluster, wanted); });
  values->group("");
  values->add_option("kind", *kind)->required()->check(CLI::IsMember({"apps", "active", "queues", "nodes"}));

  auto kill_options = std::make_shared<KillOptions>();
  CLI::App* kill = AddClusterCommand<KillOptions>(app, exit_code, "kill", "Kill applications", kill_options,
                                                  [](const Command& command, Cluster& cluster, KillOptions& options) {
                                                    return Kill(command, cluster, options.ids, !options.no_wait);
                                                  });
  kill->add_option("id", kill_options->ids, "application ids")->required();
  kill->add_flag("--no-wait", kill_options->no_wait, "do not wait until they have ended");
  kill->footer(
      "Examples:\n  fairlead kill application_1700000000000_0001\n"
      "  fairlead kill --no-wait application_1700000000000_0001 application_1700000000000_0002");
}

}  // namespace fairlead::apps
