#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "application_logs.h"
#include "base/text.h"
#include "cluster_options.h"
#include "model/ids.h"
#include "table.h"
#include "wire/yarn/client.h"

// apps, app, nodes, queues, logs, kill: over YARN's own protocols, so they work with Hadoop's resource manager, too.
// What only Fairlead knows (shares as they are now, why an ask waits) comes from /fairlead/v1 and is marked absent
// elsewhere.

namespace fairlead::apps {
namespace {

using nlohmann::ordered_json;
namespace yarn = wire::yarn;

std::string Spell(const yarn::ApplicationIdProto& id) {
  return model::ToString(model::ApplicationId{id.cluster_timestamp.value_or(0), id.id.value_or(0)});
}

std::string Spell(const yarn::NodeIdProto& id) {
  return id.host.value_or("?") + ":" + std::to_string(id.port.value_or(0));
}

yarn::ApplicationIdProto ToProto(const model::ApplicationId& id) {
  yarn::ApplicationIdProto proto;
  proto.cluster_timestamp = id.cluster_timestamp;
  proto.id = id.number;
  return proto;
}

int64_t Now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

/// A command's state: what it was told and how it ends.
struct Command {
  std::string name;
  ClusterOptions options;
  int* exit_code = nullptr;

  int Fail(const base::Error& error) const { return Complain(name, error.message, CodeOf(error)); }
};

/// Runs `body` with an open cluster and keeps its exit code.
void RunWithCluster(const Command& command, const std::function<int(Cluster&)>& body) {
  auto cluster = OpenCluster(command.options);
  *command.exit_code = cluster.ok() ? body(*cluster) : command.Fail(cluster.error());
}

ordered_json ResourceJson(const yarn::ResourceProto& resource) {
  return {{"memoryMib", resource.memory.value_or(0)}, {"vcores", resource.virtual_cores.value_or(0)}};
}

ordered_json AppJson(const yarn::ApplicationReportProto& report) {
  const auto usage = report.app_resource_usage.value_or(yarn::ApplicationResourceUsageReportProto{});
  return {{"id", Spell(report.ApplicationId())},
          {"name", report.Name()},
          {"type", report.application_type.value_or("")},
          {"user", report.User()},
          {"queue", report.Queue()},
          {"state", Name(report.YarnApplicationState())},
          {"finalStatus", Name(report.FinalApplicationStatus())},
          {"progress", report.progress.value_or(0)},
          {"startTime", report.start_time.value_or(0)},
          {"finishTime", report.finish_time.value_or(0)},
          {"containers", usage.num_used_containers.value_or(0)},
          {"used", ResourceJson(usage.UsedResources())},
          {"trackingUrl", report.TrackingUrl()},
          {"diagnostics", report.Diagnostics()}};
}

void PrintJson(const ordered_json& json) {
  const std::string text = json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
  std::puts(base::VisibleText(text, base::Lines::kKept).c_str());
}

// ---------------------------------------------------------------- apps

struct AppsFilter {
  std::vector<std::string> states;
  std::vector<std::string> users;
  std::vector<std::string> queues;
  bool all = false;
};

base::Result<yarn::GetApplicationsRequestProto> ToRequest(const AppsFilter& filter) {
  using State = yarn::YarnApplicationStateProto;
  constexpr State kStates[] = {State::kNew,     State::kNewSaving, State::kSubmitted, State::kAccepted,
                               State::kRunning, State::kFinished,  State::kFailed,    State::kKilled};
  yarn::GetApplicationsRequestProto request;
  request.users = filter.users;
  request.queues = filter.queues;
  for (const State state : kStates) {
    const bool live = state <= State::kRunning;
    if (filter.states.empty() && (filter.all || live)) request.application_states.push_back(state);
  }
  for (const std::string& wanted : filter.states) {
    bool known = false;
    for (const State state : kStates) {
      if (Name(state) != wanted) continue;
      request.application_states.push_back(state);
      known = true;
    }
    if (!known) return base::Error{"'" + wanted + "' is no application state; write for example RUNNING or FINISHED"};
  }
  return request;
}

int Apps(const Command& command, Cluster& cluster, const AppsFilter& filter) {
  const auto request = ToRequest(filter);
  if (!request) return command.Fail(request.error());
  const auto answer = cluster.client->Call<yarn::GetApplicationsResponseProto>("getApplications", *request);
  if (!answer) return command.Fail(answer.error());
  if (command.options.json) {
    ordered_json list = ordered_json::array();
    for (const auto& report : answer->applications) list.push_back(AppJson(report));
    PrintJson(list);
    return kOk;
  }
  Table table({"ID", "NAME", "USER", "QUEUE", "STATE", "FINAL", "CONTAINERS", "MEMORY", "AGE"});
  for (const auto& report : answer->applications) {
    const auto usage = report.app_resource_usage.value_or(yarn::ApplicationResourceUsageReportProto{});
    const int64_t end = report.finish_time.value_or(0) > 0 ? *report.finish_time : Now();
    table.Add({Spell(report.ApplicationId()), std::string(report.Name()), std::string(report.User()),
               std::string(report.Queue()), std::string(Name(report.YarnApplicationState())),
               std::string(Name(report.FinalApplicationStatus())),
               std::to_string(std::max(0, usage.num_used_containers.value_or(0))),
               MemoryText(std::max<int64_t>(0, usage.UsedResources().memory.value_or(0))),
               DurationText(end - report.start_time.value_or(end))});
  }
  table.Print();
  if (table.size() == 0 && !filter.all) std::fputs("no application is active; --all shows ended ones\n", stderr);
  return kOk;
}

// ---------------------------------------------------------------- app

base::Result<yarn::ApplicationReportProto> Report(Cluster& cluster, const model::ApplicationId& id) {
  yarn::GetApplicationReportRequestProto request;
  request.application_id = ToProto(id);
  const auto answer = cluster.client->Call<yarn::GetApplicationReportResponseProto>("getApplicationReport", request);
  if (!answer) return answer.error();
  return answer->ApplicationReport();
}

/// What only Fairlead tells about an application; null elsewhere.
ordered_json FairleadDetail(Cluster& cluster, const std::string& id) {
  const auto answer = cluster.client->Get("/fairlead/v1/apps/" + id);
  if (!answer.ok() || answer->status != 200) return nullptr;
  return ordered_json::parse(answer->body, nullptr, false);
}

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
    std::printf("Pending      %s: %s\n", text("reason").c_str(), text("detail").c_str());
    if (const std::string remedy = text("remedy"); !remedy.empty()) {
      std::printf("             to free it: %s\n", remedy.c_str());
    }
  }
}

int App(const Command& command, Cluster& cluster, const std::string& text) {
  const auto id = model::ParseApplicationId(text);
  if (!id) return Complain(command.name, id.error().message, kUsage);
  const auto report = Report(cluster, *id);
  if (!report) return command.Fail(report.error());
  const ordered_json detail = FairleadDetail(cluster, text);
  if (command.options.json) {
    ordered_json out = AppJson(*report);
    out["fairlead"] = detail;
    PrintJson(out);
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
  row("State", std::string(Name(report->YarnApplicationState())));
  row("Final", std::string(Name(report->FinalApplicationStatus())));
  row("Progress", std::to_string(static_cast<int>(report->progress.value_or(0) * 100)) + " %");
  row("Started", TimeText(report->start_time.value_or(0)));
  row("Finished", TimeText(report->finish_time.value_or(0)));
  row("Containers", std::to_string(std::max(0, usage.num_used_containers.value_or(0))) + ", " +
                        MemoryText(std::max<int64_t>(0, usage.UsedResources().memory.value_or(0))) + ", " +
                        std::to_string(std::max(0, usage.UsedResources().virtual_cores.value_or(0))) + " vcores");
  row("Page", std::string(report->TrackingUrl()));
  row("Diagnostics", std::string(report->Diagnostics()), base::Lines::kKept);
  if (report->YarnApplicationState() <= yarn::YarnApplicationStateProto::kRunning) PrintPending(detail);
  return kOk;
}

// ---------------------------------------------------------------- nodes

int Nodes(const Command& command, Cluster& cluster) {
  const auto answer =
      cluster.client->Call<yarn::GetClusterNodesResponseProto>("getClusterNodes", yarn::GetClusterNodesRequestProto{});
  if (!answer) return command.Fail(answer.error());
  ordered_json list = ordered_json::array();
  Table table({"NODE", "STATE", "RACK", "CONTAINERS", "MEMORY", "VCORES", "PAGE"});
  for (const auto& node : answer->node_reports) {
    const auto& used = node.Used();
    const auto& total = node.Capability();
    list.push_back({{"id", Spell(node.NodeId())},
                    {"state", Name(node.NodeState())},
                    {"rack", node.rack_name.value_or("")},
                    {"httpAddress", node.http_address.value_or("")},
                    {"containers", node.num_containers.value_or(0)},
                    {"used", ResourceJson(used)},
                    {"capacity", ResourceJson(total)},
                    {"health", node.health_report.value_or("")}});
    table.Add(
        {Spell(node.NodeId()), std::string(Name(node.NodeState())), node.rack_name.value_or("-"),
         std::to_string(node.num_containers.value_or(0)),
         MemoryText(used.memory.value_or(0)) + " of " + MemoryText(total.memory.value_or(0)),
         std::to_string(used.virtual_cores.value_or(0)) + " of " + std::to_string(total.virtual_cores.value_or(0)),
         "http://" + node.http_address.value_or("")});
  }
  if (command.options.json) {
    PrintJson(list);
  } else {
    table.Print();
  }
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

/// Live shares of a Fairlead resource manager.
bool PrintFairleadQueues(const Command& command, Cluster& cluster) {
  const auto answer = cluster.client->Get("/fairlead/v1/queues");
  if (!answer.ok() || answer->status != 200) return false;
  const auto json = ordered_json::parse(answer->body, nullptr, false);
  if (json.is_discarded() || !json.contains("queues")) return false;
  if (command.options.json) {
    PrintJson(json);
    return true;
  }
  Table table({"QUEUE", "WEIGHT", "FAIR SHARE", "AT MOST", "USED", "WANTED", "RUNNABLE", "WAITING"});
  const auto amount = [](const ordered_json& queue, const char* field) {
    const ordered_json value = queue.value(field, ordered_json::object());
    return MemoryText(value.value("memory_mib", int64_t{0})) + ", " +
           std::to_string(value.value("vcores", int64_t{0})) + " vc";
  };
  const auto bounded = [&](const ordered_json& queue) {  // a share without a bound is a very large one
    const int64_t whole = json.value("cluster", ordered_json::object()).value("memory_mib", int64_t{0});
    const int64_t most = queue.value("max_share", ordered_json::object()).value("memory_mib", int64_t{0});
    return most < whole;
  };
  for (const auto& queue : json["queues"]) {
    char weight[16];
    std::snprintf(weight, sizeof weight, "%g", queue.value("weight", 1.0));
    table.Add({queue.value("name", ""), weight, amount(queue, "fair_share"),
               bounded(queue) ? amount(queue, "max_share") : "-", amount(queue, "used"), amount(queue, "demand"),
               std::to_string(queue.value("runnable_apps", 0)), std::to_string(queue.value("waiting_apps", 0))});
  }
  table.Print();
  return true;
}

int Queues(const Command& command, Cluster& cluster) {
  if (PrintFairleadQueues(command, cluster)) return kOk;
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

// ---------------------------------------------------------------- kill

int Kill(const Command& command, Cluster& cluster, const std::vector<std::string>& ids, bool wait) {
  int result = kOk;
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
        if (!command.options.json)
          std::printf("%s %s\n", text.c_str(), answer->IsKillCompleted() ? "killed" : "is being killed");
        break;
      }
      cluster.client->Pause(100);
    }
  }
  return result;
}

// ---------------------------------------------------------------- logs

struct ContainerLogs {
  std::string container;
  std::string node_http;
};

std::string HttpUrl(const std::string& address) {
  return address.find("://") == std::string::npos ? "http://" + address : address;
}

/// Containers that the resource manager still lists.
base::Status AddListed(Cluster& cluster, const model::ApplicationId& id, std::vector<ContainerLogs>& out) {
  yarn::GetApplicationAttemptsRequestProto attempts_request;
  attempts_request.application_id = ToProto(id);
  const auto attempts =
      cluster.client->Call<yarn::GetApplicationAttemptsResponseProto>("getApplicationAttempts", attempts_request);
  if (!attempts) return attempts.error();
  for (const auto& attempt : attempts->application_attempts) {
    yarn::GetContainersRequestProto request;
    request.application_attempt_id = attempt.ApplicationAttemptId();
    const auto containers = cluster.client->Call<yarn::GetContainersResponseProto>("getContainers", request);
    if (!containers) return containers.error();
    for (const auto& container : containers->containers) {
      const auto& proto = container.ContainerId();
      const model::ContainerId container_id{{{proto.AppAttemptId().ApplicationId().cluster_timestamp.value_or(0),
                                              proto.AppAttemptId().ApplicationId().id.value_or(0)},
                                             proto.AppAttemptId().AttemptId()},
                                            proto.id.value_or(0)};
      out.push_back({model::ToString(container_id), HttpUrl(container.node_http_address.value_or(""))});
    }
  }
  return {};
}

/// Masters of ended attempts, as Fairlead's resource manager remembers them.
void AddMasters(Cluster& cluster, const std::string& application, std::vector<ContainerLogs>& out) {
  const ordered_json detail = FairleadDetail(cluster, application);
  if (!detail.is_object()) return;
  for (const auto& attempt : detail.value("attempts", ordered_json::array())) {
    const std::string container = attempt.value("master", "");
    const std::string node = attempt.value("http_address", "");
    const bool listed =
        std::any_of(out.begin(), out.end(), [&](const auto& logs) { return logs.container == container; });
    if (!container.empty() && !node.empty() && !listed) out.push_back({container, HttpUrl(node)});
  }
}

/// Containers of an application that has ended, as the nodes' log directories have them; Fairlead's nodes tell.
void AddFromNodes(Cluster& cluster, const model::ApplicationId& id, std::vector<ContainerLogs>& out) {
  yarn::GetClusterNodesRequestProto request;
  request.node_states = {yarn::NodeStateProto::kRunning};
  const auto nodes = cluster.client->Call<yarn::GetClusterNodesResponseProto>("getClusterNodes", request);
  if (!nodes) return;
  for (const auto& node : nodes->node_reports) {
    const std::string url = HttpUrl(node.http_address.value_or(""));
    const auto answer = cluster.client->GetUrl(url + "/fairlead/v1/logs/" + model::ToString(id));
    if (!answer.ok() || answer->status != 200) continue;
    const auto json = ordered_json::parse(answer->body, nullptr, false);
    if (!json.is_object()) continue;
    for (const auto& one : json.value("containers", ordered_json::array())) {
      const std::string container = one.value("id", "");
      const bool listed = std::any_of(out.begin(), out.end(), [&](const auto& l) { return l.container == container; });
      if (!container.empty() && !listed) out.push_back({container, url});
    }
  }
}

/// "stdout, stderr": what there is beside the file that was asked for.
std::string FilesOf(Cluster& cluster, const ContainerLogs& logs) {
  const auto answer = cluster.client->GetUrl(logs.node_http + "/ws/v1/node/containers/" + logs.container + "/logs");
  if (!answer.ok() || answer->status != 200) return "";
  const auto json = ordered_json::parse(answer->body, nullptr, false);
  const auto info = json.is_object() ? json.value("containerLogsInfo", ordered_json::object()) : ordered_json::object();
  std::string out;
  for (const auto& file : info.value("containerLogInfo", ordered_json::array())) {
    out += (out.empty() ? "" : ", ") + file.value("fileName", "");
  }
  return out;
}

/// Every container that may still have logs somewhere.
base::Result<std::vector<ContainerLogs>> ContainersWithLogs(Cluster& cluster, const model::ApplicationId& id) {
  std::vector<ContainerLogs> containers;
  if (const base::Status listed = AddListed(cluster, id, containers); !listed.ok()) return listed.error();
  AddMasters(cluster, model::ToString(id), containers);
  const auto report = Report(cluster, id);
  if (report.ok() && report->YarnApplicationState() >= yarn::YarnApplicationStateProto::kFinished) {
    AddFromNodes(cluster, id, containers);
  }
  return containers;
}

struct LogsOptions {
  std::string application;
  std::string container;
  std::string file;
};

int Logs(const Command& command, Cluster& cluster, const LogsOptions& options) {
  const auto id = model::ParseApplicationId(options.application);
  if (!id) return Complain(command.name, id.error().message, kUsage);
  const std::vector<std::string> files =
      options.file.empty() ? std::vector<std::string>{"stdout", "stderr"} : std::vector<std::string>{options.file};
  const auto logs = FetchLogs(cluster, *id, options.container, files);
  if (!logs) return command.Fail(logs.error());
  for (const ContainerLog& log : *logs) {
    std::printf("==> %s %s <==\n", log.container.c_str(), log.file.c_str());
    // Programs get a log as it is; a terminal would obey it.
    const std::string text = ::isatty(STDOUT_FILENO) ? base::VisibleText(log.text, base::Lines::kKept) : log.text;
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  if (!logs->empty()) return kOk;
  if (const auto containers = ContainersWithLogs(cluster, *id); containers.ok()) {
    for (const ContainerLogs& one : *containers) {
      if (!options.container.empty() && one.container != options.container) continue;
      const std::string there = FilesOf(cluster, one);
      if (there.empty()) continue;
      return Complain(command.name, one.container + " has no " + files.front() + "; it has " + there, kNotFound);
    }
  }
  return Complain(
      command.name,
      "no log of " + options.application + " can be had from its nodes (they may be gone, or the logs were removed)",
      kNotFound);
}

/// Adds a subcommand whose callback opens the cluster and runs `body`.
template <class Options>
CLI::App* AddClusterCommand(CLI::App& app, int& exit_code, const std::string& name, const std::string& help,
                            std::shared_ptr<Options> options, int (*body)(const Command&, Cluster&, Options&)) {
  CLI::App* sub = app.add_subcommand(name, help);
  auto command = std::make_shared<Command>();
  command->name = name;
  command->exit_code = &exit_code;
  AddClusterOptions(*sub, command->options);
  sub->callback([command, options, body] {
    RunWithCluster(*command, [&](Cluster& cluster) { return body(*command, cluster, *options); });
  });
  return sub;
}

struct KillOptions {
  std::vector<std::string> ids;
  bool no_wait = false;
};
struct NoOptions {};

}  // namespace

base::Result<std::vector<ContainerLog>> FetchLogs(Cluster& cluster, const model::ApplicationId& id,
                                                  const std::string& container, const std::vector<std::string>& files) {
  const auto containers = ContainersWithLogs(cluster, id);
  if (!containers) return containers.error();
  std::vector<ContainerLog> found;
  for (const ContainerLogs& logs : *containers) {
    if (!container.empty() && logs.container != container) continue;
    for (const std::string& file : files) {
      auto text = cluster.client->GetUrl(logs.node_http + "/ws/v1/node/containerlogs/" + logs.container + "/" + file);
      if (text && text->status == 200) found.push_back({logs.container, file, std::move(text->body)});
    }
  }
  return found;
}

void AddInspect(CLI::App& app, int& exit_code) {
  auto filter = std::make_shared<AppsFilter>();
  CLI::App* apps = AddClusterCommand<AppsFilter>(
      app, exit_code, "apps", "List applications", filter,
      [](const Command& command, Cluster& cluster, AppsFilter& options) { return Apps(command, cluster, options); });
  apps->add_flag("--all,-a", filter->all, "ended ones, too");
  apps->add_option("--state", filter->states, "only these states");
  apps->add_option("--of-user", filter->users, "only of these users");
  apps->add_option("--queue", filter->queues, "only of these queues");
  apps->footer("Examples:\n  fairlead apps\n  fairlead apps --all --queue root.prod --json");

  auto id = std::make_shared<std::string>();
  CLI::App* one = AddClusterCommand<std::string>(
      app, exit_code, "app", "Show one application and why its asks wait", id,
      [](const Command& command, Cluster& cluster, std::string& text) { return App(command, cluster, text); });
  one->add_option("id", *id, "application id")->required();
  one->footer("Example: fairlead app application_1700000000000_0001");

  CLI::App* nodes = AddClusterCommand<NoOptions>(
      app, exit_code, "nodes", "List nodes", std::make_shared<NoOptions>(),
      [](const Command& command, Cluster& cluster, NoOptions&) { return Nodes(command, cluster); });
  nodes->footer("Example: fairlead nodes --json");

  CLI::App* queues = AddClusterCommand<NoOptions>(
      app, exit_code, "queues", "List queues with their shares", std::make_shared<NoOptions>(),
      [](const Command& command, Cluster& cluster, NoOptions&) { return Queues(command, cluster); });
  queues->footer("Example: fairlead queues");

  auto kill_options = std::make_shared<KillOptions>();
  CLI::App* kill = AddClusterCommand<KillOptions>(app, exit_code, "kill", "Kill applications", kill_options,
                                                  [](const Command& command, Cluster& cluster, KillOptions& options) {
                                                    return Kill(command, cluster, options.ids, !options.no_wait);
                                                  });
  kill->add_option("id", kill_options->ids, "application ids")->required();
  kill->add_flag("--no-wait", kill_options->no_wait, "do not wait until they have ended");
  kill->footer("Example: fairlead kill application_1700000000000_0001");

  auto logs_options = std::make_shared<LogsOptions>();
  CLI::App* logs = AddClusterCommand<LogsOptions>(
      app, exit_code, "logs", "Print an application's logs", logs_options,
      [](const Command& command, Cluster& cluster, LogsOptions& options) { return Logs(command, cluster, options); });
  logs->add_option("id", logs_options->application, "application id")->required();
  logs->add_option("--container", logs_options->container, "only of this container");
  logs->add_option("--file", logs_options->file, "only this file (default: stdout and stderr)");
  logs->footer("Example: fairlead logs application_1700000000000_0001 --file stderr");
}

}  // namespace fairlead::apps
