#include "shell/spark/worker_daemon.h"

#include <csignal>
#include <cstdio>

#include "env_posix/posix_loop.h"
#include "process/http/server.h"
#include "process/spark_worker/spark_worker.h"
#include "process/spark_worker/worker_page.h"
#include "shell/base/known_hosts.h"
#include "shell/base/logging.h"
#include "shell/base/open_ports.h"
#include "shell/spark/page_port.h"
#include "shell/spark/spark_filters.h"
#include "shell/spark/worker_settings.h"
#include "shell/spark/worker_shuffle.h"
#include "shell/spark/worker_supervisor.h"

namespace fairlead::shell {

namespace {

namespace sw = process::spark_worker;

constexpr const char* kOpen =
    "whoever reaches it can pass as its master; set spark.authenticate=true and spark.authenticate.secret";

int Refuse(const std::string& message, int code) {
  std::fprintf(stderr, "fairlead spark-worker: %s\n", message.c_str());
  return code;
}

/// What the worker before this one has left, if there was one.
void TakePlace(const sw::LinkWelcome& welcome, sw::SparkWorkerSettings& worker) {
  worker.id = welcome.identity.id;
  if (worker.listen.port == 0) worker.listen.port = static_cast<uint16_t>(welcome.identity.port);
  worker.runs = welcome.runs;
  worker.launch.worker_url =
      "spark://" + welcome.watched_name + "@" + worker.host + ":" + std::to_string(welcome.watched_port);
}

struct WorkerPort {
  std::unique_ptr<PagePort> page;
  uint64_t logins_refused = 0;

  process::http::WebRefusals refusals() const { return {page->refused(), logins_refused}; }
};

/// `worker`: null until it has started.
base::Status OpenPage(env_posix::PosixLoop& loop, env::Disk& disk, sw::WorkerPages& pages,
                      WorkerDaemonSettings& settings, const std::unique_ptr<sw::SparkWorker>& worker, env::Log& log,
                      WorkerPort& port) {
  namespace http = process::http;
  http::KnownHosts hosts = ReadKnownHosts(config::HadoopConf(), settings.warnings);
  hosts.AddName(settings.worker.host);
  const auto serve = [&worker, &pages](const http::Request& request, const http::Server::Reply& reply) {
    if (!worker) return reply(http::TextResponse(503, "the worker starts"));
    pages.Handle(*worker, request, reply);
  };
  const PagePlace place{
      settings.web, settings.worker.host, settings.port_retries, "--webui-port or spark.worker.ui.port",
      hosts,        settings.tls};
  auto page = PagePort::Open(loop, disk, log, place, Guarded(loop, settings.page_filter, port.logins_refused, serve));
  if (!page.ok()) return page.error();
  port.page = std::move(*page);
  return {};
}

}  // namespace

int RunSparkWorker(const SparkWorkerOptions& options) {
  auto settings = ReadSparkWorkerSettings(options);
  if (!settings.ok()) return Refuse(settings.error().message, 2);
  const auto log = MakeLog("spark-worker", options.log);
  LogStrangers(*log);
  const auto loop = env_posix::MakePosixLoop();
  loop->OnCrowded([log = log.get()](const std::string& reason) { log->Warn(reason); });
  const auto disk = env_posix::MakePosixDisk();
  if (!settings->worker.security.authenticates()) {
    const std::string open = OpenPortsWarning({settings->worker.listen}, kOpen);
    const std::string local = settings->callers.empty() ? LocalPortsWarning({settings->worker.listen}, kOpen) : "";
    if (!open.empty() || !local.empty()) log->Warn(open + local);
  }
  std::unique_ptr<sw::SparkWorker> worker;
  WorkerPort port;
  sw::WorkerPages pages(*loop, *disk, [&port] { return port.refusals(); });
  const base::Status open = OpenPage(*loop, *disk, pages, *settings, worker, *log, port);
  if (!open.ok()) return Refuse(open.error().message, 1);
  settings->worker.launch.web_url = port.page->url();
  for (const std::string& warning : settings->warnings) log->Warn(warning);
  const auto shuffle =
      StartWorkerShuffle(settings->properties, settings->build.has_module_proxies(), settings->worker, *log);
  if (!shuffle.ok()) return Refuse(shuffle.error().message, 1);
  const base::Status made = disk->MakeDirectories(settings->worker.work_directory);
  if (!made.ok()) {
    return Refuse("cannot make the work directory " + settings->worker.work_directory + ": " + made.error().message, 1);
  }
  std::string given_up;
  const auto give_up = [&](const std::string& reason) {
    given_up = reason;
    loop->Stop();
  };
  std::unique_ptr<sw::SupervisorLink> supervisor;
  const auto quit = [&] {
    supervisor->on_lost = [&loop](const std::string&) { loop->Stop(); };
    supervisor->Quit();
  };
  FindSupervisor(*loop, settings->worker, settings->callers, [&](base::Result<FoundSupervisor> found) {
    if (!found.ok()) return give_up(found.error().message);
    supervisor = std::move(found->link);
    supervisor->on_lost = [&](const std::string& why) { give_up("the worker's supervisor is gone: " + why); };
    TakePlace(found->welcome, settings->worker);
    auto started = sw::SparkWorker::Start({*loop, *loop, *supervisor, *disk, *log}, settings->build, settings->worker,
                                          [&](const std::string& reason) {
                                            given_up = reason;
                                            quit();
                                          });
    if (!started.ok()) return give_up(started.error().message);
    worker = std::move(*started);
    supervisor->SetIdentity({worker->link().id(), worker->link().local().port});
    log->Info("the Spark worker is ready", {{"worker", worker->link().id()},
                                            {"cores", std::to_string(settings->worker.cores)},
                                            {"memory_mib", std::to_string(settings->worker.memory_mib)},
                                            {"release", settings->build.release}});
  });
  for (const int signal : {SIGTERM, SIGINT}) {
    loop->OnSignal(signal, [&] { worker ? worker->EndAll(quit) : loop->Stop(); });
  }
  loop->OnSignal(SIGPWR, [&] {
    if (worker) worker->Decommission();
  });
  loop->Run();
  if (*shuffle) (*shuffle)->Stop(base::Duration::Seconds(1));
  if (!given_up.empty()) return Refuse(given_up, 1);
  log->Info("the Spark worker ends");
  return 0;
}

}  // namespace fairlead::shell
