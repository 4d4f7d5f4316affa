#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>

#include "cluster_command.h"
#include "documents.h"
#include "managers.h"
#include "shell/rm/backup.h"
#include "shell/rm/settings.h"
#include "shell/rm/shared_backup.h"
#include "table.h"

// `fairlead state backup` and `restore`: the resource manager's state as one file.

namespace fairlead::apps {
namespace {

struct StateOptions {
  shell::SettingsSource source;
  std::string file;
  bool json = false;
};

/// What is done with a directory of the manager of this machine, or with the place of several in ZooKeeper.
struct Act {
  const char* name;
  base::Result<shell::StateCopy> (*alone)(const std::string& directory, const std::string& file);
  base::Result<shell::StateCopy> (*shared)(const env_zookeeper::ElectorOptions& place, const std::string& file);
};
constexpr Act kBackUp = {"state backup", shell::BackUpState, shell::BackUpSharedState};
constexpr Act kRestore = {"state restore", shell::RestoreState, shell::RestoreSharedState};

/// Several managers have one state, in ZooKeeper: whichever of them this machine has is as good as another.
void BeAnyManager(config::HadoopConf& conf) {
  const std::vector<std::string> ids = conf.List("yarn.resourcemanager.ha.rm-ids", {});
  if (!ids.empty()) conf.Set("yarn.resourcemanager.ha.id", ids.front());
}

int Run(const Act& act, StateOptions& options) {
  auto settings = LoadSettings(options.source);
  if (!settings) return Complain(act.name, settings.error().message, CodeOf(settings.error()));
  BeAnyManager(settings->conf);
  const auto rm = shell::ReadRmSettings(*settings, options.source.hadoop_conf);
  if (!rm) return Complain(act.name, rm.error().message, CodeOf(rm.error()));
  const auto copy = rm->ha ? act.shared(rm->ha->elector, options.file) : act.alone(rm->state_directory, options.file);
  if (!copy.ok()) return Complain(act.name, copy.error().message, copy.error().code == ENOENT ? kNotFound : kFailed);
  if (options.json) {
    PrintDocument(StateCopied{copy->file, copy->bytes, copy->applications, copy->set_aside});
    return kOk;
  }
  std::printf("%s holds the state: %s, %llu bytes\n", copy->file.c_str(),
              Counted(static_cast<int64_t>(copy->applications), "application").c_str(),
              static_cast<unsigned long long>(copy->bytes));
  if (!copy->set_aside.empty()) std::printf("what was there before is %s\n", copy->set_aside.c_str());
  return kOk;
}

void AddStateOptions(CLI::App& command, StateOptions& options, const char* about) {
  command.add_option("file", options.file, about)->required();
  command.add_option("--hadoop-conf", options.source.hadoop_conf,
                     "directory of Hadoop's files (default: HADOOP_CONF_DIR, YARN_CONF_DIR)");
  command.add_option("--config", options.source.yaml, "Fairlead's own YAML file");
  command.add_option("--set", options.source.overrides, "KEY=VALUE of one Hadoop or fairlead.* key; may be repeated");
  command.add_flag("--json", options.json, "print JSON");
}

}  // namespace

void AddState(CLI::App& app, int& exit_code) {
  CLI::App* state = app.add_subcommand("state", "Back up the resource manager's state, and restore it");
  state->require_subcommand(1);
  auto kept = std::make_shared<StateOptions>();
  CLI::App* backup = state->add_subcommand("backup", "Copy the state into one file, also while the manager runs");
  AddStateOptions(*backup, *kept, "the file that is made");
  backup->footer(
      "On the manager's machine, as its user: nobody else can read its files. The state of several managers is read\n"
      "out of ZooKeeper, on any machine. The copy holds the keys of tokens.\n"
      "Examples:\n  fairlead state backup /backup/rm-$(date +%F).db --hadoop-conf /etc/hadoop/conf\n"
      "  fairlead state backup rm.db --set fairlead.rm.state-dir=/var/lib/fairlead/rm --json");
  backup->callback([kept, &exit_code] { exit_code = Run(kBackUp, *kept); });
  auto wanted = std::make_shared<StateOptions>();
  CLI::App* restore = state->add_subcommand("restore", "Put a file of 'state backup' in the state's place");
  AddStateOptions(*restore, *wanted, "what 'state backup' has made");
  restore->footer(
      "The manager must not run, nor any of several. What was there is set aside, not removed. Applications that were\n"
      "acknowledged after the backup are forgotten, and their containers end. A backup of one manager may become the\n"
      "state of several, and the other way round.\n"
      "Examples:\n  fairlead state restore /backup/rm-2026-11-28.db --hadoop-conf /etc/hadoop/conf\n"
      "  fairlead state restore rm.db --set fairlead.rm.state-dir=/var/lib/fairlead/rm --json");
  restore->callback([wanted, &exit_code] { exit_code = Run(kRestore, *wanted); });
}

}  // namespace fairlead::apps
