#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

// One function per subcommand: adds it with its options and examples to `app`; its callback sets `exit_code`.

namespace fairlead::apps {

/// Exit codes of every command.
enum ExitCode : int {
  kOk = 0,
  kFailed = 1,       // the thing asked for failed; the reason is on stderr
  kUsage = 2,        // wrong words or values on the command line, or a configuration that was refused
  kUnreachable = 3,  // no resource manager (or node) answered
  kNotFound = 4,     // no such application, node, queue or file
  kJobFailed = 5,    // the application ended as FAILED or KILLED
  kUndecided = 6,    // a question that was asked by a rule cannot be answered by what is known
};

void AddDaemons(CLI::App& app, int& exit_code);       // rm, nm, supervise
void AddSparkDaemons(CLI::App& app, int& exit_code);  // spark-master, spark-worker
void AddShuffle(CLI::App& app, int& exit_code);       // shuffle, shuffle status
void AddUp(CLI::App& app, int& exit_code);            // up
/// What stands here for an option of spark-submit that `submit` does not have; "" for any other word.
std::string_view InsteadOf(std::string_view spark_submit_option);
void AddSubmit(CLI::App& app, int& exit_code);      // submit
void AddInspect(CLI::App& app, int& exit_code);     // apps, app, why, nodes, queues, kill
void AddAsk(CLI::App& app, int& exit_code);         // what-if, when
void AddStatus(CLI::App& app, int& exit_code);      // status
void AddTop(CLI::App& app, int& exit_code);         // top
void AddEvents(CLI::App& app, int& exit_code);      // events
void AddNode(CLI::App& app, int& exit_code);        // node drain, node undrain, node decommission
void AddQueue(CLI::App& app, int& exit_code);       // queue show, queue set
void AddLogs(CLI::App& app, int& exit_code);        // logs
void AddHistory(CLI::App& app, int& exit_code);     // history
void AddReplay(CLI::App& app, int& exit_code);      // replay
void AddSim(CLI::App& app, int& exit_code);         // sim
void AddConfig(CLI::App& app, int& exit_code);      // config check
void AddCompletion(CLI::App& app, int& exit_code);  // completion, version
void AddMan(CLI::App& app, int& exit_code);         // man
void AddSchema(CLI::App& app);                      // schema

/// Of options that are a seed, or count seeds.
inline constexpr int64_t kSeedMax = 1'000'000'000'000;

/// Prints "fairlead NAME: MESSAGE" (what, why, what to do) on stderr and gives `code`; a stranger's control characters
/// in it are seen.
int Complain(const std::string& command, const std::string& message, ExitCode code);

}  // namespace fairlead::apps
