#include "engine/history/history.h"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "application_logs.h"
#include "base/text.h"
#include "cluster_command.h"
#include "engine/driver/driver_page.h"
#include "env_posix/posix_loop.h"

// `fairlead history`: what a job of the engine did, from the event log that its driver wrote.

namespace fairlead::apps {
namespace {

namespace history = engine::history;
namespace yarn = wire::yarn;

struct HistoryOptions {
  ClusterOptions cluster;
  std::string what;
  std::string serve;
};

/// A story and the lines that it was read from.
struct Told {
  history::History story;
  std::string log;
};

base::Result<Told> ReadStory(const std::string& what, std::string log) {
  auto story = history::ReadLog(log);
  if (!story) return base::Error{what + ": " + story.error().message, kFailed};
  return Told{std::move(*story), std::move(log)};
}

base::Result<Told> StoryOfFile(const std::string& path) {
  constexpr uint64_t kLogMax = 256 << 20;  // a driver writes a fifth of it (engine/history/event_log.h)
  auto text = env_posix::MakePosixDisk()->ReadFile(path, kLogMax);
  if (!text) return base::Error{text.error().message, kNotFound};
  return ReadStory(path, std::move(*text));
}

/// Whole lines alone, so that others may follow.
void EndLines(std::string& log) {
  log.resize(history::WholeLines(log).size());
  if (!log.empty() && !log.ends_with('\n')) log += '\n';
}

/// A driver that crashed could not tell its end, and one that was stopped does not know why: the resource manager does.
void AddEnd(const yarn::ApplicationReportProto& report, Told& told) {
  const yarn::YarnApplicationStateProto state = report.YarnApplicationState();
  if (state < yarn::YarnApplicationStateProto::kFinished || (told.story.ended() && !told.story.ended()->killed)) {
    return;
  }
  history::ApplicationEnded end;
  end.at_ms = report.finish_time.value_or(0);
  end.killed = state == yarn::YarnApplicationStateProto::kKilled;
  end.error = report.Diagnostics();
  const bool failed = report.FinalApplicationStatus() != yarn::FinalApplicationStatusProto::kSucceeded;
  if (end.error.empty() && failed) end.error = "the resource manager says " + std::string(Name(state));
  told.story.Apply(end);
  EndLines(told.log);
  told.log += history::ToLine(end);
}

/// From the event log of the application's last driver, as its node keeps it.
base::Result<Told> StoryOfApplication(const HistoryOptions& options, const model::ApplicationId& id) {
  auto cluster = OpenCluster(options.cluster);
  if (!cluster) return base::Error{cluster.error().message, CodeOf(cluster.error())};
  const auto report = Report(*cluster, id);
  if (!report) return base::Error{report.error().message, CodeOf(report.error())};
  const auto logs = FetchLogs(*cluster, id, "", {"events.jsonl"});
  if (!logs) return base::Error{logs.error().message, CodeOf(logs.error())};
  const ContainerLog* last = nullptr;
  for (const ContainerLog& log : *logs) {
    if (last == nullptr || log.container > last->container) last = &log;
  }
  if (last == nullptr) {
    const std::string why(report->Diagnostics());
    return base::Error{"no node has the event log of " + options.what +
                           " (not a job of the engine, or it has not begun, or its logs are gone; submit --event-log "
                           "keeps it elsewhere); the resource manager says " +
                           std::string(Name(report->YarnApplicationState())) + (why.empty() ? "" : ": " + why),
                       kNotFound};
  }
  auto told = ReadStory(options.what, last->text);
  if (told) AddEnd(*report, *told);
  return told;
}

int Serve(Told told, const std::string& address) {
  EndLines(told.log);
  told.log += history::SumLines(told.story);
  const auto endpoint = env::ParseEndpoint(address);
  if (!endpoint) return Complain("history", endpoint.error().message, kUsage);
  const auto loop = env_posix::MakePosixLoop();
  const auto page = engine::DriverPage::Listen(*loop, *loop, *endpoint, told.story,
                                               engine::DriverPage::LogOfText(std::move(told.log)));
  if (!page) return Complain("history", page.error().message, kFailed);
  for (const int signal : {SIGINT, SIGTERM}) loop->OnSignal(signal, [&loop] { loop->Stop(); });
  std::printf("%s/ (Ctrl-C ends)\n", (*page)->url().c_str());
  std::fflush(stdout);
  loop->Run();
  return kOk;
}

int ShowHistory(const HistoryOptions& options) {
  const auto id = model::ParseApplicationId(options.what);
  auto told = id ? StoryOfApplication(options, *id) : StoryOfFile(options.what);
  if (!told) return Complain("history", told.error().message, static_cast<ExitCode>(told.error().code));
  if (!options.serve.empty()) return Serve(std::move(*told), options.serve);
  const std::string shown = options.cluster.json ? ToJson(told->story) + "\n" : ToText(told->story);
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
