#include "shell/spark/standalone_keys.h"

#include <algorithm>

#include "shell/shuffle/keys.h"

namespace fairlead::config {

namespace sm = process::spark_master;
namespace ss = scheduler::standalone;

template <>
struct KeyValue<sm::DecommissionFrom> {
  static void Read(shell::SparkKeys& keys, const char* key, Range /*range*/, sm::DecommissionFrom& value) {
    const std::string text = keys.String(key, "LOCAL");
    if (text == "DENY") value = sm::DecommissionFrom::kNobody;
    if (text == "ALLOW") value = sm::DecommissionFrom::kEverybody;
    if (text != "DENY" && text != "ALLOW" && text != "LOCAL") keys.Refuse(key, text + " is none of DENY, LOCAL, ALLOW");
  }
  static std::string Text(sm::DecommissionFrom /*value*/, Range /*range*/) { return "LOCAL"; }
};

template <>
struct KeyValue<ss::WorkerPolicy> {
  static void Read(shell::SparkKeys& keys, const char* key, Range /*range*/, ss::WorkerPolicy& value) {
    const std::string text = keys.String(key, Text(value, {}));
    const auto known = ss::WorkerPolicyByName(text);
    if (!known) return keys.Refuse(key, text + " is not known");
    value = *known;
  }
  static std::string Text(ss::WorkerPolicy /*value*/, Range /*range*/) { return "CORES_FREE_DESC"; }
};

/// The default is told by the row.
template <>
struct KeyValue<endpoints::spark::IdPattern> {
  static void Read(shell::SparkKeys& keys, const char* key, Range /*range*/, endpoints::spark::IdPattern& value) {
    if (!keys.Has(key)) return;
    auto said = endpoints::spark::NumberedIds(keys.String(key));
    if (!said) return keys.Refuse(key, said.error().message);
    value = std::move(*said);
  }
  static std::string Text(const endpoints::spark::IdPattern& /*value*/, Range /*range*/) { return ""; }
};

}  // namespace fairlead::config

namespace fairlead::shell {
namespace {

using config::Range;
using process::http::ServerLimits;
using process::spark_master::MasterOrders;
using process::spark_rpc::Security;
using process::spark_worker::LogRolling;
using process::spark_worker::SparkWorkerSettings;
using Master = StandaloneMasterSettings;
using Cluster = process::spark_master::StandaloneSettings;
using Ids = process::spark_master::IdSettings;
using Scheduling = scheduler::standalone::MasterConfig;
using Worker = WorkerDaemonSettings;
using MasterRow = config::Key<Master, SparkKeys>;
using WorkerRow = config::Key<Worker, SparkKeys>;

constexpr Range kPort{0, 65535};
constexpr Range kSeconds{.unit = kSparkSecond};

consteval MasterRow ByMaster(const char* name, const char* fallback, const char* meaning) {
  return config::ReadByHand<Master, SparkKeys>(name, fallback, meaning);
}
consteval WorkerRow ByWorker(const char* name, const char* fallback, const char* meaning) {
  return config::ReadByHand<Worker, SparkKeys>(name, fallback, meaning);
}
template <auto Field>
consteval MasterRow Scheduled(const char* name, const char* meaning, Range range = {}) {
  return SparkKeyOf<&Master::cluster, &Cluster::scheduling, Field>(name, meaning, range);
}

constexpr MasterRow kMasterKeys[] = {
    SparkKeyOf<&Master::web, &env::Endpoint::port>(
        "spark.master.ui.port", "port of the page; goes before --webui-port and SPARK_MASTER_WEBUI_PORT", kPort)
        .Shown("8080"),
    Scheduled<&Scheduling::spread_out_apps>("spark.deploy.spreadOut", "an application's executors go to many workers"),
    Scheduled<&Scheduling::spread_out_apps>("spark.deploy.spreadOutApps", "goes before spark.deploy.spreadOut")
        .Shown("as spark.deploy.spreadOut"),
    Scheduled<&Scheduling::spread_out_drivers>("spark.deploy.spreadOutDrivers", "drivers go to many workers"),
    Scheduled<&Scheduling::default_cores>("spark.deploy.defaultCores",
                                          "cores of an application that sets no `spark.cores.max`", {1})
        .Shown("all"),
    Scheduled<&Scheduling::max_executor_retries>(
        "spark.deploy.maxExecutorRetries",
        "executors that end in a row, after which an application is given up; -1: never", {-1}),
    Scheduled<&Scheduling::max_drivers>("spark.deploy.maxDrivers", "drivers that run at a time", {1}).Shown("no bound"),
    SparkKeyOf<&Master::cluster, &Cluster::worker_timeout>(
        "spark.worker.timeout", "seconds: a worker that is silent for so long is lost", kSeconds),
    SparkKeyOf<&Master::cluster, &Cluster::dead_worker_persistence>(
        "spark.dead.worker.persistence", "times spark.worker.timeout: for so long the page shows lost workers"),
    ByMaster("spark.deploy.recoveryMode", "NONE",
             "or FILESYSTEM, ROCKSDB, [ZOOKEEPER](spark-master.md#several-masters)"),
    ByMaster("spark.deploy.recoveryDirectory", "none", "where FILESYSTEM and ROCKSDB keep the state"),
    SparkKeyOf<&Master::cluster, &Cluster::recovery_timeout>(
        "spark.deploy.recoveryTimeout", "seconds: workers and drivers are waited for after a start", kSeconds)
        .Shown("as spark.worker.timeout"),
    ByMaster("spark.deploy.zookeeper.url", "none", "HOST:PORT,HOST:PORT, needed with ZOOKEEPER"),
    ByMaster("spark.deploy.zookeeper.dir", "/spark", "masters of one directory choose their leader"),
    ByMaster("fairlead.spark-master.zookeeper-session-ms", "2000", "after so long another leads; by `--set`"),
    SparkKeyOf<&Master::orders, &MasterOrders::kill>("spark.ui.killEnabled", "the page ends applications and drivers"),
    SparkKeyOf<&Master::orders, &MasterOrders::decommission>("spark.decommission.enabled", "and decommissions workers"),
    SparkKeyOf<&Master::orders, &MasterOrders::decommission_from>("spark.master.ui.decommission.allow.mode",
                                                                  "ordered from where: DENY, LOCAL, ALLOW"),
    SparkKeyOf<&Master::cluster, &Cluster::retained_applications>(
        "spark.deploy.retainedApplications", "ended applications that `/json/`, REST and the page show"),
    SparkKeyOf<&Master::cluster, &Cluster::retained_drivers>("spark.deploy.retainedDrivers", "and ended drivers"),
    ByMaster("spark.master.rest.enabled", "true with Spark 4", "the REST port; not by default with spark.authenticate"),
    ByMaster("spark.master.rest.host", "that of the master", "address of the REST port"),
    ByMaster("spark.master.rest.port", "6066", "number of the REST port; `--rest-port`"),
    ByMaster("spark.fairlead.rest.https", "false", "REST is HTTPS, by the key of the page"),
    ByMaster("spark.ssl.standalone.trustStore", "spark.ssl.* where enabled",
             "with spark.ui.reverseProxy, by which pages that are HTTPS are trusted; `.trustStorePassword`"),
    ByMaster("spark.fairlead.tls.ca", "that store, else the machine's", "PEM file in the place of that store"),
    ByMaster("spark.master.rest.filters", "none", "`org.apache.spark.ui.JWSFilter` alone"),
    SparkBytesOf<&Master::rest_limits, &ServerLimits::body_bytes_max>("spark.master.rest.maxRequestBodySize",
                                                                      "of a request, 100m at most", {1, 100 << 20}),
    ByMaster("spark.master.rest.allowedAppResourcePatterns", "none", "refused: every application would be taken"),
};

/// Keys that Spark 3.5 does not have.
constexpr MasterRow kMasterKeysOf4[] = {
    Scheduled<&Scheduling::worker_policy>("spark.deploy.workerSelectionPolicy", "of Spark 4: which worker goes first"),
    SparkKeyOf<&Master::cluster, &Cluster::ids, &Ids::applications>("spark.deploy.appIdPattern",
                                                                    "of Spark 4: ids of applications")
        .Shown("app-%s-%04d"),
    SparkKeyOf<&Master::cluster, &Cluster::ids, &Ids::drivers>("spark.deploy.driverIdPattern",
                                                               "of Spark 4: and of drivers")
        .Shown("driver-%s-%04d"),
    SparkKeyOf<&Master::cluster, &Cluster::ids, &Ids::application_numbers>(
        "spark.deploy.appNumberModulo", "of Spark 4: their numbers begin again there", {1000, UINT32_MAX})
        .Shown("never"),
    SparkKeyOf<&Master::cluster, &Cluster::ids, &Ids::names_as_ids>("spark.master.useAppNameAsAppId.enabled",
                                                                    "of Spark 4: an application's id is its name"),
    SparkKeyOf<&Master::cluster, &Cluster::driver_ids_as_names>("spark.master.useDriverIdAsAppName.enabled",
                                                                "of Spark 4: its name is its driver's id"),
};

constexpr WorkerRow kWorkerKeys[] = {
    SparkKeyOf<&Worker::web, &env::Endpoint::port>("spark.worker.ui.port",
                                                   "port of the page; goes before --webui-port "
                                                   "and SPARK_WORKER_WEBUI_PORT",
                                                   kPort)
        .Shown("8081"),
    ByWorker("spark.local.dir", "/tmp", "directories of executors; SPARK_LOCAL_DIRS goes before it"),
    ByWorker("spark.worker.timeout", "60", "seconds: it tells of itself four times in that time"),
    ByWorker("spark.worker.initialRegistrationRetries", "6", "tries to find a master, 10 s each"),
    ByWorker("spark.worker.maxRegistrationRetries", "16", "and all tries: later ones are a minute each"),
    ByWorker("spark.worker.cleanup.enabled", "true with Spark 4", "directories of ended applications are removed"),
    ByWorker("spark.worker.cleanup.interval", "1800", "seconds between two looks for these"),
    ByWorker("spark.worker.cleanup.appDataTtl", "604800", "seconds that they stay unchanged before"),
    ByWorker("spark.worker.idPattern", "worker-%s-%s-%d", "of Spark 4: ids of workers"),
    SparkKeyOf<&Worker::worker, &SparkWorkerSettings::retained_executors>("spark.worker.ui.retainedExecutors",
                                                                          "ended executors that the page shows"),
    SparkKeyOf<&Worker::worker, &SparkWorkerSettings::retained_drivers>("spark.worker.ui.retainedDrivers",
                                                                        "and ended drivers"),
    ByWorker("spark.executor.logs.rolling.strategy", "none", "time or size: logs of executors roll"),
    ByWorker("spark.executor.logs.rolling.time.interval", "daily", "hourly, minutely, or seconds, a minute at least"),
    ByWorker("spark.executor.logs.rolling.maxSize", "1m", "80k at least"),
    SparkKeyOf<&Worker::worker, &SparkWorkerSettings::rolling, &LogRolling::retained_max>(
        "spark.executor.logs.rolling.maxRetainedFiles", "files that are kept; -1: all", {-1}),
    SparkKeyOf<&Worker::worker, &SparkWorkerSettings::rolling, &LogRolling::compress>(
        "spark.executor.logs.rolling.enableCompression", "rolled files are compressed"),
    ByWorker("spark.worker.resourcesFile", "none", "JSON with the addresses of custom resources"),
    ByWorker("spark.worker.resource.*", "none", "`.amount` of a kind, `.discoveryScript`; at most four kinds"),
    ByWorker("spark.shuffle.service.enabled", "false",
             "the [shuffle service](#shuffle-service) runs inside; its keys count"),
    ByWorker("spark.shuffle.service.db.enabled", "true", "registrations outlive the Worker"),
    ByWorker("spark.storage.cleanupFilesAfterExecutorExit", "true", "files of an ended executor are removed"),
    ByWorker("spark.fairlead.cgroups", "false",
             "executors and drivers get [what they asked for](spark-master.md#limits-by-the-kernel)"),
    ByWorker("spark.fairlead.cgroups.hierarchy", "/fairlead-spark", "below which their control groups are"),
    ByWorker("spark.fairlead.machine.*", "all",
             "`.control-groups`, `.disks`, `.interfaces`: what of the machine is measured as the Worker's"),
};

constexpr config::Key<Security, SparkKeys> kSecurityKeys[] = {
    SparkKeyOf<&Security::crypto>("spark.network.crypto.enabled", "with it: Spark's own handshake, and encryption"),
    SparkKeyOf<&Security::version>("spark.network.crypto.authEngineVersion", "of that handshake: 1 or 2"),
    SparkKeyOf<&Security::cipher>("spark.network.crypto.cipher", "cipher after that handshake; or AES/GCM/NoPadding"),
    SparkKeyOf<&Security::sasl_fallback>("spark.network.crypto.saslFallback", "SASL is taken instead of it"),
    SparkKeyOf<&Security::encrypt_sasl>("spark.authenticate.enableSaslEncryption", "SASL is asked for encryption"),
    SparkKeyOf<&Security::always_encrypt>("spark.network.sasl.serverAlwaysEncrypt", "SASL is taken only with it"),
};

/// Keys that both read.
std::vector<config::Setting> SharedKeys() {
  std::vector<config::Setting> out = {
      {"spark.port.maxRetries", "16", "ports that are tried after the page's, and that of REST, when these are taken"},
      {"spark.ui.reverseProxy", "false",
       "pages are reached [through the Master's](spark-master.md#the-masters-page-as-a-proxy)"},
      {"spark.ui.reverseProxyUrl", "none", "address of a proxy before the Master, at which links begin"},
      {"spark.ui.filters", "none",
       "`org.apache.spark.ui.JWSFilter` alone guards the page, by "
       "`spark.org.apache.spark.ui.JWSFilter.param.secretKey` "
       "and `.requireExpiration`"},
      {"spark.org.apache.spark.ui.JWSFilter.*", "none",
       "of that filter: `.param.secretKey`, `.param.requireExpiration`"},
      {"spark.ssl.standalone.*", "spark.ssl.* where enabled",
       "the page is HTTPS: `.enabled`, `.port`, `.keyStore`, `.keyStorePassword`, `.keyPassword`, "
       "`.enabledAlgorithms`; "
       "`.needClientAuth` is refused"},
      {"spark.ssl.*", "false", "`.enabled`: the same keys count where `spark.ssl.standalone.*` does not name them"},
      {"spark.ssl.rpc.enabled", "false", "true is refused: connections have no TLS"},
      {"spark.fairlead.tls.certificate", "none", "PEM files in the place of a store"},
      {"spark.fairlead.tls.key", "none", "and the file of its key"},
      {"spark.fairlead.callers.uids", "everybody", "as `fairlead.callers.uids`"},
      {"spark.authenticate", "false", "drivers, workers, executors and masters show that they have the secret"},
      {"spark.authenticate.secret", "the variable _SPARK_AUTH_SECRET", "that secret"},
      {"spark.authenticate.secret.file", "none", "file with the secret"},
  };
  config::AppendSettings<Security, SparkKeys>(kSecurityKeys, {}, out);
  return out;
}

constexpr const char* kIgnoredByMaster[] = {
    "spark.deploy.recoveryMode.factory",     "spark.deploy.recoverySerializer",
    "spark.deploy.recoveryCompressionCodec", "spark.deploy.recoverySerializationFilter",
    "spark.master.rest.maxThreads",          "spark.master.rest.virtualThread.enabled",
    "spark.master.ui.historyServerUrl",      "spark.master.ui.title",
    "spark.master.ui.visibleEnvVarPrefixes",
};
constexpr const char* kIgnoredByWorker[] = {
    "spark.worker.decommission.signal",
    "spark.worker.driverTerminateTimeout",
    "spark.worker.executorStateSync.maxAttempts",
    "spark.worker.preferConfiguredMasterAddress",
    "spark.worker.ui.compressedLogFileLengthCacheSize",
};

void WarnOfIgnored(const SparkKeys& keys, std::span<const char* const> ignored, std::vector<std::string>& warnings) {
  for (const char* key : ignored) {
    if (keys.Has(key)) warnings.push_back(std::string(key) + " changes nothing here");
  }
}

std::vector<config::Setting> WithShared(std::vector<config::Setting> out, std::span<const char* const> ignored) {
  for (config::Setting& shared : SharedKeys()) out.push_back(std::move(shared));
  for (const char* key : ignored) out.push_back({key, "", "changes nothing here; a warning says so"});
  return out;
}

}  // namespace

void ReadMasterKeys(SparkKeys& keys, bool spark4, Master& settings) {
  config::ReadKeys<Master>(keys, kMasterKeys, settings);
  if (!keys.Has("spark.deploy.recoveryTimeout")) settings.cluster.recovery_timeout = settings.cluster.worker_timeout;
  settings.cluster.scheduling.worker_policy = scheduler::standalone::WorkerPolicy::kCoresFreeDescUntied;
  if (!spark4) return;
  settings.cluster.scheduling.worker_policy = scheduler::standalone::WorkerPolicy::kCoresFreeDesc;
  config::ReadKeys<Master>(keys, kMasterKeysOf4, settings);
}

void ReadWorkerKeys(SparkKeys& keys, Worker& settings) { config::ReadKeys<Worker>(keys, kWorkerKeys, settings); }

void ReadSecurityKeys(SparkKeys& keys, Security& security) {
  config::ReadKeys<Security>(keys, kSecurityKeys, security);
}

void WarnOfIgnoredByMaster(const SparkKeys& keys, std::vector<std::string>& warnings) {
  WarnOfIgnored(keys, kIgnoredByMaster, warnings);
}

void WarnOfIgnoredByWorker(const SparkKeys& keys, std::vector<std::string>& warnings) {
  WarnOfIgnored(keys, kIgnoredByWorker, warnings);
}

std::vector<config::Setting> MasterKeys() {
  std::vector<config::Setting> out;
  config::AppendSettings<Master, SparkKeys>(kMasterKeys, {}, out);
  config::AppendSettings<Master, SparkKeys>(kMasterKeysOf4, {}, out);
  return WithShared(std::move(out), kIgnoredByMaster);
}

std::vector<config::Setting> WorkerKeys() {
  std::vector<config::Setting> out;
  config::AppendSettings<Worker, SparkKeys>(kWorkerKeys, {}, out);
  return WithShared(std::move(out), kIgnoredByWorker);
}

}  // namespace fairlead::shell
