#include "shell/spark/worker_daemon.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "env_posix/posix_loop.h"
#include "env_posix/use_meter.h"
#include "process/http/server.h"
#include "process/spark_worker/spark_worker.h"
#include "process/spark_worker/worker_page.h"
#include "shell/base/known_hosts.h"
#include "shell/base/logging.h"
#include "shell/base/open_ports.h"
#include "shell/shuffle/settings.h"
#include "shell/spark/page_port.h"
#include "shell/spark/run_surroundings.h"
#include "shell/spark/spark_filters.h"
#include "shell/spark/spark_home.h"
#include "shell/spark/spark_properties.h"
#include "shell/spark/spark_security.h"
#include "shell/spark/standalone_settings.h"
#include "shell/spark/worker_resources.h"
#include "shell/spark/worker_shuffle.h"
#include "shell/spark/worker_supervisor.h"

namespace fairlead::shell {

namespace {

namespace fs = std::filesystem;
namespace sw = process::spark_worker;

constexpr int64_t kMib = 1 << 20;
constexpr int64_t kWebPort = 8081;
constexpr int64_t kPortMax = 65535;
constexpr const char* kOpen =
    "whoever reaches it can pass as its master; set spark.authenticate=true and spark.authenticate.secret";

int Refuse(const std::string& message, int code) {
  std::fprintf(stderr, "fairlead spark-worker: %s\n", message.c_str());
  return code;
}

std::vector<std::string> Split(const std::string& text, const char* separators) {
  std::vector<std::string> parts;
  boost::algorithm::split(parts, text, boost::algorithm::is_any_of(separators));
  std::erase(parts, "");
  return parts;
}

base::Result<std::vector<endpoints::spark::RpcAddress>> ParseMasters(const std::string& text) {
  constexpr std::string_view kScheme = "spark://";
  std::vector<endpoints::spark::RpcAddress> masters;
  for (const std::string& part : Split(text.starts_with(kScheme) ? text.substr(kScheme.size()) : "", ",")) {
    const auto master = env::ParseEndpoint(part);
    if (!master) return base::Error{part + ": " + master.error().message};
    masters.push_back({master->host, master->port});
  }
  if (masters.empty()) return base::Error{"say where the master is: spark://HOST:PORT[,HOST:PORT]"};
  return masters;
}

/// The variables of this process.
std::map<std::string, std::string> Environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  return variables;
}

/// As org.apache.spark.launcher.AbstractCommandBuilder: of JAVA_HOME, or the first on PATH.
base::Result<std::string> FindJava() {
  if (const std::string home = Variable("JAVA_HOME"); !home.empty()) return home + "/bin/java";
  for (const std::string& directory : Split(Variable("PATH"), ":")) {
    if (::access((directory + "/java").c_str(), X_OK) == 0) return directory + "/java";
  }
  return base::Error{"there is no java: set JAVA_HOME"};
}

/// Spark's own class path (AbstractCommandBuilder.buildClassPath).
std::vector<std::string> ClassPath(const std::string& home) {
  const std::string conf = Variable("SPARK_CONF_DIR");
  std::vector<std::string> entries = {(conf.empty() ? home + "/conf" : conf) + "/"};
  std::error_code error;
  for (fs::directory_iterator at(home + "/jars", error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with("slf4j-api-")) entries.push_back(at->path().string());
  }
  entries.push_back(home + "/jars/*");
  for (const char* variable : {"HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH"}) {
    if (const std::string value = Variable(variable); !value.empty()) entries.push_back(value);
  }
  return entries;
}

/// What the machine has but a GiB for the rest, as Spark's worker.
int64_t DefaultMemoryMib() {
  struct sysinfo info = {};
  ::sysinfo(&info);
  constexpr int64_t kRest = 1024;
  return std::max(static_cast<int64_t>(info.totalram) * info.mem_unit / kMib - kRest, kRest);
}

/// Keys of Spark that change nothing here.
constexpr const char* kIgnored[] = {
    "spark.worker.decommission.signal",
    "spark.worker.driverTerminateTimeout",
    "spark.worker.executorStateSync.maxAttempts",
    "spark.worker.preferConfiguredMasterAddress",
    "spark.worker.ui.compressedLogFileLengthCacheSize",
};

struct WorkerDaemonSettings {
  endpoints::spark::SparkBuild build;
  sw::SparkWorkerSettings worker;
  env::Endpoint web;
  int port_retries = 0;                                   // spark.port.maxRetries
  std::optional<process::http::TokenFilter> page_filter;  // spark.ui.filters
  std::optional<PageTls> tls;                             // spark.ssl.standalone.*
  SparkProperties properties;
  std::vector<std::string> callers;  // fairlead.callers.uids, and this user, as who executors run
  std::vector<std::string> warnings;
};

base::Status ReadSize(const SparkWorkerOptions& options, sw::SparkWorkerSettings& worker) {
  const SparkProperties said = {
      {"--cores", options.cores ? std::to_string(*options.cores) : Variable("SPARK_WORKER_CORES")},
      {"--memory", options.memory.empty() ? Variable("SPARK_WORKER_MEMORY") : options.memory}};
  worker.cores = static_cast<int32_t>(std::max(std::thread::hardware_concurrency(), 1u));
  SparkKeys keys(said);
  constexpr int64_t kCoresMax = 1 << 20;
  if (!said.at("--cores").empty()) worker.cores = static_cast<int32_t>(keys.Number("--cores", 1, 1, kCoresMax));
  if (!keys.error().empty()) return base::Error{keys.error()};
  worker.memory_mib = static_cast<int32_t>(std::min<int64_t>(DefaultMemoryMib(), INT32_MAX));
  if (said.at("--memory").empty()) return {};
  const auto bytes = ParseSparkBytes(said.at("--memory"), kMib);
  if (!bytes.ok() || *bytes < kMib || *bytes / kMib > INT32_MAX) {
    return base::Error{"--memory " + said.at("--memory") + ": write it as 4g or 512m"};
  }
  worker.memory_mib = static_cast<int32_t>(*bytes / kMib);
  return {};
}

/// spark.executor.logs.rolling.*; what Spark warns of and passes over, so is it here (FileAppender).
sw::LogRolling ReadRolling(SparkKeys& keys, std::vector<std::string>& warnings) {
  constexpr const char* kStrategy = "spark.executor.logs.rolling.strategy";
  constexpr const char* kInterval = "spark.executor.logs.rolling.time.interval";
  constexpr const char* kSize = "spark.executor.logs.rolling.maxSize";
  constexpr int64_t kIntervalMin = 60'000, kSizeMin = 81'920;
  sw::LogRolling rolling;
  const std::string strategy = keys.Text(kStrategy, "");
  if (strategy == "time") {
    const std::string interval = keys.Text(kInterval, "daily");
    const std::map<std::string, int64_t> names = {{"daily", 86'400'000}, {"hourly", 3'600'000}, {"minutely", 60'000}};
    const auto found = names.find(interval);
    rolling.named = found != names.end();
    rolling.interval_ms = rolling.named ? found->second : 1000 * std::strtoll(interval.c_str(), nullptr, 10);
    if (rolling.interval_ms <= 0) {
      warnings.push_back(std::string(kInterval) + " " + interval + " is no interval: logs are not rolled");
      rolling.interval_ms = 0;
    } else if (rolling.interval_ms < kIntervalMin) {
      warnings.push_back(std::string(kInterval) + ": less than a minute is not allowed, and a minute it is");
      rolling.interval_ms = kIntervalMin;
    }
  } else if (strategy == "size") {
    const auto bytes = ParseSparkBytes(keys.Text(kSize, "1048576"), 1);
    if (!bytes.ok()) warnings.push_back(std::string(kSize) + " is no size: logs are not rolled");
    if (bytes.ok() && *bytes < kSizeMin) warnings.push_back(std::string(kSize) + ": at least 81920 bytes are allowed");
    if (bytes.ok()) rolling.bytes_max = std::max(*bytes, kSizeMin);
  } else if (!strategy.empty()) {
    warnings.push_back(std::string(kStrategy) + " " + strategy + " is neither time nor size: logs are not rolled");
  }
  rolling.retained_max =
      static_cast<int32_t>(keys.Number("spark.executor.logs.rolling.maxRetainedFiles", -1, -1, INT32_MAX));
  rolling.compress = keys.Flag("spark.executor.logs.rolling.enableCompression", false);
  return rolling;
}

/// How often it tells of itself, and how long it looks for a master.
void ReadTimes(SparkKeys& keys, sw::SparkWorkerSettings& worker) {
  constexpr int64_t kBeatsInTimeout = 4;
  worker.heartbeat = base::Duration::Millis(keys.Seconds("spark.worker.timeout", 60) * 1000 / kBeatsInTimeout);
  const int64_t early = keys.Number("spark.worker.initialRegistrationRetries", 6, 1, INT32_MAX);
  const int64_t all = keys.Number("spark.worker.maxRegistrationRetries", 16, 1, INT32_MAX);
  constexpr int64_t kEarlySeconds = 10, kLateSeconds = 60;
  worker.patience =
      base::Duration::Seconds(std::min(early, all) * kEarlySeconds + std::max<int64_t>(all - early, 0) * kLateSeconds);
}

/// What builds differ in.
void ReadCleaningAndIds(SparkKeys& keys, WorkerDaemonSettings& daemon) {
  sw::SparkWorkerSettings& worker = daemon.worker;
  if (keys.Flag("spark.worker.cleanup.enabled", daemon.build.has_module_proxies())) {
    worker.cleaning.emplace();
    worker.cleaning->interval = base::Duration::Seconds(
        std::max<int64_t>(keys.Seconds("spark.worker.cleanup.interval", worker.cleaning->interval.millis() / 1000), 1));
    worker.cleaning->kept =
        base::Duration::Seconds(keys.Seconds("spark.worker.cleanup.appDataTtl", worker.cleaning->kept.millis() / 1000));
  }
  constexpr const char* kIds = "spark.worker.idPattern";
  if (daemon.build.has_module_proxies() && keys.Has(kIds)) {
    auto ids = endpoints::spark::WorkerIds(keys.Text(kIds, ""));
    if (!ids) keys.Refuse(kIds, ids.error().message);
    if (ids.ok()) worker.ids = std::move(*ids);
  }
}

/// spark.fairlead.cgroups, .cgroups.hierarchy.
void ReadControlGroups(SparkKeys& keys, WorkerDaemonSettings& daemon) {
  constexpr const char* kKey = "spark.fairlead.cgroups";
  if (!keys.Flag(kKey, false)) return;
  const std::string hierarchy = keys.Text("spark.fairlead.cgroups.hierarchy", "/fairlead-spark");
  const std::string why = WhyNoControlGroups(hierarchy);
  if (why.empty()) daemon.worker.limits_below = hierarchy;
  if (!why.empty()) daemon.warnings.push_back(std::string(kKey) + ": executors are held to nothing: " + why);
}

/// spark.fairlead.machine.*: what of this machine is the worker's, as fairlead.nm.machine.* of a node agent.
std::function<endpoints::spark::WorkerUse(base::Instant)> ReadMachine(SparkKeys& keys) {
  const auto list = [&](const char* name) {
    return Split(keys.Text(std::string("spark.fairlead.machine.") + name, ""), ",");
  };
  const env_posix::MachinePart part{list("control-groups"), list("disks"), list("interfaces")};
  const env_posix::MachineLimits size = env_posix::SizeOf(part);
  return [part, size, meter = env_posix::UseMeter()](base::Instant now) mutable {
    return endpoints::spark::WorkerUse{meter.Measure(now, env_posix::CountMachine(part)), size.cores, size.mib};
  };
}

base::Result<WorkerDaemonSettings> ReadSparkWorkerSettings(const SparkWorkerOptions& options) {
  WorkerDaemonSettings daemon;
  sw::SparkWorkerSettings& worker = daemon.worker;
  auto masters = ParseMasters(options.masters);
  if (!masters) return masters.error();
  worker.masters = std::move(*masters);
  const std::string home = options.spark_home.empty() ? Variable("SPARK_HOME") : options.spark_home;
  if (home.empty()) return base::Error{"it knows no Spark; say --spark-home DIR, or set SPARK_HOME"};
  auto build = ReadSparkHome(home);
  if (!build) return build.error();
  daemon.build = std::move(*build);
  const auto properties =
      ReadSparkProperties(options.properties_file, home, {"SPARK_DAEMON_JAVA_OPTS", "SPARK_WORKER_OPTS"});
  if (!properties) return properties.error();
  SparkKeys keys(*properties);
  constexpr const char* kTls = "spark.ssl.rpc.enabled";
  if (keys.Flag(kTls, false)) keys.Refuse(kTls, "true is not supported by this worker yet; set it to false");
  worker.security = ReadSparkSecurity(keys);
  const auto port = PortOf(options.port, "SPARK_WORKER_PORT", 0);
  if (!port) return port.error();
  const auto web_port = PortOf(options.web_port, "SPARK_WORKER_WEBUI_PORT", kWebPort);
  if (!web_port) return web_port.error();
  const std::string host = HostOf(options.host, "SPARK_WORKER_HOST");
  worker.listen = {host, *port};
  worker.host = AdvertisedHost(host);
  daemon.web = {host, static_cast<uint16_t>(keys.Number("spark.worker.ui.port", *web_port, 0, kPortMax))};
  daemon.port_retries = ReadPortRetries(keys);
  if (const base::Status size = ReadSize(options, worker); !size.ok()) return size.error();
  worker.work_directory = options.work_directory.empty() ? Variable("SPARK_WORKER_DIR") : options.work_directory;
  if (worker.work_directory.empty()) worker.work_directory = home + "/work";
  const std::string local = Variable("SPARK_LOCAL_DIRS");
  worker.local_directories = Split(local.empty() ? keys.Text("spark.local.dir", "/tmp") : local, ",");
  ReadTimes(keys, worker);
  ReadCleaningAndIds(keys, daemon);
  worker.reverse_proxy = ReadReverseProxy(keys);
  daemon.page_filter = ReadSparkFilter(keys, "spark.ui.filters");
  daemon.tls = ReadPageTls(keys, config::HadoopConf(), daemon.warnings);
  worker.retained_executors = static_cast<size_t>(keys.Number("spark.worker.ui.retainedExecutors", 1000, 0, INT32_MAX));
  worker.retained_drivers = static_cast<size_t>(keys.Number("spark.worker.ui.retainedDrivers", 1000, 0, INT32_MAX));
  for (const char* key : kIgnored) {
    if (keys.Has(key)) daemon.warnings.push_back(std::string(key) + " changes nothing here");
  }
  worker.rolling = ReadRolling(keys, daemon.warnings);
  ReadControlGroups(keys, daemon);
  worker.measure = ReadMachine(keys);
  auto resources = ReadWorkerResources(*properties);
  if (!resources) return resources.error();
  worker.resources = std::move(*resources);
  const auto java = FindJava();
  if (!java) return java.error();
  worker.launch = {home, *java, ClassPath(home), Environment(), "", "", "", ""};
  if (worker.security.authenticates()) worker.launch.environment["_SPARK_AUTH_SECRET"] = worker.security.secret;
  if (!keys.error().empty()) return base::Error{keys.error()};
  daemon.properties = *properties;
  daemon.callers = keys.Callers();
  if (!daemon.callers.empty()) daemon.callers.push_back(std::to_string(::geteuid()));
  if (const base::Status kept = KeepStrangersOut(daemon.callers); !kept.ok()) return kept.error();
  return daemon;
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
    supervisor->SetIdentity({worker->id(), worker->local().port});
    log->Info("the Spark worker is ready", {{"worker", worker->id()},
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
