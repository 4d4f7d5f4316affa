#include "shell/nm/settings.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

#include "base/text.h"
#include "config/hadoop_conf.h"
#include "config/name_nodes.h"
#include "config/rm_members.h"
#include "env_posix/posix_loop.h"
#include "shell/base/known_hosts.h"
#include "shell/base/open_ports.h"
#include "shell/base/settings.h"
#include "shell/base/token_hmac.h"
#include "shell/callers/callers.h"
#include "shell/callers/credential.h"
#include "shell/kerberos/server_principal.h"
#include "shell/nm/file_url.h"
#include "shell/nm/keys.h"
#include "shell/tls/tls.h"

namespace fairlead::shell {

using config::HadoopConf;

namespace {

constexpr char kDefaultExecutor[] = "org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor";
constexpr char kLinuxExecutor[] = "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor";
constexpr char kSparkService[] = "org.apache.spark.network.yarn.YarnShuffleService";
constexpr char kMapReduceService[] = "org.apache.hadoop.mapred.ShuffleHandler";
constexpr int64_t kMemoryDefaultMib = 8192;
constexpr int64_t kVcoresDefault = 8;
constexpr uint64_t kExecutorRulesBytesMax = 1 << 20;

std::string Numeric(const sockaddr* address, socklen_t length) {
  char host[NI_MAXHOST];
  return ::getnameinfo(address, length, host, sizeof host, nullptr, 0, NI_NUMERICHOST) == 0 ? host : "";
}

/// As InetAddress.getCanonicalHostName: the name of the host's first address if that name leads back to the address,
/// else the address. "0.0.0.0" stands for this machine.
std::string CanonicalHost(std::string host) {
  if (host == "0.0.0.0" || host == "::" || host.empty()) {
    char own[256] = {};
    ::gethostname(own, sizeof own - 1);
    host = own;
  }
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return host;
  const std::string number = Numeric(found->ai_addr, found->ai_addrlen);
  char name[NI_MAXHOST];
  const bool named = ::getnameinfo(found->ai_addr, found->ai_addrlen, name, sizeof name, nullptr, 0, NI_NAMEREQD) == 0;
  ::freeaddrinfo(found);
  if (!named) return number;
  if (::getaddrinfo(name, nullptr, &hints, &found) != 0) return number;
  bool leads_back = false;
  for (const addrinfo* at = found; at; at = at->ai_next) leads_back |= Numeric(at->ai_addr, at->ai_addrlen) == number;
  ::freeaddrinfo(found);
  return leads_back ? name : number;
}

std::vector<std::string> Paths(const HadoopConf& conf, const char* key) {
  std::vector<std::string> paths;
  for (std::string path : conf.List(key)) {
    if (path.starts_with("file://")) path = path.substr(7);
    if (path.starts_with("file:")) path = path.substr(5);
    std::error_code error;
    paths.push_back(std::filesystem::absolute(path, error).lexically_normal());
    while (paths.back().size() > 1 && paths.back().ends_with('/')) paths.back().pop_back();
  }
  if (paths.empty()) conf.Refuse(key, "at least one directory is needed");
  return paths;
}

/// The address key, with its bind host where one is set.
env::Endpoint Bind(const HadoopConf& conf, const char* key, const char* bind_key, uint16_t default_port) {
  const base::Result<env::Endpoint> parsed = env::ParseEndpoint(conf.String(key), default_port);
  env::Endpoint endpoint;
  if (parsed) {
    endpoint = *parsed;
  } else {
    conf.Refuse(key, parsed.error().message + "; write host:port");
  }
  const std::string bind = conf.String(bind_key);
  if (!bind.empty()) endpoint.host = bind;
  return endpoint;
}

void ReadIdentity(const HadoopConf& conf, NmSettings& out) {
  process::nm::Settings& manager = out.manager;
  manager.listen = Bind(conf, "yarn.nodemanager.address", "yarn.nodemanager.bind-host", 0);
  const base::Result<env::Endpoint> named = env::ParseEndpoint(conf.String("yarn.nodemanager.address"), 1);
  manager.host = CanonicalHost(named ? named->host : manager.listen.host);
  out.web = Bind(conf, WebAddressKey(conf, "yarn.nodemanager.webapp").c_str(), "yarn.nodemanager.bind-host",
                 IsHttpsOnly(conf) ? 8044 : 8042);
  manager.http_port = out.web.port;
  int64_t memory = conf.Int("yarn.nodemanager.resource.memory-mb", -1, -1);
  int64_t vcores = conf.Int("yarn.nodemanager.resource.cpu-vcores", -1, -1);
  if (conf.Bool("yarn.nodemanager.resource.detect-hardware-capabilities", false)) {
    const env_posix::MachineLimits machine = env_posix::SizeOf({});
    if (memory == -1) memory = machine.mib * 8 / 10;
    if (vcores == -1) vcores = machine.cores;
  }
  manager.core.capacity =
      model::Resources::Of(memory == -1 ? kMemoryDefaultMib : memory, vcores == -1 ? kVcoresDefault : vcores);
  out.containers.machine = {conf.List("fairlead.nm.machine.control-groups"), conf.List("fairlead.nm.machine.disks"),
                            conf.List("fairlead.nm.machine.interfaces")};
  const env_posix::MachineLimits size = env_posix::SizeOf(out.containers.machine);
  manager.physical = model::Resources::Of(size.mib, size.cores);
  for (const std::string& type : conf.List("yarn.resource-types")) {
    const int index = model::ResourceTypes::Add(type);
    if (index < 0) {
      conf.Refuse("yarn.resource-types", "there is no room for " + type + "; at most " +
                                             std::to_string(model::Resources::kMaxTypes) + " types are supported");
      continue;
    }
    if (index >= 2)
      manager.core.capacity[static_cast<size_t>(index)] = conf.Int("yarn.nodemanager.resource-type." + type, 0, 0);
  }
}

void ReadTrackers(const HadoopConf& conf, NmSettings& out) {
  const std::string key = "yarn.resourcemanager.resource-tracker.address";
  const base::Result<std::vector<std::string>> addresses = config::OfEveryMember(conf, key);
  if (!addresses.ok()) return conf.Refuse("yarn.resourcemanager.ha.rm-ids", addresses.error().message);
  for (const std::string& address : *addresses) {
    const base::Result<env::Endpoint> parsed = env::ParseEndpoint(address, 8031);
    if (!parsed) return conf.Refuse(key, parsed.error().message + "; write host:port");
    env::Endpoint endpoint = *parsed;
    if (endpoint.host == "0.0.0.0") endpoint.host = "127.0.0.1";
    out.manager.trackers.push_back(endpoint);
  }
  // One that stands still, and does not refuse connections, is left for the other before this node is given up.
  if (out.manager.trackers.size() > 1) out.manager.call_timeout = base::Duration::Seconds(5);
}

/// Who the agent is, where Kerberos says who calls, and what its pages believe.
void ReadSecurity(const HadoopConf& conf, NmSettings& out) {
  out.manager.security.protections = ReadProtections(conf);
  out.web_security.https = IsHttpsOnly(conf);
  out.web_security.strict_transport = StrictTransport(conf);
  constexpr const char* kShuffleTls = "mapreduce.shuffle.ssl.enabled";
  out.map_outputs_https = conf.Bool(kShuffleTls, false);
  // What is missing is an error now.
  if (out.web_security.https || out.map_outputs_https) {
    const TlsFiles tls = ReadServerTls(conf, out.map_outputs_https ? kShuffleTls : "yarn.http.policy");
    out.warnings.insert(out.warnings.end(), tls.warnings.begin(), tls.warnings.end());
  }
  out.web_identity = ReadWebIdentity(conf, "yarn.nodemanager.webapp", out.web.host, out.web_security, out.warnings);
  ReadCallers(conf, out.web_security, out.warnings);
  out.manager.credential = CredentialSource(conf, CredentialPath("node"));
  if (conf.OriginOf(kCredential).file == CredentialPath("node")) out.credential_file = CredentialPath("node");
  if (!IsKerberos(conf)) return;
  // The machine's own name, wherever the agent listens (NodeManager.doSecureLogin): nobody asks for tickets for a node.
  out.kerberos = ReadDaemonIdentity(conf, "yarn.nodemanager", "");
  out.manager.manager_principal = ServerPrincipal(conf, kManagerPrincipal);
  out.manager.logs.tokens_kept = conf.Time("yarn.nm.liveness-monitor.expiry-interval-ms", base::Duration::Seconds(600));
  if (out.manager.manager_principal.empty()) {
    conf.Refuse(kManagerPrincipal, "the resource manager shows by it who it is; write SERVICE/_HOST@REALM");
  }
}

/// Who runs the agent where root has started it and nobody says (docs/privileges.md).
constexpr char kAgentUser[] = "fairlead";

void ReadUsers(const HadoopConf& conf, NmSettings& out) {
  RunAs& rules = out.run_as;
  rules.min_user_id = static_cast<uint32_t>(conf.Int("min.user.id", 1000, 0, UINT32_MAX));
  rules.banned = conf.List("banned.users", rules.banned);
  rules.allowed_system = conf.List("allowed.system.users");
  const bool limited = conf.Bool("yarn.nodemanager.linux-container-executor.nonsecure-mode.limit-users", true);
  if (limited && !IsKerberos(conf)) {  // LinuxContainerExecutor.getRunAsUser
    rules.always = conf.String("yarn.nodemanager.linux-container-executor.nonsecure-mode.local-user", "nobody");
  }
}

/// The resource type whose amount the kernel makes a rate of; 0: none.
size_t RateType(const HadoopConf& conf, const char* key, bool use_cgroups) {
  const std::string type = conf.String(key);
  if (type.empty()) return 0;
  const int index = model::ResourceTypes::Find(type);
  if (index < 2) conf.Refuse(key, type + " is none of yarn.resource-types; add it there, or leave this key out");
  if (!use_cgroups) conf.Refuse(key, "the kernel limits by control groups; fairlead.nm.cgroups is false");
  return static_cast<size_t>(std::max(index, 0));
}

void ReadExecutor(const HadoopConf& conf, NmSettings& out) {
  const char* key = "yarn.nodemanager.container-executor.class";
  const std::string executor = conf.String(key);
  const bool is_root = ::geteuid() == 0;
  const char* user_key = "fairlead.nm.user";
  out.agent_user = conf.String(user_key);
  if (!out.agent_user.empty() && !FindUnixUser(out.agent_user))
    conf.Refuse(user_key, "there is no user " + out.agent_user + " on this machine");
  if (executor == kLinuxExecutor) {
    if (!is_root)
      conf.Refuse(key, "running containers as their users needs root; write " + std::string(kDefaultExecutor));
    out.run_as.switch_user = true;
    ReadUsers(conf, out);
    if (!conf.IsSet(user_key) && FindUnixUser(kAgentUser)) out.agent_user = kAgentUser;
    if (out.agent_user.empty()) {
      out.warnings.push_back(
          "the node agent stays root, though without root's rights: there is no user fairlead; make one, or name one "
          "in "
          "fairlead.nm.user");
    }
  } else if (executor != kDefaultExecutor && !executor.empty()) {
    conf.Refuse(key, executor + " is not supported; write " + kDefaultExecutor + " or " + kLinuxExecutor);
  } else if (is_root && out.agent_user.empty()) {
    out.warnings.push_back(
        "containers run as root: whoever may submit applications is root on this machine; name a user in "
        "fairlead.nm.user, or write " +
        std::string(kLinuxExecutor) + " into " + key);
  } else if (IsKerberos(conf)) {
    out.warnings.push_back(
        "containers run as the node agent's user, so each can read the tokens of all others; Hadoop wants " +
        std::string(kLinuxExecutor) + " in " + key + " where Kerberos is on");
  }
  if (!is_root && !out.agent_user.empty()) {
    out.warnings.push_back("fairlead.nm.user has no effect: only root can start the node agent as somebody else");
    out.agent_user.clear();
  }
  out.containers.disk_rate_type = RateType(conf, "fairlead.nm.disk-rate-type", out.use_cgroups);
  const char* network_key = "fairlead.nm.network-rate-type";
  const char* interface_key = "fairlead.nm.network-interface";
  out.containers.network_rate_type = RateType(conf, network_key, out.use_cgroups);
  out.network_interface = conf.String(interface_key);
  if (out.containers.network_rate_type != 0 && out.network_interface.empty())
    conf.Refuse(network_key, std::string("name the interface by which containers send in ") + interface_key);
}

/// Hadoop's default is one directory below hadoop.tmp.dir, which several agents of one machine share: each gets its own
/// there, named by where it listens.
std::string StateDirectory(const HadoopConf& conf, const env::Endpoint& listen) {
  const char* key = "yarn.nodemanager.recovery.dir";
  const std::string directory = conf.String(key);
  if (conf.IsSet(key) || listen.host == "0.0.0.0" || listen.host == "::") return directory;
  return directory + "/" + listen.host + (listen.port == 0 ? "" : "_" + std::to_string(listen.port));
}

void ReadDisks(const HadoopConf& conf, NmSettings& out) {
  out.dirs.local = Paths(conf, "yarn.nodemanager.local-dirs");
  out.dirs.logs = Paths(conf, "yarn.nodemanager.log-dirs");
  out.state_directory = StateDirectory(conf, out.manager.listen);
  if (out.state_directory.empty()) conf.Refuse("yarn.nodemanager.recovery.dir", "a directory is needed");
}

/// Whoever wrote that containers outlive a restart and nothing of a stop may expect it of both. Files that write
/// neither are not warned of: a stop ends containers by Hadoop's defaults, too.
void WarnOfStop(const HadoopConf& conf, NmSettings& out) {
  const std::string recovery = "yarn.nodemanager.recovery.";
  if (!out.recovery || !conf.IsSet(recovery + "enabled") || conf.IsSet(recovery + "supervised")) return;
  out.warnings.push_back(recovery +
                         "supervised is false: a stop by SIGTERM ends every container of this node, and recovery is "
                         "for agents that die; write true so that containers run on while the agent is replaced");
}

void ReadServices(const HadoopConf& conf, NmSettings& out) {
  // Executors ask the service on their own node's address: who serves other agents' executors listens on all of them.
  const std::string shuffle_host =
      conf.String("fairlead.shuffle.bind-host", out.shuffle_extra_roots.empty() ? out.manager.listen.host : "0.0.0.0");
  for (const std::string& name : conf.List("yarn.nodemanager.aux-services")) {
    const std::string class_key = "yarn.nodemanager.aux-services." + name + ".class";
    const std::string given = conf.String(class_key);
    AuxServiceSetting service;
    service.name = name;
    service.listen.host = out.manager.listen.host;
    if (given == kSparkService || (given.empty() && name.starts_with("spark_shuffle"))) {
      service.kind = AuxServiceSetting::Kind::kSparkShuffle;
      service.listen = {shuffle_host, static_cast<uint16_t>(conf.Int("spark.shuffle.service.port", 7337, 0, 65535))};
    } else if (given == kMapReduceService || (given.empty() && name == "mapreduce_shuffle")) {
      service.kind = AuxServiceSetting::Kind::kMapReduceShuffle;
      service.listen.port = static_cast<uint16_t>(conf.Int("mapreduce.shuffle.port", 13562, 0, 65535));
    } else {
      conf.Refuse("yarn.nodemanager.aux-services",
                  name + (given.empty() ? " has no class that is known here" : " is " + given) +
                      "; Java services cannot be loaded. Write " + kSparkService + " or " + kMapReduceService +
                      " into " + class_key + ", or leave " + name + " out");
      continue;
    }
    out.services.push_back(std::move(service));
  }
}

/// The web addresses of the name nodes for an hdfs:// URL (dfs.namenode.http-address, with its name service and nodes),
/// as WebHdfs takes them.
std::function<std::string(const std::string&, const std::string&)> WebAddresses(const HadoopConf& conf) {
  const std::string key = "dfs.namenode.http-address";
  std::string any = conf.String(key);
  std::map<std::string, std::string> by_authority;
  for (const auto& [service, addresses] : config::NameNodes(conf, key))
    by_authority.emplace(service, "http://" + base::Joined(addresses, ",http://"));
  return [by_authority, any](const std::string& scheme, const std::string& authority) -> std::string {
    if (scheme == "swebhdfs") return "https://" + authority;
    const auto known = by_authority.find(config::ServiceNameOf(authority));
    if (known != by_authority.end()) return known->second;
    if (scheme == "webhdfs") return "http://" + authority;
    const size_t colon = authority.find(':');
    const std::string host = authority.substr(0, colon);
    const std::string port = any.find(':') == std::string::npos ? "9870" : any.substr(any.find(':') + 1);
    return "http://" + host + ":" + port;
  };
}

/// A directory of logs, where it says no file system on the default one.
FileUrl LogLocation(const HadoopConf& conf, const std::string& url) {
  const FileUrl standard = ParseFileUrl(conf.String("fs.defaultFS"));
  if (url.starts_with("/")) return {standard.scheme, standard.authority, url};
  FileUrl at = ParseFileUrl(url);
  if (at.authority.empty() && at.scheme == standard.scheme) at.authority = standard.authority;
  return at;
}

/// The format by its controller's class or, without one, by its name.
std::optional<LogFileFormat> FormatOf(const std::string& name, const std::string& controller) {
  const std::string package = "org.apache.hadoop.yarn.logaggregation.filecontroller.";
  if (controller == package + "tfile.LogAggregationTFileController") return LogFileFormat::kTFile;
  if (controller == package + "ifile.LogAggregationIndexedFileController") return LogFileFormat::kIFile;
  if (controller.empty() && name == "TFile") return LogFileFormat::kTFile;
  if (controller.empty() && name == "IFile") return LogFileFormat::kIFile;
  return std::nullopt;
}

/// Where logs of one format lie, and how.
base::Result<LogAggregationOptions> ReadLogPlace(const HadoopConf& conf, std::string name) {
  LogAggregationOptions logs;
  const std::string controller = conf.String("yarn.log-aggregation.file-controller." + name + ".class");
  const std::optional<LogFileFormat> format = FormatOf(name, controller);
  if (!format) {
    return base::Error{"yarn.log-aggregation.file-formats " + name + (controller.empty() ? "" : " of " + controller) +
                       " is not supported, write TFile or IFile"};
  }
  const std::string own = "yarn.log-aggregation." + name + ".remote-app-log-dir";
  std::string url = conf.String(own);
  const std::string key = url.empty() ? "yarn.nodemanager.remote-app-log-dir" : own;
  if (url.empty()) url = conf.String(key);
  const FileUrl at = LogLocation(conf, url);
  if (!at.path.starts_with("/"))
    return base::Error{key + " " + url + " names no directory, write a file: or hdfs: URL"};
  if (at.scheme == "hdfs" || at.scheme == "webhdfs" || at.scheme == "swebhdfs") {
    logs.web_hdfs = WebAddresses(conf)(at.scheme, at.authority);
    logs.scheme = at.scheme;
    logs.authority = at.authority;
    logs.secured = IsKerberos(conf);
  } else if (at.scheme != "file") {
    return base::Error{key + " " + url + " lies on " + at.scheme + "; write a file: or hdfs: URL"};
  }
  logs.format = *format;
  logs.root = at.path;
  logs.suffix = conf.String(own + "-suffix");
  if (logs.suffix.empty()) {
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    logs.suffix = conf.String("yarn.nodemanager.remote-app-log-dir-suffix", "logs") + "-" + name;
  }
  return logs;
}

/// LogAggregationService.calculateRollingMonitorInterval.
void ReadLogRolls(const HadoopConf& conf, NmSettings& out) {
  const char* every_key = "yarn.nodemanager.log-aggregation.roll-monitoring-interval-seconds";
  constexpr int64_t kLeast = 3600;
  int64_t every = conf.Int(every_key, -1);
  const bool debug = conf.Bool("yarn.nodemanager.log-aggregation.debug-enabled", false);
  const int64_t least = conf.Int(std::string(every_key) + ".min", kLeast);
  if (every > 0 && every < least && !debug) {
    out.warnings.push_back(std::string(every_key) + " " + std::to_string(every) + " is less than its least value (" +
                           every_key + ".min), logs roll every " + std::to_string(least) + " seconds");
    every = least;
  }
  base::Duration& remember = out.manager.logs.remember;
  if (remember <= base::Duration()) remember = process::nm::LogSettings().remember;  // as Hadoop
  if (every > 0) out.manager.logs.roll_every = base::Duration::Seconds(std::min<int64_t>(every, INT32_MAX));
}

void ReadLogPolicyOfNode(const HadoopConf& conf, NmSettings& out) {
  const char* key = "yarn.nodemanager.log-aggregation.policy.class";
  process::nm::LogSettings& logs = out.manager.logs;
  logs.policy_class = conf.String(key);
  logs.policy_parameters = conf.String("yarn.nodemanager.log-aggregation.policy.parameters");
  if (logs.policy_class.empty()) return;
  if (const auto policy = process::nm::ReadLogPolicy(logs.policy_class, logs.policy_parameters); !policy)
    conf.Refuse(key, policy.error().message);
}

/// Who deletes what was gathered is not the node agent.
void NoteLogRetention(const HadoopConf& conf, NmSettings& out) {
  for (const char* key :
       {"yarn.log-aggregation.retain-seconds", "yarn.log-aggregation.retain-check-interval-seconds"}) {
    const bool is_set = conf.IsSet(key);
    (void)conf.Int(key, -1);
    if (!is_set) continue;
    out.warnings.push_back(std::string(key) +
                           " has no effect here: as in Hadoop, the MapReduce history server deletes gathered logs");
  }
}

void ReadLogFiles(const HadoopConf& conf, LogAggregationOptions& logs) {
  const char* compression_key = "yarn.nodemanager.log-aggregation.compression-type";
  const std::string compression = conf.String(compression_key, "none");
  if (compression != "none" && compression != "gz")
    conf.Refuse(compression_key, compression + " is not supported; write none or gz");
  logs.compress = compression == "gz";
  const int64_t files_max = conf.Int("yarn.nodemanager.log-aggregation.num-log-files-per-app", logs.files_max);
  if (files_max > 0) logs.files_max = files_max;  // else the default, as in Hadoop
}

void ReadLogAggregation(const HadoopConf& conf, NmSettings& out) {
  if (!conf.Bool("yarn.log-aggregation-enable", false)) return;
  NoteLogRetention(conf, out);
  ReadLogRolls(conf, out);
  ReadLogPolicyOfNode(conf, out);
  base::Result<LogAggregationOptions> place = std::move(ReadLogPlaces(conf).front());
  ReadLogFiles(conf, place ? *place : out.log_aggregation);
  if (!place) {
    out.warnings.push_back(
        "yarn.log-aggregation-enable: " + place.error().message +
        "; logs stay on the node for yarn.nodemanager.log.retain-seconds and are served by its web port");
    return;
  }
  out.log_aggregation = std::move(*place);
  out.log_aggregation.agent_user = OwnUser();
  out.aggregate_logs = true;
}

}  // namespace

std::vector<base::Result<LogAggregationOptions>> ReadLogPlaces(const HadoopConf& conf) {
  std::vector<std::string> names = conf.List("yarn.log-aggregation.file-formats", {"TFile"});
  if (names.empty()) names = {"''"};  // refused as others that are no format
  std::vector<base::Result<LogAggregationOptions>> places;
  for (const std::string& name : names) places.push_back(ReadLogPlace(conf, name));
  return places;
}

void AddExecutorRules(const std::string& directory, HadoopConf& conf) {
  const std::string path = directory + "/container-executor.cfg";
  const base::Result<std::string> text = env_posix::MakePosixDisk()->ReadFile(path, kExecutorRulesBytesMax);
  if (!text) return;
  std::istringstream in(*text);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const size_t equals = line.find('=');
    if (line.starts_with('#') || equals == std::string::npos) continue;
    std::string key = line.substr(0, equals);
    while (!key.empty() && (key.back() == ' ' || key.back() == '\t')) key.pop_back();
    for (const char* known : {"min.user.id", "banned.users", "allowed.system.users"}) {
      if (key == known && !conf.IsSet(key)) conf.Set(key, line.substr(equals + 1), {path, number, 1});
    }
  }
}

base::Result<NmSettings> ReadNmSettings(const config::Settings& settings, std::vector<std::string>* of_refused) {
  const HadoopConf& conf = settings.conf;
  NmSettings out;
  RefuseUnsupportedOfNode(conf);
  ReadNodeKeys(conf, out);
  out.manager.hmac = ReadTokenHmac(conf);
  out.may_view = ReadViewAccess(conf);
  const std::string manager = conf.String(WebAddressKey(conf, "yarn.resourcemanager.webapp"));
  if (!manager.empty() && !manager.starts_with("0.0.0.0:")) out.cluster_page = WebScheme(conf) + manager;
  ReadIdentity(conf, out);
  ReadTrackers(conf, out);
  ReadSecurity(conf, out);
  ReadExecutor(conf, out);
  ReadDisks(conf, out);
  WarnOfStop(conf, out);
  ReadServices(conf, out);
  out.localizer.web_address = WebAddresses(conf);
  ReadLogAggregation(conf, out);
  std::vector<env::Endpoint> open{out.manager.listen};
  using process::login::WebMode;
  if (out.web_security.mode != WebMode::kTickets) open.push_back(out.web);
  if (out.web_security.mode == WebMode::kCallers) open.clear();  // callers show who they are
  out.warnings.push_back(OpenPortsWarning(
      open,
      "whoever reaches them reads the logs of every container (yarn.acl.enable believes the name that a caller gives); "
      "containers are started by the resource manager's tokens alone"));
  std::erase(out.warnings, "");
  WarnOfUnread(conf, {"yarn.nodemanager.", "yarn.log-aggregation", "fairlead.nm."}, "this node agent", out.warnings);
  if (!conf.errors().empty()) {
    if (of_refused != nullptr) *of_refused = std::move(out.warnings);
    return base::Error{conf.ErrorText()};
  }
  out.hosts = ReadKnownHosts(conf, out.warnings);
  out.hosts.AddName(out.manager.host);
  return out;
}

}  // namespace fairlead::shell
