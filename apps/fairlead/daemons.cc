#include <CLI/CLI.hpp>

#include "commands.h"
#include "daemon_options.h"
#include "shell/nm/daemon.h"
#include "shell/nm/helper.h"
#include "shell/rm/daemon.h"

namespace fairlead::apps {

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
  supervise->callback([&exit_code, directory] { exit_code = shell::RunHelper(); });
}

}  // namespace fairlead::apps
