#include "engine/history/history.h"

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "application_logs.h"
#include "base/text.h"
#include "cluster_command.h"
#include "engine/driver/driver_page.h"
#include "env_posix/posix_loop.h"
#include "shell/base/logging.h"
#include "shell/base/open_ports.h"
#include "shell/tls/web_tls.h"

// `fairlead history`: what a job of the engine did, from the event log that its driver wrote.

namespace fairlead::apps {
namespace {

namespace history = engine::history;
namespace yarn = wire::yarn;

constexpr const char* kOtherwise = "; for HTTP: --set yarn.http.policy=HTTP_ONLY --set fairlead.tls.certificate=";

struct HistoryOptions {
  ClusterOptions cluster;
  std::string what;
  std::string serve;
  bool any_user = false;
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

/// How a page of history is served.
struct Port {
  env::Endpoint endpoint;
  std::optional<shell::TlsFiles> tls;  // nothing: by HTTP
  std::vector<std::string> callers;    // uids of this machine that are served; none: everybody is
};

/// Whom the key names, or, where this machine alone reaches the page, who serves it.
std::vector<std::string> CallersOf(const config::HadoopConf& conf, const env::Endpoint& endpoint) {
  if (conf.IsSet(shell::kCallersKey) || !env::IsLoopback(endpoint.host)) return conf.List(shell::kCallersKey);
  return {std::to_string(::geteuid())};
}

/// Who asked for HTTPS, here or for the cluster's pages, gets no page by HTTP in its place.
base::Result<Port> ReadPort(HistoryOptions& options) {
  const auto endpoint = env::ParseEndpoint(options.serve);
  if (!endpoint) return endpoint.error();
  const auto settings = LoadSettings(options.cluster.source);
  if (!settings) return settings.error();
  const config::HadoopConf& conf = settings->conf;
  Port port{*endpoint, std::nullopt, {}};
  if (!options.any_user) port.callers = CallersOf(conf, *endpoint);
  if (shell::IsHttpsOnly(conf) || !conf.String(shell::kCertificateKey, "").empty()) {
    port.tls = shell::ReadServerTls(conf);
  }
  if (!conf.errors().empty()) return base::Error{conf.ErrorText() + (port.tls ? kOtherwise : "")};
  if (base::Status kept = shell::KeepStrangersOut(port.callers); !kept.ok()) return kept.error();
  return port;
}

int Serve(Told told, const Port& port) {
  EndLines(told.log);
  told.log += history::SumLines(told.story);
  const auto log = shell::MakeLog("history", {});
  shell::LogStrangers(*log);
  const std::string open = shell::OpenPortsWarning({port.endpoint}, "whoever connects reads what the job did");
  if (port.callers.empty() && !open.empty()) log->Warn(open);
  const auto loop = env_posix::MakePosixLoop();
  const auto disk = env_posix::MakePosixDisk();
  std::unique_ptr<shell::WebTls> tls;
  if (port.tls) {
    auto opened = shell::WebTls::Open(*loop, *loop, *disk, *log, *port.tls);
    if (!opened) return Complain("history", opened.error().message + kOtherwise, kFailed);
    tls = std::move(*opened);
  }
  env::Net& net = tls ? tls->net() : *loop;
  const auto page =
      engine::DriverPage::Listen(*loop, net, port.endpoint, told.story,
                                 engine::DriverPage::LogOfText(std::move(told.log)), std::nullopt, tls != nullptr);
  if (!page) return Complain("history", page.error().message, kFailed);
  for (const int signal : {SIGINT, SIGTERM}) loop->OnSignal(signal, [&loop] { loop->Stop(); });
  std::printf("%s/ (Ctrl-C ends)\n", (*page)->url().c_str());
  std::fflush(stdout);
  loop->Run();
  return kOk;
}

int ShowHistory(HistoryOptions& options) {
  const auto id = model::ParseApplicationId(options.what);
  Port port;
  if (!options.serve.empty()) {
    auto read = ReadPort(options);
    if (!read) return Complain("history", read.error().message, CodeOf(read.error()));
    port = std::move(*read);
  }
  auto told = id ? StoryOfApplication(options, *id) : StoryOfFile(options.what);
  if (!told) return Complain("history", told.error().message, static_cast<ExitCode>(told.error().code));
  if (!options.serve.empty()) return Serve(std::move(*told), port);
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
      "  fairlead history --serve 127.0.0.1:8088 events.jsonl\n"
      "  fairlead history --serve 0.0.0.0:8088 --set fairlead.tls.certificate=node7.crt --set "
      "fairlead.tls.key=node7.key "
      "events.jsonl");
  auto options = std::make_shared<HistoryOptions>();
  AddClusterOptions(*command, options->cluster);
  command->add_option("what", options->what, "an application's id, or the file of an event log")->required();
  CLI::Option* serve = command->add_option(
      "--serve", options->serve,
      "serve the driver's page on HOST:PORT (port 0: a free one); by HTTPS where fairlead.tls.certificate is set, "
      "or yarn.http.policy is HTTPS_ONLY");
  command
      ->add_flag(
          "--any-user", options->any_user,
          "for every user of this machine (default: fairlead.callers.uids; without it, on loopback, yours alone)")
      ->needs(serve);
  command->callback([options, &exit_code] { exit_code = ShowHistory(*options); });
}

}  // namespace fairlead::apps
