#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>

#include "cluster_command.h"
#include "managers.h"
#include "shell/rm/backup.h"
#include "shell/rm/settings.h"
#include "table.h"

// `fairlead state backup` and `restore`: the resource manager's state as one file.

namespace fairlead::apps {
namespace {

struct StateOptions {
  shell::SettingsSource source;
  std::string file;
  bool json = false;
};

/// Where the manager of this machine keeps its state.
base::Result<std::string> StateDirectoryOf(StateOptions& options) {
  auto settings = LoadSettings(options.source);
  if (!settings) return settings.error();
  const auto rm = shell::ReadRmSettings(*settings, options.source.hadoop_conf);
  if (!rm) return rm.error();
  if (!rm->ha) return rm->state_directory;
  return base::Error{"the state of several managers lies in ZooKeeper, at " + rm->ha->elector.servers + " below " +
                         rm->ha->elector.root + ": back up the data of its servers",
                     shell::kRmRefused};
}

/// `act` is BackUpState or RestoreState.
int Run(const char* name, StateOptions& options,
        base::Result<shell::StateCopy> (*act)(const std::string& directory, const std::string& file)) {
  const base::Result<std::string> directory = StateDirectoryOf(options);
  if (!directory.ok()) return Complain(name, directory.error().message, CodeOf(directory.error()));
  const auto copy = act(*directory, options.file);
  if (!copy.ok()) return Complain(name, copy.error().message, copy.error().code == ENOENT ? kNotFound : kFailed);
  if (options.json) {
    PrintJson({{"file", copy->file},
               {"bytes", copy->bytes},
               {"applications", copy->applications},
               {"set_aside", copy->set_aside}});
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
      "On the manager's machine, as its user: nobody else can read its files. The copy holds the keys of tokens.\n"
      "Examples:\n  fairlead state backup /backup/rm-$(date +%F).db --hadoop-conf /etc/hadoop/conf\n"
      "  fairlead state backup rm.db --set fairlead.rm.state-dir=/var/lib/fairlead/rm --json");
  backup->callback([kept, &exit_code] { exit_code = Run("state backup", *kept, shell::BackUpState); });
  auto wanted = std::make_shared<StateOptions>();
  CLI::App* restore = state->add_subcommand("restore", "Put a file of 'state backup' in the state's place");
  AddStateOptions(*restore, *wanted, "what 'state backup' has made");
  restore->footer(
      "The manager must not run. What was there is set aside, not removed. Applications that were acknowledged after\n"
      "the backup are forgotten, and their containers end.\n"
      "Examples:\n  fairlead state restore /backup/rm-2026-11-28.db --hadoop-conf /etc/hadoop/conf\n"
      "  fairlead state restore rm.db --set fairlead.rm.state-dir=/var/lib/fairlead/rm --json");
  restore->callback([wanted, &exit_code] { exit_code = Run("state restore", *wanted, shell::RestoreState); });
}

}  // namespace fairlead::apps
