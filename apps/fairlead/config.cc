#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "ask.h"
#include "cluster_command.h"
#include "commands.h"
#include "documents.h"
#include "engine/settings/spark_settings.h"
#include "env_posix/posix_loop.h"
#include "profiles/profile.h"
#include "shell/base/common_keys.h"
#include "shell/base/settings.h"
#include "shell/callers/callers.h"
#include "shell/nm/keys.h"
#include "shell/nm/settings.h"
#include "shell/rm/keys.h"
#include "shell/rm/settings.h"
#include "shell/shuffle/keys.h"
#include "shell/spark/door_settings.h"
#include "shell/spark/standalone_keys.h"
#include "shell/tls/tls.h"

namespace fairlead::apps {
namespace {

constexpr const char* kCommand = "config check";

using nlohmann::ordered_json;

/// Opens what ports would show, and what commands trust, as the start of a daemon does. Files that only the daemon's
/// user may read are no fault of the configuration.
base::Status TryTls(const config::HadoopConf& conf, bool serves, std::vector<std::string>& warnings) {
  const auto disk = env_posix::MakePosixDisk();
  const auto judge = [&](const auto& opened) -> base::Status {
    if (opened.ok()) return {};
    if (opened.error().code != EACCES) return opened.error();
    warnings.push_back(opened.error().message + ": only the daemon's user can check it");
    return {};
  };
  if (serves) {
    if (base::Status own = judge(shell::OpenServerTls(shell::ReadServerTls(conf), *disk)); !own.ok()) return own;
  }
  return shell::TrustsByFile(conf) ? judge(shell::OpenClientTls(conf, *disk)) : base::Status();
}

/// What `fairlead rm` would refuse, its queues and host lists included; else what it would do.
base::Result<CheckedManager> CheckRm(const config::Settings& settings, const std::string& conf_directory,
                                     std::vector<std::string>& of_refused) {
  const auto rm = shell::ReadRmSettings(settings, conf_directory, nullptr, &of_refused);
  if (!rm) return rm.error();
  const std::string queues = !rm->allocation_file.empty() ? rm->allocation_file
                             : settings.queues            ? "Fairlead's YAML"
                                                          : "Fairlead's defaults";
  CheckedManager out{rm->manager.profile, queues, rm->state_directory, rm->warnings};
  const base::Status tls = TryTls(settings.conf, rm->manager.security.web.https, out.warnings);
  if (!tls.ok()) return tls.error();
  return out;
}

base::Result<CheckedNode> CheckNm(const config::Settings& settings, std::vector<std::string>& of_refused) {
  const auto nm = shell::ReadNmSettings(settings, &of_refused);
  if (!nm) return nm.error();
  CheckedNode out{nm->services.size(), nm->state_directory, nm->warnings};
  const base::Status tls = TryTls(settings.conf, nm->web_security.https || nm->map_outputs_https, out.warnings);
  if (!tls.ok()) return tls.error();
  return out;
}

std::string WhatItDoes(const CheckedManager& rm) { return "profile " + rm.profile + ", queues from " + rm.queues; }
std::string WhatItDoes(const CheckedNode& nm) { return std::to_string(nm.services) + " auxiliary services"; }

/// What daemons refuse, and which of them: what several read is told once.
class Refused {
 public:
  void Add(const std::string& daemon, const std::string& errors) {
    std::istringstream lines(errors);
    for (std::string line; std::getline(lines, line);) {
      const auto known = std::ranges::find(lines_, line, &Line::text);
      if (known == lines_.end()) {
        lines_.push_back({line, daemon});
      } else {
        known->daemons += ", " + daemon;
      }
    }
  }
  bool empty() const { return lines_.empty(); }
  std::string Text() const {
    std::string text;
    for (const Line& line : lines_) text += (text.empty() ? "" : "\n") + line.daemons + ": " + line.text;
    return text;
  }

 private:
  struct Line {
    std::string text;
    std::string daemons;
  };
  std::vector<Line> lines_;
};

/// `of_refused`: the warnings of a daemon that does not start.
template <class T>
void Take(const char* daemon, const base::Result<T>& checked, const std::vector<std::string>& of_refused, bool print,
          std::optional<T>& told, Refused& wrong) {
  if (print) {
    for (const std::string& warning : checked ? checked->warnings : of_refused)
      std::printf("%s: warning: %s\n", daemon, warning.c_str());
  }
  if (!checked) return wrong.Add(daemon, checked.error().message);
  told = *checked;
  if (print) std::printf("%s: %s, state in %s\n", daemon, WhatItDoes(*checked).c_str(), checked->state.c_str());
}

struct CheckOptions {
  shell::SettingsSource source;
  std::string daemon = "all";
  std::string as;  // the manager, by its id, of several
  bool show = false;
  bool json = false;
  QueuesCheck against;
};

int Check(CheckOptions& options) {
  if (!options.against.manager.empty()) {
    options.against.json = options.json;
    return CheckQueues(options.against, options.source);
  }
  auto settings = LoadSettings(options.source);
  if (!settings) return Complain(kCommand, settings.error().message, CodeOf(settings.error()));
  shell::SetDefaultAuth(options.source, settings->conf);
  if (!options.as.empty()) settings->conf.Set("yarn.resourcemanager.ha.id", options.as);
  Checked told;
  Refused wrong;
  for (const auto& [key, value] : settings->conf.Explicit()) {
    if (options.show && !told.keys) told.keys.emplace();
    if (options.show) told.keys->by_name[key] = value;
    if (options.show && !options.json) std::printf("%s = %s\n", key.c_str(), value.c_str());
  }
  const bool print = !options.json;
  std::vector<std::string> of_refused;
  if (options.daemon != "nm") {
    const auto rm = CheckRm(*settings, options.source.hadoop_conf, of_refused);
    Take("rm", rm, of_refused, print, told.rm, wrong);
  }
  if (options.daemon != "rm") {
    const auto nm = CheckNm(*settings, of_refused);
    Take("nm", nm, of_refused, print, told.nm, wrong);
  }
  if (!wrong.empty()) return Complain(kCommand, wrong.Text(), kUsage);
  if (options.json) PrintDocument(told);
  return kOk;
}

std::vector<Key> KeysOf(const std::vector<config::Setting>& settings) {
  std::vector<Key> keys;
  for (const config::Setting& setting : settings) keys.push_back({setting.key, setting.fallback, setting.meaning});
  return keys;
}

void PrintKeys(const std::vector<config::Setting>& settings) {
  for (const config::Setting& setting : settings)
    std::printf("  %-58s %-14s %s\n", setting.key.c_str(), setting.fallback.c_str(), setting.meaning.c_str());
}

std::vector<ProfileKeys> AllProfiles() {
  std::vector<ProfileKeys> list;
  for (const profiles::Profile& profile : profiles::All())
    list.push_back({std::string(profile.name), std::string(profile.about), KeysOf(profile.settings())});
  return list;
}

/// The tables of keys, by the command that reads them.
struct DaemonKeys {
  const char* name;
  const char* title;
  std::vector<config::Setting> (*keys)();
};
constexpr DaemonKeys kDaemonKeys[] = {
    {"all", "Every daemon", shell::CommonKeys},
    {"rm", "Resource manager", shell::ManagerKeys},
    {"nm", "Node agent", shell::NodeKeys},
    {"shuffle", "Shuffle service", shell::ShuffleKeys},
    {"spark-master", "Standalone Master", shell::MasterKeys},
    {"spark-door", "Spark master of a YARN cluster", shell::DoorKeys},
    {"spark-worker", "Standalone Worker", shell::WorkerKeys},
    {"submit", "Jobs of the engine", engine::SparkSettings},
};

void ListKeys(const std::string& daemon, bool as_json, bool markdown) {
  std::vector<DaemonsKeys> list;
  for (const DaemonKeys& table : kDaemonKeys) {
    if (!daemon.empty() && daemon != table.name) continue;
    if (as_json) {
      list.push_back({table.name, KeysOf(table.keys())});
    } else if (markdown) {
      std::printf("### %s\n\n%s\n", table.title, config::Markdown(table.keys()).c_str());
    } else {
      std::printf("%s\n", table.title);
      PrintKeys(table.keys());
    }
  }
  if (as_json) PrintDocument(list);
}

std::vector<ShortName> AllNames() {
  std::vector<ShortName> list;
  for (const config::YamlEntry& entry : config::YamlEntries())
    list.push_back({std::string(entry.path), std::string(entry.key), std::string(entry.meaning)});
  return list;
}

void AddCheck(CLI::App& config, int& exit_code) {
  CLI::App* check = config.add_subcommand(
      "check", "Read a configuration as the daemons would: files, every key they use, queues and host lists");
  check->footer(
      "Examples:\n  fairlead config check --hadoop-conf /etc/hadoop/conf\n  fairlead config check --hadoop-conf "
      "/etc/hadoop/conf --daemon nm\n  fairlead config check --hadoop-conf /etc/hadoop/conf --as rm2\n  fairlead "
      "config check --config fairlead.yaml --show\n  fairlead config check --against rm:8088 fair-scheduler.xml "
      "--no-queue-later-than 10m\n\nExit status: 0 when the "
      "daemons would start on it; 2 with what is wrong, where, and what to write instead.\nWith --against: 0 when the "
      "manager has said what FILE would change; 1 where it refuses FILE, or a queue is served later than allowed; 2 "
      "with wrong words; 3 when no manager answered; 4 when FILE is not there; 6 where too little is known to judge.");
  auto options = std::make_shared<CheckOptions>();
  check->add_option("--daemon", options->daemon, "rm, nm or all (default)")->check(CLI::IsMember({"rm", "nm", "all"}));
  check->add_option("--as", options->as, "check for this one of several managers (rm2), on any host");
  check->add_option("--hadoop-conf", options->source.hadoop_conf,
                    "directory of Hadoop's files (default: HADOOP_CONF_DIR, YARN_CONF_DIR, which daemons do not read)");
  check->add_option("--config", options->source.yaml, "Fairlead's own YAML file");
  check->add_option("--set", options->source.overrides, "KEY=VALUE; may be repeated");
  CLI::Option* against = check->add_option("--against", options->against.manager,
                                           "HOST:PORT of a live manager's pages: ask it what FILE would change there");
  CLI::Option* queues = check->add_option("file", options->against.file, "queues, of any of Hadoop's schedulers");
  against->needs(queues);
  queues->needs(against);
  check
      ->add_option("--no-queue-later-than", options->against.later,
                   "with --against, exit status 1 where a queue is served later than that in the mean: 10m")
      ->needs(against);
  check->add_flag("--show", options->show, "print every key that is set");
  check->add_flag("--json", options->json, "print JSON");
  check->callback([options, &exit_code] { exit_code = Check(*options); });
}

void AddProfiles(CLI::App& config) {
  CLI::App* list =
      config.add_subcommand("profiles", "List the profiles of the scheduler, and the keys of each with their defaults");
  list->footer("Examples:\n  fairlead config profiles\n  fairlead config profiles --markdown");
  auto markdown = std::make_shared<bool>(false);
  auto json = std::make_shared<bool>(false);
  CLI::Option* as_json = list->add_flag("--json", *json, "print JSON");
  list->add_flag("--markdown", *markdown, "as the tables of docs/configuration.md")->excludes(as_json);
  list->callback([markdown, json] {
    if (*json) return PrintDocument(AllProfiles());
    for (const profiles::Profile& profile : profiles::All()) {
      if (*markdown) {
        std::printf("%s\n", profiles::Section(profile).c_str());
        continue;
      }
      std::printf("%s\n  %s\n", std::string(profile.name).c_str(), std::string(profile.about).c_str());
      PrintKeys(profile.settings());
    }
  });
}

void AddKeys(CLI::App& config) {
  CLI::App* keys =
      config.add_subcommand("keys", "List the keys of all daemons and of jobs, with their defaults and meanings");
  keys->footer("Examples:\n  fairlead config keys --daemon nm\n  fairlead config keys | grep expiry");
  auto daemon = std::make_shared<std::string>();
  auto markdown = std::make_shared<bool>(false);
  auto json = std::make_shared<bool>(false);
  keys->add_option("--daemon", *daemon,
                   "rm, nm, all (those that both read), shuffle, spark-master, spark-door (spark-master before YARN), "
                   "spark-worker or submit (default: every list)")
      ->check(CLI::IsMember({"rm", "nm", "all", "shuffle", "spark-master", "spark-door", "spark-worker", "submit"}));
  CLI::Option* keys_json = keys->add_flag("--json", *json, "print JSON");
  keys->add_flag("--markdown", *markdown, "as the tables of docs/configuration.md")->excludes(keys_json);
  keys->callback([daemon, json, markdown] { ListKeys(*daemon, *json, *markdown); });
}

void AddNames(CLI::App& config) {
  CLI::App* names =
      config.add_subcommand("names", "List the short names of Fairlead's YAML and the keys they stand for");
  names->footer("Examples:\n  fairlead config names\n  fairlead config names | grep queue");
  auto json = std::make_shared<bool>(false);
  names->add_flag("--json", *json, "print JSON");
  names->callback([json] {
    if (*json) return PrintDocument(AllNames());
    for (const config::YamlEntry& entry : config::YamlEntries()) {
      std::printf("%-22s %-50s %s\n", entry.path, entry.key, entry.meaning);
    }
  });
}

}  // namespace

void AddConfig(CLI::App& app, int& exit_code) {
  CLI::App* config = app.add_subcommand("config", "Check a configuration, or list the short names of Fairlead's YAML");
  config->require_subcommand(1);
  AddCheck(*config, exit_code);
  AddProfiles(*config);
  AddKeys(*config);
  AddNames(*config);
}

}  // namespace fairlead::apps
