#include "ask.h"

#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>

#include "base/text.h"
#include "cluster_command.h"
#include "env_posix/posix_loop.h"
#include "process/ask/change.h"
#include "process/http/http.h"
#include "report/comparison.h"
#include "report_out.h"
#include "table.h"
#include "when.h"

// what-if, when: questions about the future of the cluster (docs/ask.md).

namespace fairlead::apps {
namespace {

namespace v1 = endpoints::v1;
using nlohmann::ordered_json;

constexpr size_t kRows = 1000;  // the manager gives no more

// ---------------------------------------------------------------- what-if

/// Options that are changes, by the names of changes.
struct WhatIfOptions {
  std::vector<std::pair<std::string, std::vector<std::string>>> changes;
  std::string like;  // of --add-nodes that name no node
  std::string queues_file;
  std::string ahead;
  std::string later;  // no queue may be, than that
  std::string out;
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

/// A described struct of JSON as it came; what is not there is as it is by itself.
template <class T>
T Read(const ordered_json& json) {
  T value{};
  if constexpr (base::Described<T>) {
    T::VisitFields(value, [&]<class F>(std::string_view name, F& field) {
      if (const auto at = json.find(std::string(name)); at != json.end()) field = Read<F>(*at);
    });
  } else if constexpr (base::IsOptional<T>::value) {
    value = Read<typename T::value_type>(json);
  } else if constexpr (base::IsVector<T>::value) {
    for (const ordered_json& item : json) value.push_back(Read<typename T::value_type>(item));
  } else {
    value = json.get<T>();
  }
  return value;
}

std::vector<report::Group> GroupsOf(const std::vector<v1::QueueFates>& rows) {
  std::vector<report::Group> groups;
  for (const v1::QueueFates& row : rows) groups.push_back({row});
  return groups;
}

/// The manager's sentences, and tables of its rows.
report::Report ReportOf(const v1::WhatIf& answer) {
  report::Comparison rows{.apps = answer.apps, .queues = GroupsOf(answer.queues), .users = GroupsOf(answer.users)};
  rows.limits = answer.limits;
  rows.limits_no_more = answer.limits_no_more;
  return {.parts = {{"", answer.sentences}}, .tables = report::Tables(rows, kRows)};
}

/// kFailed where a queue breaks the rule; says which. kUndecided where none does, as far as one knows.
int Judge(const std::string& command, const v1::WhatIf& answer, std::optional<base::Duration> most) {
  int code = kOk;
  if (!most) return code;
  for (const v1::QueueFates& queue : answer.queues) {
    if (queue.mean_ms <= most->millis()) continue;
    code = Complain(command,
                    queue.name + " is served " + DurationText(queue.mean_ms) +
                        " later in the mean, which is more than " + DurationText(most->millis()),
                    kFailed);
  }
  if (code != kOk || answer.undecided == 0) return code;
  return Complain(command,
                  "it cannot be judged: " + Counted(answer.undecided, "application") +
                      (answer.undecided == 1 ? " waits" : " wait") +
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
  if (const auto made = MakeOut(options.out); !made) return Complain(command.name, made.error().message, kFailed);
  const auto answer =
      AskFairlead(cluster, "what-if", "POST", body.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  if (!answer.ok()) return command.Fail(answer.error());
  const auto told = Read<v1::WhatIf>(*answer);
  report::Report report = ReportOf(told);
  if (command.options.json) {
    PrintJson(*answer);
  } else {
    const report::Report sentences{.parts = report.parts};
    std::fputs(TextOf(options.all ? report : sentences, kRows).c_str(), stdout);
  }
  report.title = "What if";
  for (const ordered_json& change : body["changes"]) report.about.push_back(change);
  if (!options.queues_file.empty()) report.about.push_back("queues of " + options.queues_file);
  const auto written = WriteOut(options.out, report, TextOf(report, kRows), {{"report.json", answer->dump(2) + "\n"}});
  if (!written) return Complain(command.name, written.error().message, kFailed);
  if (!command.options.json) std::fputs(written->c_str(), stdout);
  return Judge(command.name, told, most);
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
    CLI::Option* option = what_if->add_option(std::string("--") + name, change.second, help);
    if (change.first == "move") option->expected(1, 2)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  what_if->add_option("--like", options->like, "the node that those of --add-nodes are as large as");
  what_if->add_option("--queues-file", options->queues_file,
                      "these queues instead, in the form of any of Hadoop's schedulers");
  what_if->add_option("--for", options->ahead, "so far is looked (default 2h, at most 1d)");
  what_if->add_option("--no-queue-later-than", options->later,
                      "exit status 1 where a queue is served later than that in the mean, 6 where too little is known: "
                      "10m");
  what_if->add_flag("--all", options->all,
                    "with tables: when each application starts and ends in both futures; queues, users, limits");
  what_if->add_option("--out", options->out, "directory for report.html, report.txt, report.json");
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
