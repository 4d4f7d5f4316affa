#include <CLI/CLI.hpp>

#include "commands.h"
#include "shell/nm_daemon.h"
#include "shell/rm_daemon.h"
#include "shell/supervisor_spawner.h"

namespace fairlead::apps {
namespace {

const std::map<std::string, env::LogLevel> kLogLevels = {{"debug", env::LogLevel::kDebug},
                                                         {"info", env::LogLevel::kInfo},
                                                         {"warn", env::LogLevel::kWarn},
                                                         {"error", env::LogLevel::kError}};

/// Options that every daemon takes.
template <class Options>
void AddDaemonOptions(CLI::App& daemon, Options& options) {
  daemon.add_option("--hadoop-conf", options.settings.hadoop_conf,
                    "directory of Hadoop's files: core-site.xml, yarn-site.xml, ...");
  daemon.add_option("--config", options.settings.yaml, "Fairlead's own YAML file; goes over Hadoop's files");
  daemon.add_option("--set", options.settings.overrides, "KEY=VALUE of one Hadoop or fairlead.* key; may be repeated");
  daemon.add_option("--log-file", options.log_file, "log here, rotated (default: stderr)");
  daemon.add_option("--log-level", options.log_level, "debug, info, warn or error")
      ->transform(CLI::CheckedTransformer(kLogLevels, CLI::ignore_case));
}

}  // namespace

void AddDaemons(CLI::App& app, int& exit_code) {
  CLI::App* rm = app.add_subcommand("rm", "Run the resource manager");
  auto rm_options = std::make_shared<shell::RmOptions>();
  AddDaemonOptions(*rm, *rm_options);
  rm->footer(
      "Examples:\n  fairlead rm --hadoop-conf /etc/hadoop/conf\n"
      "  fairlead rm --config fairlead.yaml --set fairlead.scheduler.profile=yarn-fair\n"
      "Without configuration it listens on 127.0.0.1 and YARN's ports. SIGTERM ends it; applications go on, and the "
      "next\n"
      "run takes them over.");
  rm->callback([rm_options, &exit_code] { exit_code = shell::RunResourceManager(*rm_options); });

  CLI::App* nm = app.add_subcommand("nm", "Run a node agent");
  auto nm_options = std::make_shared<shell::NmOptions>();
  AddDaemonOptions(*nm, *nm_options);
  nm->footer(
      "Examples:\n  fairlead nm --hadoop-conf /etc/hadoop/conf\n"
      "  fairlead nm --set yarn.nodemanager.hostname=127.0.0.2 --set yarn.nodemanager.resource.memory-mb=4096");
  nm->callback([nm_options, &exit_code] { exit_code = shell::RunNodeManager(*nm_options); });

  CLI::App* supervise = app.add_subcommand("supervise", "")->group("");  // started by nm
  auto directory = std::make_shared<std::string>();
  supervise->add_option("directory", *directory, "of the agent whose containers they are");
  supervise->callback([&exit_code, directory] { exit_code = shell::RunSupervisorSpawner(); });
}

}  // namespace fairlead::apps
