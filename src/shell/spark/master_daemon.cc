#include "shell/spark/master_daemon.h"

#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdio>

#include "env_posix/posix_loop.h"
#include "process/spark_master/spark_master.h"
#include "shell/base/logging.h"
#include "shell/base/open_ports.h"
#include "shell/base/state_directory.h"
#include "shell/spark/spark_home.h"

namespace fairlead::shell {

namespace {

constexpr uint16_t kPort = 7077;

int Refuse(const std::string& message, int code) {
  std::fprintf(stderr, "fairlead spark-master: %s\n", message.c_str());
  return code;
}

/// An address that may be a wildcard as one that can be connected to.
env::Endpoint Connectable(env::Endpoint endpoint) {
  if (endpoint.host == "0.0.0.0" || endpoint.host == "::") endpoint.host = "127.0.0.1";
  return endpoint;
}

struct DaemonSettings {
  process::spark_master::SparkMasterSettings master;
  std::string state_directory;
  std::string warning;  // "": none
};

/// As which drivers and the resource manager know this daemon.
std::string AdvertisedHost(const env::Endpoint& listen) {
  if (listen.host != "0.0.0.0" && listen.host != "::") return listen.host;
  char name[HOST_NAME_MAX + 1] = {};
  return ::gethostname(name, HOST_NAME_MAX) == 0 ? name : "127.0.0.1";
}

base::Result<DaemonSettings> ReadSparkMasterSettings(const SparkMasterOptions& options) {
  const auto source = LoadSettings(options.settings);
  if (!source) return source.error();
  const config::HadoopConf& conf = source->conf;
  DaemonSettings daemon;
  process::spark_master::SparkMasterSettings& settings = daemon.master;
  settings.listen.host = options.host.empty() ? conf.String("fairlead.spark-master.host", "127.0.0.1") : options.host;
  settings.listen.port =
      options.port ? *options.port : static_cast<uint16_t>(conf.Int("fairlead.spark-master.port", kPort, 0, 65535));
  daemon.state_directory = options.state;
  if (daemon.state_directory.empty()) {
    daemon.state_directory = conf.String("fairlead.spark-master.state-dir",
                                         conf.String("hadoop.tmp.dir", "/tmp/hadoop") + "/fairlead-spark-master-" +
                                             std::to_string(settings.listen.port));
  }
  process::spark_master::ApplicationSettings& application = settings.application;
  application.host = AdvertisedHost(settings.listen);
  application.queue = options.queue.empty() ? conf.String("fairlead.spark-master.queue", "default") : options.queue;
  application.policy.default_cores = static_cast<int32_t>(
      conf.Int("fairlead.spark-master.default-cores", application.policy.default_cores, 1, INT32_MAX));
  application.policy.failures_max = static_cast<int32_t>(
      conf.Int("fairlead.spark-master.executor-failures-max", application.policy.failures_max, -1, INT32_MAX));
  const auto manager = env::ParseEndpoint(conf.String("yarn.resourcemanager.address"), 8032);
  if (!manager) return base::Error{"yarn.resourcemanager.address: " + manager.error().message};
  const auto scheduler = env::ParseEndpoint(conf.String("yarn.resourcemanager.scheduler.address"), 8030);
  if (!scheduler) return base::Error{"yarn.resourcemanager.scheduler.address: " + scheduler.error().message};
  application.resource_manager = Connectable(*manager);
  application.scheduler = Connectable(*scheduler);
  const std::vector<std::string> homes =
      options.spark_homes.empty() ? conf.List("fairlead.spark-master.spark-homes") : options.spark_homes;
  if (!conf.errors().empty()) return base::Error{conf.ErrorText()};
  if (homes.empty()) {
    return base::Error{
        "it knows no Spark; say --spark-home DIR for every build that drivers use "
        "(or set fairlead.spark-master.spark-homes)"};
  }
  for (const std::string& home : homes) {
    auto build = ReadSparkHome(home);
    if (!build) return build.error();
    settings.builds.push_back(std::move(*build));
  }
  daemon.warning = OpenPortsWarning(
      {settings.listen}, "whoever reaches it runs programs on the cluster as the user that this daemon runs as");
  return daemon;
}

}  // namespace

int RunSparkMaster(const SparkMasterOptions& options) {
  auto settings = ReadSparkMasterSettings(options);
  if (!settings.ok()) return Refuse(settings.error().message, 2);
  const auto log = MakeLog("spark-master", options.log_file, options.log_level);
  for (const auto& build : settings->master.builds)
    log->Info("drivers of this Spark are taken", {{"release", build.release}, {"home", build.home}});
  if (!settings->warning.empty()) log->Warn(settings->warning);
  const auto loop = env_posix::MakePosixLoop();
  loop->OnCrowded([log = log.get()](const std::string& reason) { log->Warn(reason); });
  const std::string manager = settings->master.application.resource_manager.ToString();
  const std::string& state = settings->state_directory;
  if (const base::Status made = MakeStateDirectory(state, *log); !made.ok()) return Refuse(made.error().message, 1);
  auto store = env_posix::OpenSqliteStore(state + "/fairlead-spark-master.db", *loop, env_posix::Durability::kMachine);
  if (!store.ok()) return Refuse(store.error().message, 1);
  const auto master =
      process::spark_master::SparkMaster::Start(*loop, *loop, store->get(), *log, std::move(settings->master));
  if (!master.ok()) return Refuse(master.error().message, 1);
  for (const int signal : {SIGTERM, SIGINT}) loop->OnSignal(signal, [&loop] { loop->Stop(); });
  log->Info("the Spark master is ready",
            {{"master", "spark://" + (*master)->local().ToString()}, {"resource_manager", manager}});
  loop->Run();
  log->Info("the Spark master ends");
  return 0;
}

}  // namespace fairlead::shell
