#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "cluster_command.h"
#include "config/allocation_edit.h"
#include "documents.h"
#include "inspect.h"
#include "shell/rm/queue_file.h"
#include "table.h"

// queue show, queue set: one queue as it is, and its settings in the file that holds them.

namespace fairlead::apps {
namespace {

using nlohmann::ordered_json;

std::string AmountText(const ordered_json& queue, const char* field) {
  const ordered_json value = queue.value(field, ordered_json::object());
  return MemoryText(value.value("memory_mib", int64_t{0})) + ", " + Counted(value.value("vcores", int64_t{0}), "vcore");
}

void Row(const std::string& what, const std::string& value) {
  std::printf("%-13s %s\n", what.c_str(), base::VisibleText(value).c_str());
}

/// Of profile `tdw`: the tasks of one type.
void PrintTasks(const ordered_json& tasks) {
  const int64_t missing = tasks.value("missing", int64_t{0});
  Row(tasks.value("type", "") + "s", tasks["granted"].dump() + " granted, " + tasks["waiting"].dump() + " waiting" +
                                         (missing > 0 ? ", " + std::to_string(missing) + " below the minimum" : ""));
}

int Show(const Command& command, Cluster& cluster, const std::string& name) {
  const auto found = FindQueue(cluster, name);
  if (!found.ok()) return command.Fail(found.error());
  const ordered_json& queue = *found;
  if (command.options.json) {
    PrintJson(queue);
    return kOk;
  }
  Row("Queue", queue.value("name", ""));
  Row("Policy", queue.value("policy", ""));
  Row("Weight", queue["weight"].dump());
  Row("Used", AmountText(queue, "used"));
  Row("Fair share", AmountText(queue, "fair_share"));
  Row("Steady share", AmountText(queue, "steady_share"));
  Row("At least", AmountText(queue, "min_share"));
  Row("At most", queue.at("max_share").is_object() ? AmountText(queue, "max_share") : "no bound of its own");
  if (queue.contains("max_running_apps")) {
    Row("Runs at most", Counted(queue["max_running_apps"].get<int64_t>(), "application"));
  }
  if (queue.contains("max_am_share")) Row("Masters' part", queue["max_am_share"].dump() + " of its share");
  if (queue.contains("priority")) Row("Priority", queue["priority"].dump());
  if (queue.contains("start_time")) Row("Start time", TimeText(queue["start_time"]));
  Row("Gives back", queue.value("preemptable", true) ? "yes" : "no: nothing is taken from it");
  for (const auto& one : queue.value("tasks", ordered_json::array())) PrintTasks(one);
  if (queue.contains("past_ppm")) Row("Past use", PastUseText(queue) + " of the cluster");
  if (queue.contains("budget")) Row("Budget", queue.value("budget", ""));
  Row("Wanted", AmountText(queue, "demand"));
  Row("Masters use", AmountText(queue, "master_used"));
  Row("Applications", std::to_string(queue.value("runnable_apps", 0)) + " runnable, " +
                          std::to_string(queue.value("waiting_apps", 0)) + " waiting");
  return kOk;
}

struct SetOptions {
  std::string queue;
  std::vector<std::string> settings;
  std::string file;
  bool preview = false;
};

using Settings = std::vector<std::pair<std::string, std::string>>;

base::Result<Settings> Parse(const std::vector<std::string>& words) {
  Settings settings;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return base::Error{"'" + word +
                         "' is no setting; write NAME=VALUE, for example weight=2, or NAME= to take it out"};
    }
    const std::string name = word.substr(0, equals);
    if (std::ranges::count(settings, name, &Settings::value_type::first) > 0)
      return base::Error{"'" + name + "' is said twice; say it once"};
    settings.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return settings;
}

bool SameFile(const std::string& one, const std::string& other) {
  std::error_code none;
  return std::filesystem::equivalent(one, other, none);
}

int Set(const Command& command, Cluster& cluster, const SetOptions& options) {
  const base::Result<Settings> wanted = Parse(options.settings);
  if (!wanted.ok()) return command.Fail(wanted.error());
  const auto edit = shell::EditQueueFile(cluster.source, options.file, {options.queue, *wanted});
  if (!edit.ok()) {
    const bool missing = edit.error().code == ENOENT;
    return Complain(command.name, edit.error().message + (missing ? "; name the file with --file" : ""),
                    missing ? kNotFound : kUsage);
  }
  const std::string differs = config::LinesThatDiffer(edit->before, edit->after);
  const bool text = !command.options.json;
  QueueSet told{edit->file, differs};
  if (text) {
    std::printf("%s\n%s", edit->file.c_str(), base::VisibleText(differs, base::Lines::kKept).c_str());
    if (differs.empty()) std::puts("nothing changes");
  }
  if (!options.preview && !differs.empty()) {
    if (const auto written = shell::WriteQueueFile(*edit); !written.ok()) {
      return Complain(command.name, written.error().message, kFailed);
    }
    if (text) std::printf("written; as it was before: %s.before\n", edit->file.c_str());
    cluster.client->SetPatience(base::Duration::Millis(0));
    const auto refreshed = AskFairlead(cluster, "queues/refresh", "POST");
    const bool nobody = !refreshed.ok() && refreshed.error().code == shell::kRmUnreachable;
    if (!refreshed.ok() && !nobody) return command.Fail(refreshed.error());
    const std::string read = refreshed.ok() ? refreshed->value("file", "") : "";
    const bool in_use = !read.empty() && SameFile(read, edit->file);
    told.written = true;
    told.in_use = in_use;
    const std::string taken =
        nobody   ? "no resource manager runs here; it reads the file when it starts"
        : in_use ? "in use"
                 : "not in use: the resource manager has its queues from " + (read.empty() ? "no file" : read);
    if (text) std::puts(base::VisibleText(taken).c_str());
  }
  if (!text) PrintDocument(told);
  return kOk;
}

}  // namespace

void AddQueue(CLI::App& app, int& exit_code) {
  CLI::App* queue = app.add_subcommand("queue", "Show one queue, or change its settings");
  queue->require_subcommand(1);
  auto name = std::make_shared<std::string>();
  CLI::App* show = AddClusterCommand<std::string>(
      *queue, exit_code, "show", "Show one queue", name,
      [](const Command& command, Cluster& cluster, std::string& wanted) { return Show(command, cluster, wanted); });
  show->add_option("queue", *name, "its name; root. may be left out")->required();
  show->footer("Examples:\n  fairlead queue show root.prod\n  fairlead queue show prod --json");
  auto options = std::make_shared<SetOptions>();
  CLI::App* set = AddClusterCommand<SetOptions>(
      *queue, exit_code, "set", "Change settings of a queue in the file that holds it", options,
      [](const Command& command, Cluster& cluster, SetOptions& wanted) { return Set(command, cluster, wanted); });
  set->add_option("queue", options->queue, "its name; it is made where it is not there")->required();
  set->add_option("setting", options->settings, "NAME=VALUE, named as in the file; NAME= takes it out")->required();
  set->add_option("--file", options->file, "the file (default: where the configuration has the queues)");
  set->add_flag("--preview", options->preview, "only show what would change");
  set->footer(
      "On the machine whose file it is. The file is checked as the resource manager checks it, replaced whole, and "
      "taken\n"
      "into use; what it was before stays beside it with .before at its end.\n"
      "Examples:\n  fairlead queue set root.prod weight=3 maxRunningApps=20 --preview\n"
      "  fairlead queue set root.dev maxResources='40960 mb, 20 vcores'\n"
      "  fairlead queue set root.dev max='{memory: 40GiB, vcores: 20}' --config fairlead.yaml");
}

}  // namespace fairlead::apps
