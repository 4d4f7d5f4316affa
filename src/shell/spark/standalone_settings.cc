#include "shell/spark/standalone_settings.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "config/fairlead_yaml.h"
#include "env_posix/posix_loop.h"
#include "model/queues.h"
#include "model/wishes.h"
#include "profiles/profile.h"
#include "shell/base/known_hosts.h"
#include "shell/base/open_ports.h"
#include "shell/spark/spark_filters.h"
#include "shell/spark/spark_home.h"
#include "shell/spark/spark_properties.h"
#include "shell/spark/spark_security.h"
#include "shell/spark/standalone_keys.h"

namespace fairlead::shell {

namespace {

constexpr int64_t kPort = 7077;
constexpr int64_t kWebPort = 8080;
constexpr int64_t kRestPort = 6066;
constexpr int64_t kPortMax = 65535;
constexpr const char* kRestHttps = "spark.fairlead.rest.https";

/// What would be another cluster without it is refused, and not passed over.
void RefuseUnsupported(SparkKeys& keys) {
  constexpr const char* kTls = "spark.ssl.rpc.enabled";
  if (keys.Bool(kTls, false)) keys.Refuse(kTls, "true is not supported by this master yet; set it to false");
  constexpr const char* kPatterns = "spark.master.rest.allowedAppResourcePatterns";
  if (keys.Has(kPatterns))
    keys.Refuse(kPatterns, "is not supported by this master yet: every application would be taken");
}

/// Masters of one directory in ZooKeeper choose the leader among them. Spark's own are not among these: what they keep
/// below the same directory is left alone.
void ReadZooKeeper(SparkKeys& keys, StandaloneMasterSettings& settings) {
  constexpr const char* kUrl = "spark.deploy.zookeeper.url";
  constexpr const char* kDirectory = "spark.deploy.zookeeper.dir";
  settings.recovery = RecoveryMode::kZooKeeper;
  env_zookeeper::ElectorOptions& elector = settings.elector;
  elector.servers = keys.String(kUrl, "");
  if (elector.servers.empty()) keys.Refuse(kUrl, "is needed with ZOOKEEPER: host:port,host:port");
  const std::string directory = keys.String(kDirectory, "/spark");
  if (!directory.starts_with("/") || directory.ends_with("/") || directory.find("//") != std::string::npos) {
    keys.Refuse(kDirectory, directory + " is no path such as /spark");
  }
  elector.root = directory + "/fairlead";
  elector.id = settings.master.host + ":" + std::to_string(settings.master.listen.port);
  elector.keys = {"", kDirectory, "--host and --port"};
  elector.about = "spark-master, process " + std::to_string(::getpid());
}

void ReadRecovery(SparkKeys& keys, StandaloneMasterSettings& settings) {
  constexpr const char* kMode = "spark.deploy.recoveryMode";
  constexpr const char* kDirectory = "spark.deploy.recoveryDirectory";
  const std::string mode = keys.String(kMode, "NONE");
  if (mode == "NONE") return;
  if (mode == "ZOOKEEPER") return ReadZooKeeper(keys, settings);
  if (mode != "FILESYSTEM" && mode != "ROCKSDB") {
    return keys.Refuse(kMode, mode + " is not supported by this master; set NONE, FILESYSTEM, ROCKSDB or ZOOKEEPER");
  }
  settings.recovery = mode == "FILESYSTEM" ? RecoveryMode::kFilesystem : RecoveryMode::kRocksDb;
  settings.recovery_directory = keys.String(kDirectory, "");
  if (settings.recovery_directory.empty()) keys.Refuse(kDirectory, "is needed with " + mode);
}

/// Fairlead's own YAML, or the file that yarn.scheduler.fair.allocation.file names; without either none is declared.
base::Result<model::QueueTree> ReadQueues(const config::Settings& source, const profiles::QueueFile& form,
                                          std::vector<std::string>& warnings) {
  if (source.queues) return *source.queues;
  if (!source.conf.IsSet(form.key)) return model::QueueTree{};
  const std::string file = source.conf.String(form.key);
  const auto text = env_posix::MakePosixDisk()->ReadFile(file, uint64_t{16} << 20);
  if (!text.ok()) return base::Error{std::string(form.key) + ": " + text.error().message};
  return form.parse(*text, file, source.conf, warnings);
}

/// --profile: who places executors.
base::Status ReadPlacement(const SparkMasterOptions& options, config::Settings& source,
                           StandaloneMasterSettings& settings) {
  const std::string name = options.profile.empty() ? "spark-standalone" : options.profile;
  settings.profile = name;
  if (name == "spark-standalone") return {};
  const profiles::Profile* profile = profiles::Find(name);
  if (profile == nullptr || name != "fairlead") {
    return base::Error{"--profile " + name + ": write spark-standalone or fairlead"};
  }
  profiles::SetForDrivers(source.conf);
  const auto queues = ReadQueues(source, profile->queue_file, settings.warnings);
  if (!queues.ok()) return queues.error();
  auto wishes = profiles::ReadWishes(name, source.conf);
  if (!wishes.ok()) return base::Error{std::string(profiles::kWishesKey) + ": " + wishes.error().message};
  // A worker takes no more than it has, and tells nothing of its single executors.
  if (wishes->overcommit || wishes->learned_use) {
    wishes->overcommit = wishes->learned_use = false;
    settings.warnings.push_back(std::string(profiles::kWishesKey) + ": overcommit and learned-use are not at spark://");
    source.conf.Set(profiles::kWishesKey, model::ToString(*wishes));
  }
  settings.wishes = model::ToString(*wishes);
  const auto maker = profiles::Read(name, source.conf, *queues);
  if (!maker.ok()) return maker.error();
  settings.cluster.scheduling.places_executors = false;
  settings.cluster.make_scheduler = [maker = *maker] { return maker(1); };
  return {};
}

/// spark.master.rest.*. `by_default`: as this Spark has it. `port`: --rest-port, which opens it.
void ReadRest(SparkKeys& keys, const std::string& host, bool by_default, const std::optional<uint16_t>& port,
              StandaloneMasterSettings& settings) {
  const bool open = settings.master.security.authenticates() && !settings.rest_filter;
  if (!port && !keys.Bool("spark.master.rest.enabled", by_default && !open)) return;
  if (open) {
    settings.warnings.emplace_back(
        "spark.master.rest.enabled or --rest-port: whoever reaches the REST port runs drivers here, without the "
        "secret");
  }
  settings.rest = {keys.String("spark.master.rest.host", host),
                   static_cast<uint16_t>(keys.Int("spark.master.rest.port", kRestPort, 0, kPortMax))};
  if (port) settings.rest->port = *port;
  settings.rest_https = keys.Bool(kRestHttps, false);
  if (settings.rest_https && !settings.tls) keys.Refuse(kRestHttps, "true needs spark.ssl.standalone.enabled");
}

}  // namespace

base::Result<uint16_t> PortOf(const std::optional<uint16_t>& option, const char* variable, int64_t otherwise) {
  if (option) return *option;
  const SparkProperties said = {{variable, Variable(variable)}};
  if (said.begin()->second.empty()) return static_cast<uint16_t>(otherwise);
  SparkKeys keys(said);
  const auto port = static_cast<uint16_t>(keys.Int(variable, otherwise, 0, kPortMax));
  if (!keys.error().empty()) return base::Error{keys.error()};
  return port;
}

int ReadPortRetries(SparkKeys& keys) { return static_cast<int>(keys.Int("spark.port.maxRetries", 16, 0, kPortMax)); }

std::optional<std::string> ReadReverseProxy(SparkKeys& keys) {
  constexpr const char* kUrl = "spark.ui.reverseProxyUrl";
  if (!keys.Bool("spark.ui.reverseProxy", false)) return std::nullopt;
  std::string url = keys.String(kUrl, "");
  if (url.ends_with('/')) url.pop_back();
  // As Spark reads it: pages would have addresses of their own below it.
  const bool ambiguous = (url + "/").find("/proxy/") != std::string::npos;
  const bool web = url.starts_with("http://") || url.starts_with("https://");
  if (!url.empty() && (!web || ambiguous || !process::http::IsVisible(url))) {
    keys.Refuse(kUrl, url + " is no address such as https://door.example.com/spark without a part called proxy");
  }
  return url;
}

std::string HostOf(const std::string& option, const char* variable) {
  const std::string host = option.empty() ? Variable(variable) : option;
  return host.empty() ? "127.0.0.1" : host;
}

std::string AdvertisedHost(const std::string& host) {
  if (host != "0.0.0.0" && host != "::") return host;
  char name[HOST_NAME_MAX + 1] = {};
  return ::gethostname(name, HOST_NAME_MAX) == 0 ? name : "127.0.0.1";
}

base::Result<StandaloneMasterSettings> ReadStandaloneMasterSettings(const SparkMasterOptions& options) {
  std::vector<std::string> homes = options.spark_homes;
  if (homes.empty() && !Variable("SPARK_HOME").empty()) homes.push_back(Variable("SPARK_HOME"));
  if (homes.size() != 1) {
    return base::Error{"a Standalone Master is of one Spark: say --spark-home DIR once, or set SPARK_HOME"};
  }
  auto build = ReadSparkHome(homes.front());
  if (!build) return build.error();
  const auto properties =
      ReadSparkProperties(options.properties_file, homes.front(), {"SPARK_DAEMON_JAVA_OPTS", "SPARK_MASTER_OPTS"});
  if (!properties) return properties.error();
  SparkKeys keys(*properties);
  return ReadStandaloneMasterSettings(options, std::move(*build), keys);
}

base::Result<StandaloneMasterSettings> ReadStandaloneMasterSettings(const SparkMasterOptions& options,
                                                                    endpoints::spark::SparkBuild build,
                                                                    SparkKeys& keys) {
  StandaloneMasterSettings settings;
  const auto port = PortOf(options.port, "SPARK_MASTER_PORT", kPort);
  if (!port) return port.error();
  const auto web_port = PortOf(options.web_port, "SPARK_MASTER_WEBUI_PORT", kWebPort);
  if (!web_port) return web_port.error();
  const std::string host = HostOf(options.host, "SPARK_MASTER_HOST");
  settings.master.listen = {host, *port};
  settings.master.host = AdvertisedHost(host);
  settings.web = {host, *web_port};
  ReadMasterKeys(keys, build.has_module_proxies(), settings);
  ReadRecovery(keys, settings);
  settings.port_retries = ReadPortRetries(keys);
  if (const auto front = ReadReverseProxy(keys)) settings.proxy = {{true, *front}, {}};
  settings.master.security = ReadSparkSecurity(keys);
  settings.page_filter = ReadSparkFilter(keys, "spark.ui.filters");
  settings.rest_filter = ReadSparkFilter(keys, "spark.master.rest.filters");
  auto source = LoadSettings(options.settings);
  if (!source) return source.error();
  settings.tls = ReadPageTls(keys, source->conf, settings.warnings);
  if (settings.proxy.on) settings.proxy.trust = ReadPageTrust(keys, source->conf);
  ReadRest(keys, host, build.has_module_proxies(), options.rest_port, settings);
  RefuseUnsupported(keys);
  if (!keys.error().empty()) return base::Error{keys.error()};
  WarnOfIgnoredByMaster(keys, settings.warnings);
  for (const std::string& key : keys.Unread("spark.deploy.")) {
    settings.warnings.push_back(key + " has no effect on this Spark master");
  }
  settings.hosts = ReadKnownHosts(source->conf, settings.warnings);
  const bool told = source->conf.IsSet(kCallersKey);
  const std::vector<std::string> callers = told ? source->conf.List(kCallersKey) : keys.Callers();
  settings.knows_callers = !callers.empty();
  if (const base::Status kept = KeepStrangersOut(callers); !kept.ok()) return kept.error();
  constexpr const char* kSession = "fairlead.spark-master.zookeeper-session-ms";
  settings.elector.timeout = base::Duration::Millis(source->conf.Int(kSession, 2000, 200, 60'000));
  if (const base::Status read = ReadPlacement(options, *source, settings); !read.ok()) return read.error();
  if (!source->conf.errors().empty()) return base::Error{source->conf.ErrorText()};
  WarnOfUnread(source->conf, {"fairlead.spark-master."}, "this Spark master", settings.warnings);
  settings.hosts.AddName(settings.master.host);
  // Browsers call the master by the name of the proxy before it.
  const std::string place =
      settings.proxy.front.substr(std::min(settings.proxy.front.find("://"), settings.proxy.front.size()));
  if (!place.empty()) settings.hosts.AddProxy(place.substr(3, place.find('/', 3) - 3));
  settings.master.builds.push_back(std::move(build));
  return settings;
}

}  // namespace fairlead::shell
