#include "shell/spark/worker_settings.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

#include "base/text.h"
#include "env_posix/use_meter.h"
#include "shell/base/open_ports.h"
#include "shell/spark/run_surroundings.h"
#include "shell/spark/spark_filters.h"
#include "shell/spark/spark_home.h"
#include "shell/spark/spark_security.h"
#include "shell/spark/standalone_keys.h"
#include "shell/spark/standalone_settings.h"
#include "shell/spark/worker_resources.h"

namespace fairlead::shell {

namespace {

namespace fs = std::filesystem;
namespace sw = process::spark_worker;

constexpr int64_t kMib = 1 << 20;
constexpr int64_t kWebPort = 8081;
constexpr base::Duration kBareTime = base::Duration::Seconds(1);  // what a time without a unit counts

base::Result<std::vector<endpoints::spark::RpcAddress>> ParseMasters(const std::string& text) {
  constexpr std::string_view kScheme = "spark://";
  std::vector<endpoints::spark::RpcAddress> masters;
  for (const std::string& part : base::SplitTrimmed(text.starts_with(kScheme) ? text.substr(kScheme.size()) : "")) {
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
  for (const std::string& directory : base::SplitTrimmed(Variable("PATH"), ':')) {
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

base::Status ReadSize(const SparkWorkerOptions& options, sw::SparkWorkerSettings& worker) {
  const SparkProperties said = {
      {"--cores", options.cores ? std::to_string(*options.cores) : Variable("SPARK_WORKER_CORES")},
      {"--memory", options.memory.empty() ? Variable("SPARK_WORKER_MEMORY") : options.memory}};
  worker.cores = static_cast<int32_t>(std::max(std::thread::hardware_concurrency(), 1u));
  SparkKeys keys(said);
  constexpr int64_t kCoresMax = 1 << 20;
  if (!said.at("--cores").empty()) worker.cores = static_cast<int32_t>(keys.Int("--cores", 1, 1, kCoresMax));
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
void ReadRolling(SparkKeys& keys, std::vector<std::string>& warnings, sw::LogRolling& rolling) {
  constexpr const char* kStrategy = "spark.executor.logs.rolling.strategy";
  constexpr const char* kInterval = "spark.executor.logs.rolling.time.interval";
  constexpr const char* kSize = "spark.executor.logs.rolling.maxSize";
  constexpr int64_t kIntervalMin = 60'000, kSizeMin = 81'920;
  const std::string strategy = keys.String(kStrategy, "");
  if (strategy == "time") {
    const std::string interval = keys.String(kInterval, "daily");
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
    const auto bytes = ParseSparkBytes(keys.String(kSize, "1048576"), 1);
    if (!bytes.ok()) warnings.push_back(std::string(kSize) + " is no size: logs are not rolled");
    if (bytes.ok() && *bytes < kSizeMin) warnings.push_back(std::string(kSize) + ": at least 81920 bytes are allowed");
    if (bytes.ok()) rolling.bytes_max = std::max(*bytes, kSizeMin);
  } else if (!strategy.empty()) {
    warnings.push_back(std::string(kStrategy) + " " + strategy + " is neither time nor size: logs are not rolled");
  }
}

/// How often it tells of itself, and how long it looks for a master.
void ReadTimes(SparkKeys& keys, sw::SparkWorkerSettings& worker) {
  constexpr int64_t kBeatsInTimeout = 4;
  const base::Duration timeout = keys.Time("spark.worker.timeout", worker.heartbeat * kBeatsInTimeout, kBareTime);
  worker.heartbeat = base::Duration{timeout.ns / kBeatsInTimeout};
  const int64_t early = keys.Int("spark.worker.initialRegistrationRetries", 6, 1, INT32_MAX);
  const int64_t all = keys.Int("spark.worker.maxRegistrationRetries", 16, 1, INT32_MAX);
  constexpr int64_t kEarlySeconds = 10, kLateSeconds = 60;
  worker.patience =
      base::Duration::Seconds(std::min(early, all) * kEarlySeconds + std::max<int64_t>(all - early, 0) * kLateSeconds);
}

/// What builds differ in.
void ReadCleaningAndIds(SparkKeys& keys, WorkerDaemonSettings& daemon) {
  sw::SparkWorkerSettings& worker = daemon.worker;
  if (keys.Bool("spark.worker.cleanup.enabled", daemon.build.has_module_proxies())) {
    worker.cleaning.emplace();
    worker.cleaning->interval =
        std::max(keys.Time("spark.worker.cleanup.interval", worker.cleaning->interval, kBareTime), kBareTime);
    worker.cleaning->kept = keys.Time("spark.worker.cleanup.appDataTtl", worker.cleaning->kept, kBareTime);
  }
  constexpr const char* kIds = "spark.worker.idPattern";
  if (daemon.build.has_module_proxies() && keys.Has(kIds)) {
    auto ids = endpoints::spark::WorkerIds(keys.String(kIds, ""));
    if (!ids) keys.Refuse(kIds, ids.error().message);
    if (ids.ok()) worker.ids = std::move(*ids);
  }
}

/// spark.fairlead.cgroups, .cgroups.hierarchy.
void ReadControlGroups(SparkKeys& keys, WorkerDaemonSettings& daemon) {
  constexpr const char* kKey = "spark.fairlead.cgroups";
  if (!keys.Bool(kKey, false)) return;
  const std::string hierarchy = keys.String("spark.fairlead.cgroups.hierarchy", "/fairlead-spark");
  const std::string why = WhyNoControlGroups(hierarchy);
  if (why.empty()) daemon.worker.limits_below = hierarchy;
  if (!why.empty()) daemon.warnings.push_back(std::string(kKey) + ": executors are held to nothing: " + why);
}

/// spark.fairlead.machine.*: what of this machine is the worker's, as fairlead.nm.machine.* of a node agent.
std::function<endpoints::spark::WorkerUse(base::Instant)> ReadMachine(SparkKeys& keys) {
  const auto list = [&](const char* name) { return keys.List(std::string("spark.fairlead.machine.") + name); };
  const env_posix::MachinePart part{list("control-groups"), list("disks"), list("interfaces")};
  const env_posix::MachineLimits size = env_posix::SizeOf(part);
  return [part, size, meter = env_posix::UseMeter()](base::Instant now) mutable {
    return endpoints::spark::WorkerUse{meter.Measure(now, env_posix::CountMachine(part)), size.cores, size.mib};
  };
}

}  // namespace

base::Result<WorkerDaemonSettings> ReadSparkWorkerSettings(const SparkWorkerOptions& options) {
  const std::string home = options.spark_home.empty() ? Variable("SPARK_HOME") : options.spark_home;
  if (home.empty()) return base::Error{"it knows no Spark; say --spark-home DIR, or set SPARK_HOME"};
  auto build = ReadSparkHome(home);
  if (!build) return build.error();
  const auto properties =
      ReadSparkProperties(options.properties_file, home, {"SPARK_DAEMON_JAVA_OPTS", "SPARK_WORKER_OPTS"});
  if (!properties) return properties.error();
  SparkKeys keys(*properties);
  return ReadSparkWorkerSettings(options, std::move(*build), *properties, keys);
}

base::Result<WorkerDaemonSettings> ReadSparkWorkerSettings(const SparkWorkerOptions& options,
                                                           endpoints::spark::SparkBuild build,
                                                           const SparkProperties& properties, SparkKeys& keys) {
  WorkerDaemonSettings daemon;
  sw::SparkWorkerSettings& worker = daemon.worker;
  auto masters = ParseMasters(options.masters);
  if (!masters) return masters.error();
  worker.masters = std::move(*masters);
  daemon.build = std::move(build);
  const std::string& home = daemon.build.home;
  constexpr const char* kTls = "spark.ssl.rpc.enabled";
  if (keys.Bool(kTls, false)) keys.Refuse(kTls, "true is not supported by this worker yet; set it to false");
  worker.security = ReadSparkSecurity(keys);
  const auto port = PortOf(options.port, "SPARK_WORKER_PORT", 0);
  if (!port) return port.error();
  const auto web_port = PortOf(options.web_port, "SPARK_WORKER_WEBUI_PORT", kWebPort);
  if (!web_port) return web_port.error();
  const std::string host = HostOf(options.host, "SPARK_WORKER_HOST");
  worker.listen = {host, *port};
  worker.host = AdvertisedHost(host);
  daemon.web = {host, *web_port};
  ReadWorkerKeys(keys, daemon);
  daemon.port_retries = ReadPortRetries(keys);
  if (const base::Status size = ReadSize(options, worker); !size.ok()) return size.error();
  worker.work_directory = options.work_directory.empty() ? Variable("SPARK_WORKER_DIR") : options.work_directory;
  if (worker.work_directory.empty()) worker.work_directory = home + "/work";
  const std::string local = Variable("SPARK_LOCAL_DIRS");
  worker.local_directories = base::SplitTrimmed(local.empty() ? keys.String("spark.local.dir", "/tmp") : local);
  ReadTimes(keys, worker);
  ReadCleaningAndIds(keys, daemon);
  worker.reverse_proxy = ReadReverseProxy(keys);
  daemon.page_filter = ReadSparkFilter(keys, "spark.ui.filters");
  daemon.tls = ReadPageTls(keys, config::HadoopConf(), daemon.warnings);
  WarnOfIgnoredByWorker(keys, daemon.warnings);
  ReadRolling(keys, daemon.warnings, worker.rolling);
  ReadControlGroups(keys, daemon);
  worker.measure = ReadMachine(keys);
  auto resources = ReadWorkerResources(properties);
  if (!resources) return resources.error();
  worker.resources = std::move(*resources);
  const auto java = FindJava();
  if (!java) return java.error();
  worker.launch = {home, *java, ClassPath(home), Environment(), "", "", "", ""};
  if (worker.security.authenticates()) worker.launch.environment["_SPARK_AUTH_SECRET"] = worker.security.secret;
  if (!keys.error().empty()) return base::Error{keys.error()};
  daemon.properties = properties;
  daemon.callers = keys.Callers();
  if (!daemon.callers.empty()) daemon.callers.push_back(std::to_string(::geteuid()));
  if (const base::Status kept = KeepStrangersOut(daemon.callers); !kept.ok()) return kept.error();
  return daemon;
}

}  // namespace fairlead::shell
