#include "shell/spark/master_daemon.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "env_posix/posix_loop.h"
#include "env_zookeeper/elector.h"
#include "process/http/server.h"
#include "process/spark_master/master_json.h"
#include "process/spark_master/master_orders.h"
#include "process/spark_master/rest_submission.h"
#include "process/spark_master/spark_directory.h"
#include "process/spark_master/spark_master.h"
#include "process/spark_master/standalone_master.h"
#include "process/spark_master/yarn_source.h"
#include "shell/base/logging.h"
#include "shell/base/open_ports.h"
#include "shell/base/state_directory.h"
#include "shell/spark/door_settings.h"
#include "shell/spark/next_port.h"
#include "shell/spark/page_port.h"
#include "shell/spark/spark_filters.h"
#include "shell/spark/spark_home.h"
#include "shell/spark/standalone_settings.h"
#include "shell/tls/tls.h"
#include "shell/tls/trusting_net.h"

namespace fairlead::shell {

namespace {

int Refuse(const std::string& message, int code) {
  std::fprintf(stderr, "fairlead spark-master: %s\n", message.c_str());
  return code;
}

constexpr const char* kOpen = "whoever reaches it runs programs on the cluster as the user that this daemon runs as";
constexpr const char* kOpenHere =
    "whoever connects runs programs on the cluster; set spark.authenticate=true and spark.authenticate.secret";

/// With the builds of Spark that are named.
base::Result<DoorSettings> ReadSparkMasterSettings(const SparkMasterOptions& options) {
  const auto source = LoadSettings(options.settings);
  if (!source) return source.error();
  if (const base::Status kept = KeepStrangersOut(source->conf); !kept.ok()) return kept.error();
  auto settings = ReadDoorSettings(options, *source);
  if (!settings) return settings.error();
  if (settings->spark_homes.empty()) {
    return base::Error{
        "it knows no Spark; say --spark-home DIR for every build that drivers use "
        "(or set fairlead.spark-master.spark-homes)"};
  }
  for (const std::string& home : settings->spark_homes) {
    auto build = ReadSparkHome(home);
    if (!build) return build.error();
    settings->master.builds.push_back(std::move(*build));
  }
  return settings;
}

void WarnOfOpenPort(const process::spark_master::SparkMasterSettings& settings, bool knows_callers, env::Log& log) {
  if (settings.security.authenticates()) return;
  const std::string open = OpenPortsWarning({settings.listen}, kOpen);
  const std::string local = knows_callers ? "" : LocalPortsWarning({settings.listen}, kOpenHere);
  if (!open.empty() || !local.empty()) log.Warn(open + local);
}

void RunUntilTold(env_posix::PosixLoop& loop, env::Log& log, const env::Endpoint& at, const env::Log::Fields& fields) {
  loop.OnCrowded([&log](const std::string& reason) { log.Warn(reason); });
  for (const int signal : {SIGTERM, SIGINT}) loop.OnSignal(signal, [&loop] { loop.Stop(); });
  env::Log::Fields said = {{"master", "spark://" + at.ToString()}};
  said.insert(said.end(), fields.begin(), fields.end());
  log.Info("the Spark master is ready", said);
  loop.Run();
  log.Info("the Spark master ends");
}

int RunDoor(const SparkMasterOptions& options) {
  auto settings = ReadSparkMasterSettings(options);
  if (!settings.ok()) return Refuse(settings.error().message, 2);
  const auto log = MakeLog("spark-master", options.log);
  LogStrangers(*log);
  for (const std::string& warning : settings->warnings) log->Warn(warning);
  for (const auto& build : settings->master.builds)
    log->Info("drivers of this Spark are taken", {{"release", build.release}, {"home", build.home}});
  const auto loop = env_posix::MakePosixLoop();
  std::string managers;
  for (const env::Endpoint& manager : settings->yarn.resource_managers) managers += " " + manager.ToString();
  const std::string& state = settings->state_directory;
  if (const base::Status made = MakeStateDirectory(state, *log); !made.ok()) return Refuse(made.error().message, 1);
  auto store = env_posix::OpenSqliteStore(state + "/fairlead-spark-master.db", *loop, env_posix::Durability::kMachine,
                                          "applications that have not ended, with their tokens and executors");
  if (!store.ok()) return Refuse(store.error().message, 1);
  process::spark_master::YarnSource source(*loop, *loop, store->get(), *log, std::move(settings->yarn));
  WarnOfOpenPort(settings->master, settings->knows_callers, *log);
  const auto master =
      process::spark_master::SparkMaster::Start(*loop, *loop, *log, std::move(settings->master), source);
  if (!master.ok()) return Refuse(master.error().message, 1);
  RunUntilTold(*loop, *log, (*master)->local(), {{"resource_manager", managers.substr(1)}});
  return 0;
}

/// Where a Standalone Master keeps what shall outlive it; null without recovery.
base::Result<std::unique_ptr<env::Store>> OpenRecovery(const StandaloneMasterSettings& settings, env::Loop& loop,
                                                       env::Log& log) {
  if (settings.recovery == RecoveryMode::kNone) return std::unique_ptr<env::Store>();
  const std::string directory = settings.recovery_directory + "/fairlead";
  if (const base::Status made = MakeStateDirectory(directory, log); !made.ok()) return made.error();
  if (settings.recovery == RecoveryMode::kRocksDb) {
    log.Warn("what Spark's own master keeps in RocksDB is not read; this one keeps its state beside it",
             {{"directory", directory}});
  }
  return env_posix::OpenSqliteStore(directory + "/spark-master.db", loop, env_posix::Durability::kMachine,
                                    "workers, applications and drivers that have not ended");
}

/// What Spark's own master left there, before this one was ever started there.
base::Result<process::spark_master::StandaloneState> ReadImported(const StandaloneMasterSettings& settings,
                                                                  env::Store* store,
                                                                  const endpoints::spark::SparkBuild& build,
                                                                  env::Log& log) {
  if (settings.recovery != RecoveryMode::kFilesystem) return process::spark_master::StandaloneState();
  const auto used = store->Load(process::spark_master::kStandaloneMaster);
  if (!used.ok()) return used.error();
  if (!used->empty()) return process::spark_master::StandaloneState();
  const auto disk = env_posix::MakePosixDisk();
  auto found = process::spark_master::ReadSparkDirectory(*disk, settings.recovery_directory, build);
  if (!found.ok()) return base::Error{settings.recovery_directory + ": " + found.error().message};
  for (const std::string& sentence : found->unread) log.Warn(sentence, {{"directory", settings.recovery_directory}});
  return std::move(found->state);
}

/// Leads at once, or joins those who elect a leader.
base::Status Begin(process::spark_master::StandaloneMaster& master, const StandaloneMasterSettings& settings,
                   env::Loop& loop, env::Log& log) {
  if (settings.recovery == RecoveryMode::kZooKeeper) {
    return master.Join(env_zookeeper::MakeElector(loop, settings.elector));
  }
  auto store = OpenRecovery(settings, loop, log);
  if (!store.ok()) return store.error();
  auto imported = ReadImported(settings, store->get(), settings.master.builds.front(), log);
  if (!imported.ok()) return imported.error();
  return master.LeadAlone(std::move(*store), std::move(*imported));
}

namespace http = process::http;
namespace sm = process::spark_master;

std::optional<std::string> OfEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

/// A Standalone Master's web ports. They are open before the master is made, which tells others of them, and serve
/// nobody before the loop runs.
struct WebPorts {
  std::unique_ptr<PagePort> page;
  std::unique_ptr<http::Server> rest;  // null: not wanted
  std::function<void(const http::Request&, const http::Server::Reply&)> on_page, on_rest;
  std::string rest_url;
  uint64_t logins_refused = 0;

  http::WebRefusals refusals() const { return {page->refused() + (rest ? rest->refused() : 0), logins_refused}; }
};

base::Status OpenWebPorts(const StandaloneMasterSettings& settings, env_posix::PosixLoop& loop, env::Disk& disk,
                          env::Log& log, WebPorts& ports) {
  const PagePlace place{settings.web,          settings.master.host,
                        settings.port_retries, "--webui-port or spark.master.ui.port",
                        settings.hosts,        settings.tls};
  auto page =
      PagePort::Open(loop, disk, log, place,
                     Guarded(loop, settings.page_filter, ports.logins_refused,
                             [&ports](const auto& request, const auto& reply) { ports.on_page(request, reply); }));
  if (!page.ok()) return page.error();
  ports.page = std::move(*page);
  if (!settings.rest) return {};
  // Spark's own client speaks HTTP alone there (org.apache.spark.deploy.rest.RestSubmissionClient).
  env::Net& net = settings.rest_https ? *ports.page->tls_net() : loop;
  auto rest = ListenOnNextFree(log, *settings.rest, settings.port_retries, "drivers by REST",
                               "--rest-port or spark.master.rest.port", [&](const env::Endpoint& at) {
                                 return http::Server::Listen(loop, net, at, settings.hosts,
                                                             Guarded(loop, settings.rest_filter, ports.logins_refused,
                                                                     [&ports](const auto& request, const auto& reply) {
                                                                       ports.on_rest(request, reply);
                                                                     }),
                                                             settings.rest_limits);
                               });
  if (!rest.ok()) return rest.error();
  ports.rest = std::move(*rest);
  const uint16_t port = ports.rest->local().port;
  ports.rest_url = (settings.rest_https ? "https://" : "spark://") + AdvertisedHost(settings.rest->host) + ":" +
                   std::to_string(port);
  return {};
}

int RunStandalone(const SparkMasterOptions& options) {
  auto settings = ReadStandaloneMasterSettings(options);
  if (!settings.ok()) return Refuse(settings.error().message, 2);
  const auto log = MakeLog("spark-master", options.log);
  LogStrangers(*log);
  for (const std::string& warning : settings->warnings) log->Warn(warning);
  const auto loop = env_posix::MakePosixLoop();
  const endpoints::spark::SparkBuild build = settings->master.builds.front();
  int status = 0;
  const auto on_over = [&](const std::string& why) {
    log->Error("this master ends", {{"why", why}});
    status = 1;
    loop->Stop();
  };
  WarnOfOpenPort(settings->master, settings->knows_callers, *log);
  const auto disk = env_posix::MakePosixDisk();
  WebPorts ports;
  if (const base::Status open = OpenWebPorts(*settings, *loop, *disk, *log, ports); !open.ok()) {
    return Refuse(open.error().message, 1);
  }
  settings->cluster.web_url = settings->proxy.front.empty() ? ports.page->url() : settings->proxy.front + "/";
  sm::StandaloneMaster master(*loop, *loop, *log, {settings->master, settings->cluster, on_over});
  if (const base::Status begun = Begin(master, *settings, *loop, *log); !begun.ok()) {
    return Refuse(begun.error().message, 1);
  }
  std::optional<TrustingNet> trusting;
  if (settings->proxy.on) trusting.emplace(*loop, *loop, *disk, *log, settings->proxy.trust);
  const http::PageNets nets{*loop, trusting ? &*trusting : nullptr};
  const sm::MasterProxy proxy(*loop, nets, master, settings->proxy);
  sm::MasterPages pages(
      *loop, master, settings->proxy,
      {build.version(), ports.rest_url, build.has_module_proxies(), settings->profile, settings->wishes},
      [&ports] { return ports.refusals(); });
  ports.on_page = [&](const http::Request& request, const http::Server::Reply& reply) {
    if (proxy.Takes(request)) return proxy.Handle(request, reply);
    if (request.method == "POST") return reply(sm::Order(master.cluster(), settings->orders, request));
    pages.Handle(request, reply);
  };
  const uint16_t rest_port = ports.rest ? ports.rest->local().port : uint16_t{0};
  sm::RestSubmission submission(master, build, rest_port, OfEnvironment);
  ports.on_rest = [&](const http::Request& request, const http::Server::Reply& reply) {
    submission.Handle(request, reply);
  };
  RunUntilTold(*loop, *log, master.local(),
               {{"release", build.release},
                {"page", ports.page->url()},
                {"rest", ports.rest_url},
                {"profile", settings->profile},
                {"wishes", settings->wishes}});
  ports = {};
  return status;
}

}  // namespace

int RunSparkMaster(const SparkMasterOptions& options) {
  return options.settings.hadoop_conf.empty() ? RunStandalone(options) : RunDoor(options);
}

}  // namespace fairlead::shell
