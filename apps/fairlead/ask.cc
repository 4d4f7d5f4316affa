#include "ask.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>

#include "base/text.h"
#include "cluster_command.h"
#include "env_posix/posix_loop.h"
#include "process/ask/change.h"
#include "process/http/http.h"
#include "table.h"
#include "when.h"

// what-if, when: questions about the future of the cluster (docs/ask.md).

namespace fairlead::apps {
namespace {

using nlohmann::ordered_json;

// ---------------------------------------------------------------- what-if

/// Options that are changes, by the names of changes.
struct WhatIfOptions {
  std::vector<std::pair<std::string, std::vector<std::string>>> changes;
  std::string like;  // of --add-nodes that name no node
  std::string queues_file;
  std::string ahead;
  std::string later;  // no queue may be, than that
  bool all = false;
};

constexpr std::pair<const char*, const char*> kChanges[] = {
    {"queue", "QUEUE.SETTING=VALUE, as of fairlead queue set: root.prod.weight=5"},
    {"lose-node", "a node is lost: HOST or HOST:PORT"},
    {"lose-rack", "all nodes of a rack are lost"},
    {"add-nodes", "so many nodes more, COUNT or COUNT=HOST: as large as that one"},
    {"drain", "nothing new starts on the node"},
    {"submit", "a job comes, COUNTxMEMORY,VCORESxTIME@QUEUE: 100x2GiB,1x10m@root.prod"},
    {"kill", "the application is killed"},
    {"move", "the application goes to another queue, APP=QUEUE or APP QUEUE"},
    {"profile", "another profile decides, with the same queues: tdw"},
};

std::string Moment(const ordered_json& fate, const char* field) {
  return fate.contains(field) ? DurationText(fate[field].get<int64_t>()) : "-";
}

void PrintApps(const ordered_json& apps) {
  Table table({"ID", "NAME", "USER", "QUEUE", "FIRST", "THEN", "END", "THEN", "TAKEN"});
  for (const ordered_json& app : apps) {
    const ordered_json& before = app.at("before");
    const ordered_json& after = app.at("after");
    table.Add({app.value("id", ""), app.value("name", ""), app.value("user", ""), app.value("queue", ""),
               Moment(before, "first_ms"), Moment(after, "first_ms"), Moment(before, "end_ms"), Moment(after, "end_ms"),
               after.value("taken", ordered_json(0)).dump()});
  }
  if (table.size() > 0) table.Print();
}

void PrintGroups(const char* what, const ordered_json& groups) {
  Table table({what, "LATER", "SOONER", "NO MORE", "IN THE MEAN"});
  for (const ordered_json& one : groups) {
    const auto mean = one.value("mean_ms", int64_t{0});
    table.Add({one.value("name", ""), one.value("apps_later", ordered_json(0)).dump(),
               one.value("apps_sooner", ordered_json(0)).dump(), one.value("apps_no_more", ordered_json(0)).dump(),
               DurationText(std::abs(mean)) + (mean < 0 ? " sooner" : " later")});
  }
  if (table.size() > 0) table.Print();
}

/// kFailed where a queue breaks the rule; says which. kUndecided where none does, as far as one knows.
int Judge(const std::string& command, const ordered_json& answer, std::optional<base::Duration> most) {
  int code = kOk;
  if (!most) return code;
  for (const ordered_json& queue : answer.at("queues")) {
    const int64_t mean = queue.value("mean_ms", int64_t{0});
    if (mean <= most->millis()) continue;
    code = Complain(command,
                    queue.value("name", "") + " is served " + DurationText(mean) +
                        " later in the mean, which is more than " + DurationText(most->millis()),
                    kFailed);
  }
  const auto undecided = answer.value("undecided", int64_t{0});
  if (code != kOk || undecided == 0) return code;
  return Complain(command,
                  "it cannot be judged: " + Counted(undecided, "application") + (undecided == 1 ? " waits" : " wait") +
                      " to the end, maybe for containers of which nobody knows how long they run",
                  kUndecided);
}

/// What the command line has as the texts of docs/ask.md.
ordered_json ChangesOf(const WhatIfOptions& options) {
  ordered_json changes = ordered_json::array();
  for (const auto& [name, values] : options.changes) {
    for (size_t i = 0; i < values.size(); ++i) {
      std::string text = values[i];
      const bool alone = text.find('=') == std::string::npos;
      if (name == "move" && alone && i + 1 < values.size()) text += "=" + values[++i];
      if (name == "add-nodes" && alone && !options.like.empty()) text += "=" + options.like;
      changes.push_back(name + " " + text);
    }
  }
  return changes;
}

int WhatIf(const Command& command, Cluster& cluster, const WhatIfOptions& options) {
  std::optional<base::Duration> most;
  if (!options.later.empty()) {
    const base::Result<base::Duration> read = process::ask::ParseTime(options.later);
    if (!read.ok()) return Complain(command.name, "--no-queue-later-than: " + read.error().message, kUsage);
    most = *read;
  }
  ordered_json body = {{"changes", ChangesOf(options)}};
  if (body["changes"].empty() && options.queues_file.empty()) {
    return Complain(command.name, "name a change, such as --lose-node HOST; --help has all of them", kUsage);
  }
  if (!options.queues_file.empty()) {
    const auto text = env_posix::MakePosixDisk()->ReadFile(options.queues_file, uint64_t{16} << 20);
    if (!text) return Complain(command.name, text.error().message, kNotFound);
    body["queues_file"] = *text;
  }
  if (!options.ahead.empty()) body["for"] = options.ahead;
  const auto answer =
      AskFairlead(cluster, "what-if", "POST", body.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  if (!answer.ok()) return command.Fail(answer.error());
  if (command.options.json) {
    PrintJson(*answer);
    return Judge(command.name, *answer, most);
  }
  for (const auto& sentence : answer->at("sentences")) {
    std::puts(base::VisibleText(sentence.get<std::string>()).c_str());
  }
  if (options.all) {
    PrintApps(answer->at("apps"));
    PrintGroups("QUEUE", answer->at("queues"));
    PrintGroups("USER", answer->at("users"));
  }
  return Judge(command.name, *answer, most);
}

// ---------------------------------------------------------------- when

int When(const Command& command, Cluster& cluster, const std::string& text) {
  if (const auto id = model::ParseApplicationId(text); !id) return Complain(command.name, id.error().message, kUsage);
  const auto answer = AskFairlead(cluster, "apps/" + text + "/when");
  if (!answer.ok()) return command.Fail(answer.error());
  if (command.options.json) {
    PrintJson(*answer);
    return kOk;
  }
  PrintWhen(*answer);
  return kOk;
}

}  // namespace

int CheckQueues(const QueuesCheck& check, const shell::SettingsSource& source) {
  Command command;
  command.name = "config check";
  command.options.source = source;
  command.options.json = check.json;
  command.options.source.overrides.push_back("yarn.resourcemanager.webapp.address=" + check.manager);
  auto cluster = OpenCluster(command.options);
  if (!cluster.ok()) return command.Fail(cluster.error());
  WhatIfOptions options;
  options.queues_file = check.file;
  options.later = check.later;
  return WhatIf(command, *cluster, options);
}

void AddAsk(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<WhatIfOptions>();
  CLI::App* what_if = AddClusterCommand<WhatIfOptions>(
      app, exit_code, "what-if", "Say what would change if: a change beside the future without it", options,
      [](const Command& command, Cluster& cluster, WhatIfOptions& wanted) { return WhatIf(command, cluster, wanted); });
  options->changes.reserve(std::size(kChanges));  // the options hold on to places in it
  for (const auto& [name, help] : kChanges) {
    auto& change = options->changes.emplace_back(name, std::vector<std::string>());
    what_if->add_option(std::string("--") + name, change.second, help);
  }
  what_if->add_option("--like", options->like, "the node that those of --add-nodes are as large as");
  what_if->add_option("--queues-file", options->queues_file,
                      "these queues instead, in the form that the manager reads");
  what_if->add_option("--for", options->ahead, "so far is looked (default 2h, at most 1d)");
  what_if->add_option("--no-queue-later-than", options->later,
                      "exit status 1 where a queue is served later than that in the mean, 6 where too little is known: "
                      "10m");
  what_if->add_flag("--all", options->all,
                    "with tables: when each application starts and ends, and then; queues and users");
  what_if->footer(
      "Nothing changes: a copy of the cluster is asked. Several changes are one.\n"
      "Examples:\n  fairlead what-if --queue root.prod.weight=5\n"
      "  fairlead what-if --lose-node node7 --lose-node node8 --for 4h --all\n"
      "  fairlead what-if --queues-file new.xml --no-queue-later-than 10m\n"
      "  fairlead what-if --submit 100x2GiB,1x10m@root.prod --json");

  auto id = std::make_shared<std::string>();
  CLI::App* when = AddClusterCommand<std::string>(
      app, exit_code, "when", "Say when an application's asks will be served", id,
      [](const Command& command, Cluster& cluster, std::string& text) { return When(command, cluster, text); });
  when->add_option("id", *id, "application id")->required();
  when->footer(
      "Examples:\n  fairlead when application_1700000000000_0001\n"
      "  fairlead when application_1700000000000_0001 --json");
}

}  // namespace fairlead::apps
