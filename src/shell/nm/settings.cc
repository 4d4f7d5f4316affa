#include "shell/nm/settings.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "config/hadoop_conf.h"
#include "config/rm_members.h"
#include "env_posix/posix_loop.h"
#include "shell/base/known_hosts.h"
#include "shell/base/open_ports.h"
#include "shell/base/settings.h"
#include "shell/base/token_hmac.h"
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
constexpr int64_t kProcessesDefault = 8192;  // of one container, threads included
constexpr uint64_t kExecutorRulesBytesMax = 1 << 20;

/// Values that would change what a node promises, and that Fairlead does not have.
struct Unsupported {
  const char* key;
  const char* accepted;
  const char* reason;
  const char* remedy;
};
constexpr Unsupported kUnsupported[] = {
    {"hadoop.security.sasl.mechanism", "DIGEST-MD5", "other SASL mechanisms are not supported", "write DIGEST-MD5"},
    {"yarn.nodemanager.amrmproxy.enabled", "false", "federation's proxy is not supported", "write false"},
    {"yarn.nodemanager.distributed-scheduling.enabled", "false", "distributed scheduling is not supported",
     "write false"},
    {"yarn.nodemanager.runtime.linux.allowed-runtimes", "default", "containers of images are not supported",
     "write default"},
};

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
  int64_t memory = conf.Int("yarn.nodemanager.resource.memory-mb", -1);
  int64_t vcores = conf.Int("yarn.nodemanager.resource.cpu-vcores", -1);
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
  manager.node_label = conf.String("yarn.nodemanager.node-labels.provider.configured-node-partition");
  manager.hadoop_version = conf.String("fairlead.hadoop-version", "3.3.6");
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
  if (IsHttpsOnly(conf)) ReadServerTls(conf);  // what is missing is an error now
  out.web_identity = ReadWebIdentity(conf, "yarn.nodemanager.webapp", out.web.host, out.web_security, out.warnings);
  if (!IsKerberos(conf)) return;
  out.kerberos = ReadDaemonIdentity(conf, "yarn.nodemanager", out.manager.listen.host);
  out.manager.manager_principal = conf.String(kManagerPrincipal, "");
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
  if (conf.Bool("yarn.nodemanager.linux-container-executor.nonsecure-mode.limit-users", true)) {
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
  }
  if (!is_root && !out.agent_user.empty()) {
    out.warnings.push_back("fairlead.nm.user has no effect: only root can start the node agent as somebody else");
    out.agent_user.clear();
  }
  out.containers.limit_memory = conf.Bool("yarn.nodemanager.pmem-check-enabled", true);
  out.containers.limit_cpu =
      conf.Bool("yarn.nodemanager.linux-container-executor.cgroups.strict-resource-usage", false);
  out.containers.processes_max = conf.Int("fairlead.nm.container-processes-max", kProcessesDefault, 0);
  out.containers.usage_interval =
      conf.Time("yarn.nodemanager.container-monitor.interval-ms",
                conf.Time("yarn.nodemanager.resource-monitor.interval-ms", base::Duration::Seconds(3)));
  out.containers.leftover_grace =
      conf.Time("yarn.nodemanager.sleep-delay-before-sigkill.ms", base::Duration::Millis(250));
  out.containers.stderr_tail_bytes = conf.Int("yarn.nodemanager.container.stderr.tail.bytes", 4096, 0, 1 << 20);
  out.use_cgroups = conf.Bool("fairlead.nm.cgroups", true);
  out.containers.disk_rate_type = RateType(conf, "fairlead.nm.disk-rate-type", out.use_cgroups);
  const char* network_key = "fairlead.nm.network-rate-type";
  const char* interface_key = "fairlead.nm.network-interface";
  out.containers.network_rate_type = RateType(conf, network_key, out.use_cgroups);
  out.network_interface = conf.String(interface_key);
  if (out.containers.network_rate_type != 0 && out.network_interface.empty())
    conf.Refuse(network_key, std::string("name the interface by which containers send in ") + interface_key);
  out.cgroup_hierarchy = conf.String("yarn.nodemanager.linux-container-executor.cgroups.hierarchy", "/hadoop-yarn");
}

void ReadCore(const HadoopConf& conf, NmSettings& out) {
  fairlead::nm::Config& core = out.manager.core;
  core.kill_delay = conf.Time("yarn.nodemanager.sleep-delay-before-sigkill.ms", base::Duration::Millis(250));
  core.rm_retry_max = std::min(conf.Time("yarn.resourcemanager.connect.retry-interval.ms", base::Duration::Seconds(30)),
                               base::Duration::Seconds(3));
  core.cache_check_interval =
      conf.Time("yarn.nodemanager.localizer.cache.cleanup.interval-ms", base::Duration::Seconds(600));
  core.cache_bytes_max = conf.Int("yarn.nodemanager.localizer.cache.target-size-mb", 10240, 0, int64_t{1} << 40) << 20;
  core.remember_stopped =
      conf.Time("yarn.nodemanager.duration-to-track-stopped-containers", base::Duration::Seconds(600));
  core.check_physical = conf.Bool("yarn.nodemanager.pmem-check-enabled", true);
  core.check_virtual = conf.Bool("yarn.nodemanager.vmem-check-enabled", true);
  core.virtual_ratio = conf.Double("yarn.nodemanager.vmem-pmem-ratio", 2.1);
  core.diagnostics_bytes_max =
      static_cast<size_t>(conf.Int("yarn.nodemanager.container-diagnostics-maximum-size", 10000, 0, 10 << 20));
  process::nm::Settings& manager = out.manager;
  manager.env_whitelist = conf.List("yarn.nodemanager.env-whitelist");
  manager.admin_env = conf.String("yarn.nodemanager.admin-env", "MALLOC_ARENA_MAX=$MALLOC_ARENA_MAX");
  manager.user_home = conf.String("yarn.nodemanager.user-home-dir", "/home/");
  manager.debug_info = conf.Bool("yarn.nodemanager.log-container-debug-info.enabled", true);
  manager.delete_delay =
      conf.Time("yarn.nodemanager.delete.debug-delay-sec", base::Duration{}, base::Duration::Seconds(1));
  manager.log_retain =
      conf.Time("yarn.nodemanager.log.retain-seconds", base::Duration::Seconds(10800), base::Duration::Seconds(1));
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
  const std::string prefix = "yarn.nodemanager.disk-health-checker.";
  out.dirs.local = Paths(conf, "yarn.nodemanager.local-dirs");
  out.dirs.logs = Paths(conf, "yarn.nodemanager.log-dirs");
  out.dirs.check = conf.Bool(prefix + "enable", true);
  out.dirs.min_healthy = conf.Double(prefix + "min-healthy-disks", 0.25);
  out.dirs.max_utilization = conf.Double(prefix + "max-disk-utilization-per-disk-percentage", 90);
  out.dirs.min_free_mib = conf.Int(prefix + "min-free-space-per-disk-mb", 0, 0);
  out.disk_check_interval = conf.Time(prefix + "interval-ms", base::Duration::Seconds(120));
  const char* recovery = "yarn.nodemanager.recovery.enabled";
  out.recovery = !conf.IsSet(recovery) || conf.Bool(recovery, true);
  out.supervised = conf.Bool("yarn.nodemanager.recovery.supervised", false);
  out.state_directory = StateDirectory(conf, out.manager.listen);
  if (out.state_directory.empty()) conf.Refuse("yarn.nodemanager.recovery.dir", "a directory is needed");
  out.containers.agent_away = conf.Time("fairlead.nm.agent-absence-limit-ms", base::Duration::Seconds(600));
  out.errands.lane_max = static_cast<int>(conf.Int("yarn.nodemanager.localizer.fetch.thread-count", 4, 1, 64));
  out.health_script = conf.String("yarn.nodemanager.health-checker.script.path");
  out.health_script_options = conf.List("yarn.nodemanager.health-checker.script.opts");
  out.health_interval = conf.Time("yarn.nodemanager.health-checker.interval-ms", base::Duration::Seconds(600));
  out.health_timeout =
      conf.Time("yarn.nodemanager.health-checker.script.timeout-ms",
                conf.Time("yarn.nodemanager.health-checker.timeout-ms", base::Duration::Seconds(1200)));
}

void ReadServices(const HadoopConf& conf, NmSettings& out) {
  out.shuffle_extra_roots = conf.List("fairlead.shuffle.extra-local-roots");
  out.shuffle_stop_on_failure = conf.Bool("spark.yarn.shuffle.stopOnFailure", false);
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

void ReadLogAggregation(const HadoopConf& conf, NmSettings& out) {
  if (!conf.Bool("yarn.log-aggregation-enable", false)) return;
  const auto keep = [&](const std::string& why) {
    out.warnings.push_back(
        "yarn.log-aggregation-enable: " + why +
        "; logs stay on the node for yarn.nodemanager.log.retain-seconds and are served by its web port");
  };
  const std::vector<std::string> formats = conf.List("yarn.log-aggregation.file-formats", {"TFile"});
  if (formats.front() != "TFile")
    return keep("yarn.log-aggregation.file-formats " + formats.front() + " is not supported, write TFile");
  std::string root = conf.String("yarn.nodemanager.remote-app-log-dir");
  if (root.starts_with("/") && !conf.String("fs.defaultFS").starts_with("file:"))
    return keep("yarn.nodemanager.remote-app-log-dir lies on " + conf.String("fs.defaultFS") +
                ", only file systems that this machine mounts are supported, write a file: URL");
  if (root.starts_with("file:")) {
    root = root.substr(5);
    while (root.starts_with("//")) root = root.substr(1);
  }
  if (!root.starts_with("/")) return keep("yarn.nodemanager.remote-app-log-dir " + root + " is not a file: URL");
  out.aggregate_logs = true;
  out.log_aggregation.root = root;
  out.log_aggregation.suffix = conf.String("yarn.nodemanager.remote-app-log-dir-suffix", "logs");
}

/// The name node's web address for an hdfs:// URL (dfs.namenode.http-address, with its name service and node).
std::function<std::string(const std::string&, const std::string&)> WebAddresses(const HadoopConf& conf) {
  std::map<std::string, std::string> by_authority;
  const std::string key = "dfs.namenode.http-address";
  std::string any = conf.String(key);
  for (const std::string& service : conf.List("dfs.nameservices")) {
    for (const std::string& node : conf.List("dfs.ha.namenodes." + service)) {
      const std::string address = conf.String(key + "." + service + "." + node);
      if (!address.empty()) by_authority.try_emplace(service, address);
    }
    const std::string address = conf.String(key + "." + service);
    if (!address.empty()) by_authority.try_emplace(service, address);
  }
  return [by_authority, any](const std::string& scheme, const std::string& authority) -> std::string {
    if (scheme == "webhdfs") return "http://" + authority;
    if (scheme == "swebhdfs") return "https://" + authority;
    const auto known = by_authority.find(authority);
    if (known != by_authority.end()) return "http://" + known->second;
    const size_t colon = authority.find(':');
    const std::string host = authority.substr(0, colon);
    const std::string port = any.find(':') == std::string::npos ? "9870" : any.substr(any.find(':') + 1);
    return "http://" + host + ":" + port;
  };
}

}  // namespace

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

base::Result<NmSettings> ReadNmSettings(const config::Settings& settings) {
  const HadoopConf& conf = settings.conf;
  NmSettings out;
  for (const Unsupported& entry : kUnsupported) {
    const std::string value = conf.IsSet(entry.key) ? conf.String(entry.key) : "";
    if (!value.empty() && value != entry.accepted)
      conf.Refuse(entry.key, std::string(entry.reason) + "; " + entry.remedy);
  }
  out.manager.hmac = ReadTokenHmac(conf);
  out.may_view = ReadViewAccess(conf);
  const std::string manager = conf.String(WebAddressKey(conf, "yarn.resourcemanager.webapp"));
  if (!manager.empty() && !manager.starts_with("0.0.0.0:")) out.cluster_page = WebScheme(conf) + manager;
  ReadIdentity(conf, out);
  ReadTrackers(conf, out);
  ReadSecurity(conf, out);
  ReadExecutor(conf, out);
  ReadCore(conf, out);
  ReadDisks(conf, out);
  ReadServices(conf, out);
  out.localizer.web_address = WebAddresses(conf);
  ReadLogAggregation(conf, out);
  std::vector<env::Endpoint> open{out.manager.listen};
  if (out.web_security.mode != process::login::WebMode::kTickets) open.push_back(out.web);
  out.warnings.push_back(OpenPortsWarning(
      open,
      "whoever reaches them reads the logs of every container (yarn.acl.enable believes the name that a caller gives); "
      "containers are started by the resource manager's tokens alone"));
  std::erase(out.warnings, "");
  if (!conf.errors().empty()) return base::Error{conf.ErrorText()};
  WarnOfUnread(conf, {"yarn.nodemanager.", "yarn.log-aggregation", "fairlead.nm."}, "this node agent", out.warnings);
  out.hosts = ReadKnownHosts(conf, out.warnings);
  out.hosts.AddName(out.manager.host);
  return out;
}

}  // namespace fairlead::shell
