#include <CLI/CLI.hpp>

#include "commands.h"

int main(int argc, char** argv) {
  using namespace fairlead::apps;
  CLI::App app{
      "Fairlead shares one cluster among many data-processing jobs: a resource manager, node agents and a shuffle\n"
      "service that unmodified YARN and Spark programs use, and tools to run, watch and simulate them."};
  app.name("fairlead");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 nothing answered, 4 not found, 5 the job "
      "failed.\n"
      "Start with: fairlead up");
  int exit_code = kOk;
  AddUp(app, exit_code);
  AddDaemons(app, exit_code);
  AddShuffle(app, exit_code);
  AddSubmit(app, exit_code);
  AddInspect(app, exit_code);
  AddHistory(app, exit_code);
  AddSim(app, exit_code);
  AddReplay(app, exit_code);
  AddConfig(app, exit_code);
  AddCompletion(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  return exit_code;
}
