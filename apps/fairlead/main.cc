#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "commands.h"
#include "version.h"

namespace {

/// A simulated day wanders through gigabytes: with large pages, and none given back, it takes a tenth less. The
/// allocator hears such wishes only when a process starts, so a simulation starts once more. Somebody's own wishes
/// stand; where it cannot start again it goes on as it is.
void StartWithLargePages(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != "sim") return;
  static constexpr const char* kWishes = "MALLOC_CONF";
  if (std::getenv(kWishes) != nullptr) return;
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error || setenv(kWishes, "thp:always,metadata_thp:always,dirty_decay_ms:-1,muzzy_decay_ms:-1", 1) != 0) return;
  execv(self.c_str(), argv);
}

/// Options that may be repeated take one word each time: what follows it is not theirs.
void TakeOneWordEach(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) option->allow_extra_args(false);
  }
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) TakeOneWordEach(*sub);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fairlead::apps;
  StartWithLargePages(argc, argv);
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
  AddSparkDaemons(app, exit_code);
  AddShuffle(app, exit_code);
  AddSubmit(app, exit_code);
  AddInspect(app, exit_code);
  AddHistory(app, exit_code);
  AddSim(app, exit_code);
  AddReplay(app, exit_code);
  AddConfig(app, exit_code);
  AddCompletion(app, exit_code);
  app.set_version_flag("--version", std::string("fairlead ") + kVersion + " (" + kBuildType + ")");
  TakeOneWordEach(app);
  const auto is_called = [&](const CLI::App* sub) { return sub->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_called).empty()) {
    return Complain(argv[1], "there is no such command; fairlead --help lists them", kUsage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  } catch (const nlohmann::json::exception& error) {
    return Complain(argv[1], std::string("an answer has not the form that was expected: ") + error.what(), kFailed);
  }
  return exit_code;
}
