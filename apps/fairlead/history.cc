#include "engine/history/history.h"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "application_logs.h"
#include "base/text.h"
#include "engine/driver/driver_page.h"
#include "env_posix/posix_loop.h"

// `fairlead history`: what a job of the engine did, from the event log that its driver wrote.

namespace fairlead::apps {
namespace {

namespace history = engine::history;

struct HistoryOptions {
  ClusterOptions cluster;
  std::string what;
  std::string serve;
};

/// The event log of a file, or of an application's last driver as its node keeps it.
base::Result<std::string> ReadEvents(const HistoryOptions& options) {
  const auto id = model::ParseApplicationId(options.what);
  if (!id) {
    auto text = env_posix::MakePosixDisk()->ReadFile(options.what);
    if (!text) return base::Error{text.error().message, kNotFound};
    return text;
  }
  auto cluster = OpenCluster(options.cluster);
  if (!cluster) return base::Error{cluster.error().message, CodeOf(cluster.error())};
  const auto logs = FetchLogs(*cluster, *id, "", {"events.jsonl"});
  if (!logs) return base::Error{logs.error().message, CodeOf(logs.error())};
  const ContainerLog* last = nullptr;
  for (const ContainerLog& log : *logs) {
    if (last == nullptr || log.container > last->container) last = &log;
  }
  if (last != nullptr) return last->text;
  return base::Error{"no node has the event log of " + options.what +
                         " (not a job of the engine, or its logs are gone; submit --event-log keeps it elsewhere)",
                     kNotFound};
}

int Serve(const history::History& story, const std::string& address) {
  const auto endpoint = env::ParseEndpoint(address);
  if (!endpoint) return Complain("history", endpoint.error().message, kUsage);
  const auto loop = env_posix::MakePosixLoop();
  const auto page = engine::DriverPage::Listen(*loop, *loop, *endpoint, story);
  if (!page) return Complain("history", page.error().message, kFailed);
  for (const int signal : {SIGINT, SIGTERM}) loop->OnSignal(signal, [&loop] { loop->Stop(); });
  std::printf("%s/ (Ctrl-C ends)\n", (*page)->url().c_str());
  std::fflush(stdout);
  loop->Run();
  return kOk;
}

int ShowHistory(const HistoryOptions& options) {
  const auto text = ReadEvents(options);
  if (!text) return Complain("history", text.error().message, static_cast<ExitCode>(text.error().code));
  const auto story = history::ReadLog(*text);
  if (!story) return Complain("history", options.what + ": " + story.error().message, kFailed);
  if (!options.serve.empty()) return Serve(*story, options.serve);
  const std::string shown = options.cluster.json ? ToJson(*story) + "\n" : ToText(*story);
  std::fputs(base::VisibleText(shown, base::Lines::kKept).c_str(), stdout);
  return kOk;
}

}  // namespace

void AddHistory(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("history", "Show what a job of the engine did: jobs, stages, tasks");
  command->footer(
      "Reads the driver's event log, also while it runs and after a crash.\nExamples:\n"
      "  fairlead history application_1700000000000_0001\n  fairlead history --json events.jsonl\n"
      "  fairlead history --serve 127.0.0.1:8088 events.jsonl");
  auto options = std::make_shared<HistoryOptions>();
  AddClusterOptions(*command, options->cluster);
  command->add_option("what", options->what, "an application's id, or the file of an event log")->required();
  command->add_option("--serve", options->serve, "serve the driver's page on HOST:PORT (port 0: a free one)");
  command->callback([options, &exit_code] { exit_code = ShowHistory(*options); });
}

}  // namespace fairlead::apps
