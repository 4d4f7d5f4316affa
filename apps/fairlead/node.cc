#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "base/text.h"
#include "cluster_command.h"
#include "documents.h"
#include "inspect.h"
#include "interrupt.h"
#include "process/ask/change.h"
#include "shell/rm/moment.h"
#include "table.h"

// node drain, undrain, decommission: Hadoop's graceful decommissioning, by /fairlead/v1/nodes.

namespace fairlead::apps {
namespace {

using nlohmann::ordered_json;

struct NodeOptions {
  std::string node;
  int64_t timeout_s = -1;
  bool no_wait = false;
  std::string at;    // maintenance begins
  std::string time;  // and lasts so long
  bool cancel = false;
};

/// The state that the node has then; "" of a host without a node.
base::Result<std::string> SetState(Cluster& cluster, const std::string& id, const char* state, int64_t timeout_s) {
  const ordered_json body = {{"state", state}, {"timeout_s", timeout_s}};
  const auto answer = AskFairlead(cluster, "nodes/" + id + "/state", "PUT", body.dump());
  if (!answer.ok()) return answer.error();
  return answer->value("state", "");
}

/// Waits until the node is out: a line where a terminal can renew it, else a line whenever something changes.
int AwaitEmpty(const Command& command, Cluster& cluster, const std::string& id) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  std::string last;
  while (true) {
    const auto node = AskFairlead(cluster, "nodes/" + id);
    if (!node.ok()) return command.Fail(node.error());
    const std::string state = node->value("state", "");
    const auto running = node->value("running", ordered_json::array()).size();
    const std::string line =
        base::VisibleText(id + " " + state) + ", " + Counted(static_cast<int64_t>(running), "container") + " left";
    if (line != last) std::fprintf(stderr, terminal ? "\r\x1b[K%s" : "%s\n", line.c_str());
    last = line;
    if (state != "DECOMMISSIONING") {
      if (terminal) std::fputs("\n", stderr);
      if (state == "DECOMMISSIONED") return kOk;
      return Complain(command.name, id + " is " + state + ", somebody or something else ended the draining", kFailed);
    }
    if (PauseUnlessInterrupted(cluster, 500)) continue;
    if (terminal) std::fputs("\n", stderr);
    std::fprintf(stderr, "%s goes on draining; 'fairlead node undrain %s' takes it back\n", id.c_str(), id.c_str());
    return kOk;
  }
}

int Take(const Command& command, Cluster& cluster, const NodeOptions& options, const char* state) {
  const auto ids = FindNodes(cluster, options.node);
  if (!ids.ok()) return command.Fail(ids.error());
  std::vector<NodeOrder> list;
  for (const std::string& id : *ids) {
    const auto set = SetState(cluster, id, state, options.timeout_s);
    if (!set.ok()) return command.Fail(set.error());
    list.push_back({id, *set});
  }
  NoteInterrupts();
  for (size_t i = 0; i < ids->size() && !options.no_wait; ++i) {
    const std::string& id = (*ids)[i];
    if (const int code = AwaitEmpty(command, cluster, id); code != kOk) return code;
    if (Interrupted()) break;
    list[i].state = "DECOMMISSIONED";
    if (!command.options.json) std::printf("%s DECOMMISSIONED\n", base::VisibleText(id).c_str());
  }
  if (command.options.json) PrintDocument(list);
  return kOk;
}

/// What the maintenance is to be; an error says how it is written.
base::Result<ordered_json> WindowOf(const NodeOptions& options) {
  if (options.cancel) return ordered_json{{"cancel", true}};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  // The clock's "22:00" is the next one.
  const auto from = options.at.starts_with('-')
                        ? base::Result<base::WallTime>(base::Error{"--at: a moment to come is written 22:00 or "
                                                                   "2026-11-25T22:00"})
                        : shell::ParseMoment(options.at, {now_ms + 86'400'000});
  if (!from.ok()) return from.error();
  const auto time = process::ask::ParseTime(options.time);
  if (!time.ok()) return base::Error{"--for: " + time.error().message};
  return ordered_json{{"at_ms", from->ms}, {"for_s", time->ns / 1'000'000'000}};
}

int SetMaintenance(const Command& command, Cluster& cluster, const NodeOptions& options) {
  const auto window = WindowOf(options);
  if (!window.ok()) return Complain(command.name, window.error().message, kUsage);
  const auto ids = FindNodes(cluster, options.node);
  if (!ids.ok()) return command.Fail(ids.error());
  // Windows are those of a host: one of its nodes stands for all.
  const auto answer = AskFairlead(cluster, "nodes/" + ids->front() + "/maintenance", "PUT", window->dump());
  if (!answer.ok()) return command.Fail(answer.error());
  const ordered_json windows = answer->value("maintenance", ordered_json::array());
  if (command.options.json) {
    PrintJson(windows);
  } else if (windows.empty()) {
    std::printf("no maintenance of %s is announced any more\n", base::VisibleText(options.node).c_str());
  } else {
    PrintMaintenance(windows);
  }
  return kOk;
}

int GiveBack(const Command& command, Cluster& cluster, const NodeOptions& options) {
  const auto ids = FindNodes(cluster, options.node);
  if (!ids.ok()) return command.Fail(ids.error());
  std::vector<NodeGivenBack> list;
  for (const std::string& id : *ids) {
    const auto state = SetState(cluster, id, "RUNNING", -1);
    if (!state.ok()) return command.Fail(state.error());
    const bool ended = state->empty() || *state == "DECOMMISSIONED";
    list.push_back({{id, *state}, ended});
    if (*state == "DECOMMISSIONING") {
      return Complain(command.name, id + " stands in yarn.resourcemanager.nodes.exclude-path, too; take it out there",
                      kFailed);
    }
    const std::string now = ended ? "its node agent has ended, start it again" : "it is " + *state;
    if (!command.options.json) std::printf("%s is taken back; %s\n", base::VisibleText(id).c_str(), now.c_str());
  }
  if (command.options.json) PrintDocument(list);
  return kOk;
}

}  // namespace

void AddNode(CLI::App& app, int& exit_code) {
  CLI::App* node = app.add_subcommand("node", "Take nodes out of service and back");
  node->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, int (*body)(const Command&, Cluster&, NodeOptions&)) {
    auto options = std::make_shared<NodeOptions>();
    CLI::App* sub = AddClusterCommand<NodeOptions>(*node, exit_code, name, help, options, body);
    sub->add_option("node", options->node, "HOST:PORT, or HOST")->required();
    return std::pair{sub, options};
  };
  auto [drain, drain_options] = add("drain", "Start no container on a node any more and wait until it is empty",
                                    [](const Command& command, Cluster& cluster, NodeOptions& options) {
                                      if (options.cancel || !options.at.empty()) {
                                        return SetMaintenance(command, cluster, options);
                                      }
                                      return Take(command, cluster, options, "DECOMMISSIONING");
                                    });
  drain->add_option("--timeout", drain_options->timeout_s, "end what still runs after so many seconds (default: never)")
      ->check(CLI::Range(1, 31'536'000));
  drain->add_flag("--no-wait", drain_options->no_wait, "do not wait until it is empty");
  CLI::Option* at = drain->add_option("--at", drain_options->at,
                                      "announce maintenance of the host that begins then: 22:00 (the next one), "
                                      "2026-11-25T22:00 (with Z: UTC)");
  CLI::Option* time = drain->add_option("--for", drain_options->time, "and lasts so long: 90m, 2h, 1d");
  at->needs(time);
  time->needs(at);
  drain->add_flag("--cancel", drain_options->cancel, "no maintenance of the host is announced any more")->excludes(at);
  drain->footer(
      "It is DECOMMISSIONING until nothing runs and no application needs its files, then DECOMMISSIONED, as after "
      "yarn\n"
      "rmadmin -refreshNodes -g; its node agent ends. Kept over a restart of the resource manager.\n"
      "With --at and --for all nodes of the host are drained then, stay, and serve again when the time is over; under\n"
      "profile fairlead nothing starts there before that would not end in time. 'fairlead nodes' lists it.\n"
      "Examples:\n  fairlead node drain worker7\n  fairlead node drain worker7:45454 --timeout 3600 --no-wait\n"
      "  fairlead node drain worker7 --at 22:00 --for 2h\n  fairlead node drain worker7 --cancel");
  auto [decommission, decommission_options] = add("decommission", "Take a node out at once: its containers end",
                                                  [](const Command& command, Cluster& cluster, NodeOptions& options) {
                                                    return Take(command, cluster, options, "DECOMMISSIONED");
                                                  });
  decommission->add_flag("--no-wait", decommission_options->no_wait, "do not wait until it is out");
  decommission->footer("Examples:\n  fairlead node decommission worker7\n  fairlead node decommission worker7:45454");
  CLI::App* undrain = add("undrain", "Take a node back into service",
                          [](const Command& command, Cluster& cluster, NodeOptions& options) {
                            return GiveBack(command, cluster, options);
                          })
                          .first;
  undrain->footer("Examples:\n  fairlead node undrain worker7\n  fairlead node undrain worker7:45454 --json");
}

}  // namespace fairlead::apps
