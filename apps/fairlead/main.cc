#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/did_you_mean.h"
#include "base/version.h"
#include "commands.h"
#include "credentials.h"
#include "env_posix/own_process.h"
#include "help_format.h"
#include "managers.h"
#include "process/http/own_process.h"
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

/// What is wrong, the word that was meant (if one is near), and where to read on, as one sentence.
std::string WithAdvice(const std::string& what, std::string_view word, const std::vector<std::string>& known,
                       const std::string& read_on) {
  const std::string meant = fairlead::base::DidYouMean(word, known);
  if (!meant.ends_with("?")) return what + "; " + read_on;
  return what + meant + " " + read_on;
}

std::string Listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

/// Options that may be repeated take one word each time: what follows it is not theirs.
void TakeOneWordEach(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) option->allow_extra_args(false);
  }
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) TakeOneWordEach(*sub);
}

std::vector<std::string> Commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App* s) { return !s->get_group().empty(); }))
    names.push_back(sub->get_name());
  return names;
}

/// What is wrong with the words, what was meant, and where to read on: one form for every command.
int ExplainWrongWords(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string name;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += (name.empty() ? "" : " ") + command->get_name();
  }
  std::string what = error.what();
  while (!what.empty() && (what.back() == '\n' || what.back() == '.')) what.pop_back();
  constexpr std::string_view kNoNumber = "Could not convert: ";
  if (const size_t equals = what.find(" = "); what.starts_with(kNoNumber) && equals != std::string::npos) {
    what = what.substr(kNoNumber.size(), equals - kNoNumber.size()) + ": '" + what.substr(equals + 3) +
           "' is not a number, or too large";
  }
  const std::vector<std::string> commands = Commands(*command);
  std::vector<std::string> known = commands;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& option_name : option->get_lnames()) {
      if (option_name != "help") known.push_back("--" + option_name);  // the advice names it anyway
    }
  }
  // A word that is not understood is told before what is missing: it may be what is missing, misspelt.
  const auto left = app.remaining(true);
  std::string word = error.get_name() == "RequiredError" && !left.empty() ? left.front() : "";
  // CLI11 forgets these words as it throws, and lists them from the last to the first.
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) word = what.substr(what.rfind(' ') + 1);
  if (!word.empty()) what = "'" + word + "' is not understood";
  if (const std::string_view instead = fairlead::apps::InsteadOf(word); name == "submit" && !instead.empty()) {
    return fairlead::apps::Complain(name, "'" + word + "' is an option of spark-submit alone; " + std::string(instead),
                                    fairlead::apps::kUsage);
  }
  if (word.empty() && command->get_require_subcommand_min() > 0 && command->get_subcommands().empty()) {
    what = name.empty() ? "which command? 'fairlead up' starts a cluster"
                        : "one of these has to follow: " + Listed(commands);
  }
  using fairlead::apps::Complain;
  const std::string read_on = "'fairlead" + (name.empty() ? "" : " " + name) + " --help' says what it takes";
  return Complain(name, WithAdvice(what, word, known, read_on), fairlead::apps::kUsage);
}

int Run(int argc, char** argv) {
  using namespace fairlead::apps;
  fairlead::process::http::SetOwnProcess(fairlead::env_posix::ReadOwnProcess);
  CLI::App app{
      "Fairlead shares one cluster among many data-processing jobs: a resource manager, node agents and a shuffle\n"
      "service that unmodified YARN and Spark programs use, and tools to run, watch and simulate them."};
  app.name("fairlead");
  app.formatter(MakeHelpFormatter());  // commands that are added later take it, too
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
  AddAsk(app, exit_code);
  AddStatus(app, exit_code);
  AddTop(app, exit_code);
  AddEvents(app, exit_code);
  AddNode(app, exit_code);
  AddHa(app, exit_code);
  AddState(app, exit_code);
  AddCredentials(app, exit_code);
  AddJoin(app, exit_code);
  AddQueue(app, exit_code);
  AddLogs(app, exit_code);
  AddHistory(app, exit_code);
  AddSim(app, exit_code);
  AddReplay(app, exit_code);
  AddConfig(app, exit_code);
  AddCompletion(app, exit_code);
  AddMan(app, exit_code);
  AddSchema(app);
  app.set_version_flag("--version", std::string("fairlead ") + fairlead::base::Version() + " (" + kBuildType + ")");
  TakeOneWordEach(app);
  std::vector<const char*> words(argv, argv + argc);
  if (argc > 1 && words[1] == std::string_view("help")) {  // fairlead help node drain
    words.erase(words.begin() + 1);
    words.push_back("--help");
  }
  const auto is_called = [&](const CLI::App* sub) { return sub->get_name() == words[1]; };
  if (argc > 1 && words[1][0] != '-' && app.get_subcommands(is_called).empty()) {
    const std::string named = words[1];
    return Complain(named, WithAdvice("there is no such command", named, Commands(app), "'fairlead --help' lists them"),
                    kUsage);
  }
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : ExplainWrongWords(app, error);
  } catch (const nlohmann::json::exception& error) {
    return Complain(argv[1], std::string("an answer has not the form that was expected: ") + error.what(), kFailed);
  }
  return exit_code;
}

/// Output that is lost, as on a full disk, is told; a reader that has gone (head) wants no more of it.
int AfterOutput(const std::string& command, int exit_code) {
  errno = EIO;                                             // where the system gives no reason
  if (std::ferror(stdout) != 0) std::fputc('\n', stdout);  // fails again, and so tells why
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  if (errno == EPIPE) return exit_code;
  using namespace fairlead::apps;
  return Complain(command, std::string("cannot write the output: ") + std::strerror(errno),
                  exit_code == kOk ? kFailed : static_cast<ExitCode>(exit_code));
}

}  // namespace

int main(int argc, char** argv) {
  StartWithLargePages(argc, argv);
  return AfterOutput(argc > 1 ? argv[1] : "", Run(argc, argv));
}
