#include "shell/rm/settings.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "config/allocation_file.h"
#include "config/hadoop_conf.h"
#include "config/rm_members.h"
#include "env_posix/host_names.h"
#include "env_posix/posix_loop.h"
#include "profiles/profile.h"
#include "profiles/sizes.h"
#include "shell/base/known_hosts.h"
#include "shell/base/open_ports.h"
#include "shell/base/service_policy.h"
#include "shell/base/settings.h"
#include "shell/base/token_hmac.h"
#include "shell/base/view_access.h"
#include "shell/callers/callers.h"
#include "shell/kerberos/server_principal.h"
#include "shell/rm/keys.h"
#include "shell/rm/rack_lookup.h"
#include "shell/rm/token_issuers.h"
#include "shell/rm/unread_rights.h"
#include "shell/tls/tls.h"

namespace fairlead::shell {

using config::HadoopConf;

namespace {

constexpr char kFairScheduler[] = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler";
constexpr char kCapacityScheduler[] =
    "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler";

base::Result<env::Endpoint> Address(const HadoopConf& conf, const char* key, uint16_t default_port, bool loopback) {
  base::Result<env::Endpoint> endpoint = env::ParseEndpoint(conf.String(key), default_port);
  if (!endpoint.ok()) return base::Error{std::string(key) + ": " + endpoint.error().message};
  if (loopback && !conf.IsSet(key)) endpoint->host = "127.0.0.1";
  if (conf.IsSet("yarn.resourcemanager.bind-host")) {
    if (const std::string bind = conf.String("yarn.resourcemanager.bind-host"); !bind.empty()) endpoint->host = bind;
  }
  return endpoint;
}

base::Status ReadAddresses(const HadoopConf& conf, RmSettings& out) {
  const char* hostname = "yarn.resourcemanager.hostname";
  const bool loopback = !conf.IsSet(hostname);
  (void)conf.String(hostname);  // no key without effect, also where every address is written
  const bool https = IsHttpsOnly(conf);
  const std::string web_key = WebAddressKey(conf, "yarn.resourcemanager.webapp");
  struct Listener {
    const char* key;
    uint16_t port;
    env::Endpoint* endpoint;
  };
  const Listener listeners[] = {
      {"yarn.resourcemanager.address", 8032, &out.manager.ports.client},
      {"yarn.resourcemanager.scheduler.address", 8030, &out.manager.ports.scheduler},
      {"yarn.resourcemanager.resource-tracker.address", 8031, &out.manager.ports.tracker},
      {"yarn.resourcemanager.admin.address", 8033, &out.manager.ports.admin},
      {web_key.c_str(), static_cast<uint16_t>(https ? 8090 : 8088), &out.web},
  };
  std::vector<env::Endpoint> bound;
  for (const Listener& listener : listeners) {
    base::Result<env::Endpoint> endpoint = Address(conf, listener.key, listener.port, loopback);
    if (!endpoint.ok()) return endpoint.error();
    if (endpoint->host.find("${") != std::string::npos) conf.Refuse(listener.key, endpoint->host + " has no value");
    for (size_t i = 0; i < bound.size(); ++i) {
      if (endpoint->port != 0 && bound[i] == *endpoint)
        conf.Refuse(listener.key, std::string("this is ") + listeners[i].key + ", too; write another port");
    }
    *listener.endpoint = *endpoint;
    bound.push_back(*endpoint);
  }
  if (IsKerberos(conf) || KnowsCallers(conf)) bound.clear();  // callers show who they are
  out.warnings.push_back(OpenPortsWarning(
      bound,
      "whoever reaches them runs programs on the nodes under any user's name, joins as a node and gets the keys of all "
      "tokens, and administers the cluster (yarn.acl.enable, yarn.admin.acl and "
      "yarn.resourcemanager.nodes.include-path "
      "believe the names that callers give)"));
  std::erase(out.warnings, "");
  base::Result<env::Endpoint> shown = env::ParseEndpoint(conf.String(web_key), 8088);
  std::string host = shown.ok() ? shown->host : "localhost";
  if (loopback && !conf.IsSet(web_key)) host = "localhost";
  if (host == "0.0.0.0" || host == "::") host = "localhost";
  if (const char* key = "yarn.web-proxy.address"; conf.IsSet(key) && !conf.String(key).empty()) {
    const base::Result<env::Endpoint> named = env::ParseEndpoint(conf.String(key), 9099);
    if (!named.ok()) return base::Error{std::string(key) + ": " + named.error().message};
    out.manager.core.proxy_base = WebScheme(conf) + named->ToString();
    out.proxy = *named;
    if (*named == out.web) conf.Refuse(key, "this is " + web_key + "; write another port, or drop it");
  }
  out.manager.core.web_base = WebScheme(conf) + host + ":" + std::to_string(out.web.port);
  return {};
}

/// yarn.resource-types, and the sizes of requests for each type.
base::Status ReadResources(const HadoopConf& conf, fairlead::rm::Config& core) {
  for (const std::string& name : conf.List("yarn.resource-types")) {
    if (model::ResourceTypes::Add(name) < 0) {
      return base::Error{"yarn.resource-types: more than " + std::to_string(model::Resources::kMaxTypes) +
                         " resource types are not supported; drop some"};
    }
  }
  const base::Result<profiles::ContainerSizes> sizes = profiles::ReadSizes(conf);
  if (!sizes) return sizes.error();
  core.minimum = sizes->minimum;
  core.maximum = sizes->maximum;
  core.increment = sizes->increment;
  return {};
}

/// As Hadoop's secret managers: every key becomes known before the next one comes.
void RequireRoll(const HadoopConf& conf, const char* tokens, base::Duration roll, const char* expiry_key,
                 base::Duration expiry) {
  if (roll.ns > expiry.ns * 3) return;
  conf.Refuse("yarn.resourcemanager." + std::string(tokens) + ".master-key-rolling-interval-secs",
              std::to_string(roll.millis() / 1000) + " is too short, write more than 3 x " + expiry_key + ", " +
                  std::to_string(expiry.millis() * 3 / 1000) + " seconds");
}

/// What follows from several keys.
void ReadLimits(const HadoopConf& conf, RmSettings& out) {
  ReadManagerKeys(conf, out);
  process::rm::ResourceManagerOptions& manager = out.manager;
  const fairlead::rm::Config& core = manager.core;
  if (!manager.recovery) {
    out.warnings.push_back(
        "yarn.resourcemanager.recovery.enabled is false: no application is stored, and those that an earlier run has "
        "stored are forgotten for good; a restart ends whatever runs");
  }
  manager.keys.node_activation = {core.node_expiry.ns / 2 * 3};
  manager.keys.master_activation = {core.master_expiry.ns / 2 * 3};
  const char* nodes = "yarn.nm.liveness-monitor.expiry-interval-ms";
  RequireRoll(conf, "am-rm-tokens", manager.keys.amrm_roll, "yarn.am.liveness-monitor.expiry-interval-ms",
              core.master_expiry);
  RequireRoll(conf, "nm-tokens", manager.keys.node_roll, nodes, core.node_expiry);
  RequireRoll(conf, "container-tokens", manager.keys.container_roll, nodes, core.node_expiry);
  manager.keys.container_token_life = core.grant_expiry;
  manager.keys.hmac = ReadTokenHmac(conf);
  manager.core.acls = conf.Bool("yarn.acl.enable", false);
  manager.admin_acl = ReadAdministrators(conf);
}

/// Who the manager is and who may be a node, where Kerberos says who calls.
void ReadSecurity(const HadoopConf& conf, RmSettings& out) {
  process::rm::ResourceManagerOptions& manager = out.manager;
  manager.security.protections = ReadProtections(conf);
  out.web_identity =
      ReadWebIdentity(conf, "yarn.resourcemanager.webapp", out.web.host, manager.security.web, out.warnings);
  manager.security.web.https = IsHttpsOnly(conf);
  manager.security.web.strict_transport = StrictTransport(conf);
  if (manager.security.web.https) std::ranges::move(ReadServerTls(conf).warnings, std::back_inserter(out.warnings));
  ReadCallers(conf, manager.security.web, out.warnings);
  if (manager.security.web.callers && out.ha && out.ha->elector.identity.empty()) {
    conf.Refuse("hadoop.zk.auth",
                "with fairlead.auth=credentials managers know each other by the identity that they have in ZooKeeper, "
                "and there is none; write digest:USER:PASSWORD, or @FILE that holds it");
  }
  if (!IsKerberos(conf)) return;
  out.kerberos = ReadDaemonIdentity(conf, "yarn.resourcemanager", manager.ports.client.host);
  manager.security.manager_principal = out.kerberos->principal;
  const std::string of_managers = ServerPrincipal(conf, kManagerPrincipal);
  if (out.ha) out.ha->principal = of_managers;
  manager.security.node_principal = conf.String(kNodePrincipal, "");
  manager.token_issuers = ReadTokenIssuers(conf);
  if (manager.security.node_principal.empty()) {
    conf.Refuse(kNodePrincipal, "with Kerberos nobody else may be a node; write SERVICE/_HOST@REALM");
  }
  if (manager.security.node_principal.find("/_HOST@") != std::string::npos) {
    manager.security.admission.node_at = [node = manager.security.node_principal](const std::string& address) {
      return PrincipalAt(node, address);
    };
  }
}

std::string StateDirectory(const HadoopConf& conf) {
  if (conf.IsSet("fairlead.rm.state-dir")) return conf.String("fairlead.rm.state-dir");
  std::string uri = conf.IsSet("yarn.resourcemanager.fs.state-store.uri")
                        ? conf.String("yarn.resourcemanager.fs.state-store.uri")
                        : "";
  if (uri.starts_with("file:")) {
    uri.erase(0, 5);
    while (uri.starts_with("//")) uri.erase(0, 1);
    return uri;
  }
  return conf.String("hadoop.tmp.dir", "/tmp/hadoop") + "/yarn/system/rmstore";
}

base::Result<std::string> ReadSmallFile(const std::string& file) {
  std::error_code error;
  const auto type = std::filesystem::status(file, error).type();
  if (type == std::filesystem::file_type::fifo) return base::Error{"it is a pipe, for which a manager would wait"};
  return env_posix::MakePosixDisk()->ReadFile(file, uint64_t{16} << 20);
}

base::Result<std::string> ReadQueueFile(const std::string& file) {
  base::Result<std::string> text = ReadSmallFile(file);
  if (!text.ok()) return base::Error{file + ": " + text.error().message};
  return text;
}

base::Result<model::QueueTree> ReadQueues(const profiles::QueueFile& form, const std::string& file,
                                          const HadoopConf& site, std::vector<std::string>& warnings) {
  const base::Result<std::string> text = ReadQueueFile(file);
  if (!text.ok()) return text.error();
  return profiles::ParseWithIncluded(form, *text, file, site, ReadSmallFile, warnings);
}

constexpr char kConfStore[] = "yarn.scheduler.configuration.store.class";
constexpr char kConfPolicy[] = "yarn.scheduler.configuration.mutation.acl-policy.class";

/// YarnConfigurationStoreFactory. All that keep something keep it in the manager's state here.
bool ChangesAreTaken(const HadoopConf& conf) {
  const std::string store = conf.String(kConfStore, "file");
  for (const char* name : {"memory", "leveldb", "zk", "fs"}) {
    if (store == name) return true;
  }
  if (store != "file") conf.Refuse(kConfStore, "'" + store + "' is no store; write file, memory, leveldb, zk or fs");
  return false;
}

bool QueueAdminsMayChange(const HadoopConf& conf) {
  const std::string policy = conf.String(kConfPolicy);
  if (policy.ends_with(".QueueAdminConfigurationMutationACLPolicy")) return true;
  if (!policy.empty() && !policy.ends_with(".DefaultConfigurationMutationACLPolicy")) {
    conf.Refuse(kConfPolicy, policy + " is not supported; write the class of Hadoop's default or of its queue admins");
  }
  return false;
}

/// Queues that `yarn schedulerconf` changes: those stored, at the first start the file's.
base::Result<model::QueueTree> KeptQueues(const profiles::QueueFile& form, const std::string& file,
                                          const HadoopConf& site, env::Store* store, RmSettings& out) {
  process::rm::SchedulerConfOptions conf;
  conf.kept = site.String(kConfStore) != "memory";
  conf.queue_admins = QueueAdminsMayChange(site);
  conf.read_file = [&form, file, site]() -> base::Result<config::Properties> {
    const base::Result<std::string> text = ReadQueueFile(file);
    if (!text.ok()) return text.error();
    base::Result<config::Properties> keys = form.keys(*text, file);
    if (!keys.ok()) return keys.error();
    if (const base::Status included = form.include(*keys, site, ReadSmallFile); !included)
      return base::Error{file + ": " + included.error().message};
    return keys;
  };
  conf.parse = [&form, site](const config::Properties& keys, std::vector<std::string>& warnings) {
    return form.from_keys(keys, "the stored configuration", site, warnings);
  };
  if (conf.kept && store != nullptr) {
    auto stored = process::rm::LoadSchedulerConf(*store);
    if (!stored.ok()) return stored.error();
    if (*stored) conf.start = std::move(**stored);
  }
  if (conf.start.version == 0) {
    base::Result<config::Properties> keys = conf.read_file();
    if (!keys.ok()) return keys.error();
    conf.start.keys = std::move(*keys);
  }
  model::QueueTree tree = conf.parse(conf.start.keys, out.warnings);
  out.manager.scheduler_conf = std::move(conf);
  return tree;
}

/// Fairlead's own file gives them, or the profile's file, or there are none.
base::Result<model::QueueTree> FindQueues(const config::Settings& settings, const std::string& conf_directory,
                                          const profiles::QueueFile& form, env::Store* store, RmSettings& out) {
  if (settings.queues) return *settings.queues;
  std::string file = settings.conf.String(form.key, form.name);
  if (!file.starts_with("/") && !conf_directory.empty())
    file = std::filesystem::absolute(conf_directory).lexically_normal() / file;
  const bool kept = form.keys != nullptr && ChangesAreTaken(settings.conf);
  if (kept || (file.starts_with("/") && env_posix::MakePosixDisk()->Stat(file).ok())) {
    out.allocation_file = file;
    if (kept) return KeptQueues(form, file, settings.conf, store, out);
    return ReadQueues(form, file, settings.conf, out.warnings);
  }
  if (settings.conf.IsSet(form.key)) settings.conf.Refuse(form.key, file + " is not there; write the path of the file");
  return model::QueueTree{};
}

/// All that is wrong, each thing once.
class Findings {
 public:
  void Note(const base::Status& status) {
    if (!status.ok()) Note(status.error().message);
  }
  void Note(const std::string& message) {
    if (std::ranges::find(lines_, message) == lines_.end()) lines_.push_back(message);
  }
  bool empty() const { return lines_.empty(); }
  base::Error All() const {
    std::string text;
    for (const std::string& line : lines_) text += (text.empty() ? "" : "\n") + line;
    return base::Error{text};
  }

 private:
  std::vector<std::string> lines_;
};

/// Each value that is wrong, with its place, where that is known; else what the scheduler says first; and what it says
/// besides.
void NoteRefusedQueues(const profiles::QueueFile& form, const HadoopConf& site, const RmSettings& out,
                       const std::string& refusal, Findings& wrong) {
  const bool from_file = !out.allocation_file.empty() && !out.manager.scheduler_conf;
  std::vector<std::string> faults;
  if (form.faults != nullptr && from_file) {
    if (const auto text = ReadQueueFile(out.allocation_file); text.ok())
      faults = form.faults(*text, out.allocation_file, site);
  }
  for (const std::string& fault : faults) wrong.Note(fault);
  std::istringstream lines(refusal);
  std::string line;
  if (!faults.empty()) std::getline(lines, line);
  while (std::getline(lines, line)) wrong.Note(line);
}

/// Profile, its queues, and the scheduler made of both.
void ReadProfile(const config::Settings& settings, const std::string& conf_directory, env::Store* store,
                 RmSettings& out, Findings& wrong) {
  const char* key = "fairlead.scheduler.profile";
  const ProfileChoice choice = ChooseProfile(settings.conf, conf_directory);
  out.manager.profile = choice.name;
  out.profile_because = choice.because;
  const profiles::Profile* profile = profiles::Find(out.manager.profile);
  out.watches_queues = profile != nullptr && profile->queue_file.watched;
  model::QueueTree queues;
  if (profile != nullptr) {
    base::Result<model::QueueTree> found = FindQueues(settings, conf_directory, profile->queue_file, store, out);
    if (found.ok()) {
      queues = std::move(*found);
    } else {
      wrong.Note(found.error().message);  // and without queues what else is wrong
    }
  }
  base::Result<profiles::Maker> maker = profiles::Read(out.manager.profile, settings.conf, queues);
  if (profile == nullptr) {
    return settings.conf.Refuse(key, maker.error().message);
  }
  if (!maker.ok()) return NoteRefusedQueues(profile->queue_file, settings.conf, out, maker.error().message, wrong);
  process::rm::ResourceManagerOptions& manager = out.manager;
  manager.make_scheduler = std::move(*maker);
  manager.hadoop_scheduler = profile->hadoop_name;
  manager.grants_by_heartbeat = profile->by_heartbeat;
  manager.core.node_labels = settings.conf.Bool("yarn.node-labels.enabled", false);
  if (manager.core.node_labels && profile->hadoop_name != "CapacityScheduler") {
    settings.conf.Refuse("yarn.node-labels.enabled", "profile " + std::string(profile->name) +
                                                         " knows no node labels; write false, or run profile "
                                                         "yarn-capacity");
  }
  if (profile->rounds_to_minimum) manager.core.increment = manager.core.minimum;
  if (const auto wishes = profiles::ReadWishes(profile->name, settings.conf)) queues.wishes = *wishes;
  AddWishWarnings(queues.wishes, out.warnings);
  for (std::string& passed : profiles::PassedOverIn(*profile, queues))
    out.warnings.push_back((out.allocation_file.empty() ? "queues" : out.allocation_file) + ": " + std::move(passed));
  manager.make_other = [site = settings.conf](const std::string& name, const model::QueueTree& tree,
                                              int64_t epoch) -> base::Result<process::ask::OtherProfile> {
    // A copy, because reading notes in it what is wrong.
    const base::Result<profiles::Maker> other = profiles::Read(name, config::HadoopConf(site), tree);
    if (!other.ok()) return other.error();
    const profiles::Profile& found = *profiles::Find(name);
    return process::ask::OtherProfile{name, (*other)(epoch), found.by_heartbeat, profiles::PassedOverIn(found, tree)};
  };
  manager.core.queues = std::move(queues);
  manager.read_queues = [&form = profile->queue_file, file = out.allocation_file, site = settings.conf,
                         same = manager.core.queues](auto& warnings) -> base::Result<model::QueueTree> {
    if (file.empty()) return same;
    return ReadQueues(form, file, site, warnings);
  };
}

constexpr char kIncludePath[] = "yarn.resourcemanager.nodes.include-path";
constexpr char kExcludePath[] = "yarn.resourcemanager.nodes.exclude-path";

base::Result<config::HostList> ReadHostFile(const std::string& path) {
  if (path.empty()) return config::HostList{};
  const auto disk = env_posix::MakePosixDisk();
  base::Result<std::string> text = disk->ReadFile(path, uint64_t{16} << 20);
  if (!text.ok()) return base::Error{path + ": " + text.error().message};
  if (!path.ends_with(".xml")) return config::ParseHostList(*text);
  base::Result<config::HostList> list = config::ParseHostListXml(*text);
  if (!list.ok()) return base::Error{path + ": " + list.error().message};
  return list;
}

}  // namespace

base::Result<model::rm::RefreshNodes> ReadHostLists(const config::HadoopConf& conf) {
  model::rm::RefreshNodes lists;
  const std::string include = conf.String(kIncludePath);
  const std::string exclude = conf.String(kExcludePath);
  for (const std::string& path : {include, exclude}) {
    if (path.empty() || env_posix::MakePosixDisk()->Stat(path).ok()) continue;
    return base::Error{"java.nio.file.NoSuchFileException: " + path};
  }
  base::Result<config::HostList> in = ReadHostFile(include);
  if (!in.ok()) return in.error();
  base::Result<config::HostList> ex = ReadHostFile(exclude);
  if (!ex.ok()) return ex.error();
  lists.include = std::move(in->names);
  lists.exclude = std::move(ex->names);
  lists.timeouts_s = std::move(ex->timeouts_s);
  return lists;
}

base::Result<process::rm::AdmissionRules> ReadAdmissionRules(const config::HadoopConf& conf,
                                                             const std::string& conf_directory) {
  process::rm::AdmissionRules rules;
  base::Result<config::ProxyUsers> proxies = config::ProxyUsers::Read(conf, AddressesOf);
  if (!proxies.ok()) return proxies.error();
  rules.proxies = std::move(*proxies);
  auto policy = ReadServicePolicy(conf, conf_directory, process::rm::ManagerServices());
  if (!policy.ok()) return policy.error();
  rules.policy = std::move(*policy);
  return rules;
}

void AddWishWarnings(const model::Wishes& wishes, std::vector<std::string>& warnings) {
  for (const std::string& told : model::WithoutEffect(wishes))
    warnings.push_back(std::string(profiles::kWishesKey) + ": " + told);
}

ProfileChoice ChooseProfile(const HadoopConf& conf, const std::string& conf_directory) {
  const char* own = "fairlead.scheduler.profile";
  if (conf.IsSet(own)) return {conf.String(own), own};
  const char* scheduler = "yarn.resourcemanager.scheduler.class";
  const std::string value = conf.IsSet(scheduler) ? conf.String(scheduler) : "";
  const std::string because = std::string(scheduler) + " is " + value;
  if (value == kCapacityScheduler) return {"yarn-capacity", because};
  if (value == kFairScheduler) return {"fairlead", because};
  if (!value.empty()) {
    conf.Refuse(scheduler, value + " is not supported; write " + kFairScheduler + " or " + kCapacityScheduler);
    return {"fairlead", because};
  }
  const auto has = [&](const char* file) {
    return !conf_directory.empty() && env_posix::MakePosixDisk()->Stat(conf_directory + "/" + file).ok();
  };
  if (has("capacity-scheduler.xml") && !has("fair-scheduler.xml")) {
    return {"yarn-capacity", conf_directory + " has a capacity-scheduler.xml and no fair-scheduler.xml"};
  }
  return {"fairlead", "it is the default"};
}

namespace {

/// A session of ZooKeeper is what a manager that dies without a word still leads for.
void WarnOfLongSession(const HaSettings& ha, std::vector<std::string>& warnings) {
  constexpr base::Duration kLong = base::Duration::Seconds(5);
  if (ha.elector.timeout <= kLong) return;
  warnings.push_back("yarn.resourcemanager.zk-timeout-ms (or hadoop.zk.timeout-ms) is " +
                     std::to_string(ha.elector.timeout.ns / 1'000'000) +
                     ": when the manager that leads dies, the others wait as long before one takes over; Hadoop's "
                     "managers need that while they collect garbage, here 2000, the default, is enough");
}

/// A key below yarn.webapp. that is nearly one that is read is found by both.
void WarnOfKeysWithoutEffect(const HadoopConf& conf, RmSettings& out) {
  const std::string daemon = "this resource manager with profile " + out.manager.profile;
  WarnOfUnread(conf,
               {"yarn.resourcemanager.", "yarn.scheduler.", "yarn.node-labels.", "fairlead.scheduler.", "fairlead.rm."},
               daemon, out.warnings);
  for (const UnreadRight& right : UnreadRights(conf)) {
    std::string line = right.key + " has no effect on " + daemon;
    if (!right.near.empty()) line += "; did you mean '" + right.near + "'?";
    if (std::ranges::find(out.warnings, line) == out.warnings.end()) out.warnings.push_back(std::move(line));
  }
}

/// What of the configuration is this member's.
base::Status BecomeMember(config::Settings& settings, RmSettings& out) {
  out.ha = ReadHaSettings(settings.conf);
  if (!out.ha) return {};
  base::Result<HadoopConf> own = config::OfMember(settings.conf, out.ha->id);
  if (!own.ok()) return own.error();
  settings.conf = std::move(*own);
  WarnOfLongSession(*out.ha, out.warnings);
  return {};
}

}  // namespace

base::Result<RmSettings> ReadRmSettings(const config::Settings& given, const std::string& conf_directory,
                                        env::Store* store, std::vector<std::string>* of_refused) {
  RmSettings out;
  Findings wrong;
  config::Settings settings = given;
  wrong.Note(BecomeMember(settings, out));
  const HadoopConf& conf = settings.conf;
  RefuseUnsupportedOfManager(conf);
  wrong.Note(ReadResources(conf, out.manager.core));
  wrong.Note(ReadAddresses(conf, out));
  ReadLimits(conf, out);
  ReadSecurity(conf, out);
  out.manager.cluster_name = conf.String("yarn.resourcemanager.cluster-id");
  out.state_directory = StateDirectory(conf);
  if (out.ha) out.state_directory += "/" + out.ha->id;
  const std::string include = conf.String(kIncludePath);
  const std::string exclude = conf.String(kExcludePath);
  for (auto [path, list] :
       {std::pair{&include, &out.manager.core.include_hosts}, std::pair{&exclude, &out.manager.core.exclude_hosts}}) {
    if (!path->empty() && !env_posix::MakePosixDisk()->Stat(*path).ok()) {
      // NodesListManager.disableHostsFileReader: a file that is not there yet is no reason not to start.
      out.warnings.push_back(*path + " is not there: the list of hosts counts as empty until refreshNodes finds it");
      continue;
    }
    base::Result<config::HostList> hosts = ReadHostFile(*path);
    if (hosts.ok()) {
      *list = std::move(hosts->names);
    } else {
      wrong.Note(hosts.error().message);
    }
  }
  ReadProfile(settings, conf_directory, store, out, wrong);
  base::Result<std::function<std::string(const std::string&)>> racks = RackLookup(conf);
  if (racks.ok()) {
    out.manager.rack_of = std::move(*racks);
  } else {
    wrong.Note(racks.error().message);
  }
  out.manager.groups_of = ReadGroupLookup(conf);
  base::Result<process::rm::AdmissionRules> rules = ReadAdmissionRules(conf, conf_directory);
  if (rules.ok()) {
    out.manager.security.admission.rules = std::move(*rules);
  } else {
    wrong.Note(rules.error().message);
  }
  out.manager.security.admission.groups_of = out.manager.groups_of;
  out.manager.renewal.issue = ReadIssueRules(conf, env_posix::Ipv4Of);
  // Lists may name a host by its address, and nodes that the kernel's word makes known are on this machine.
  if (!include.empty() || !exclude.empty() || out.manager.security.web.callers) out.manager.ip_of = env_posix::Ipv4Of;
  for (const std::string& error : conf.errors()) wrong.Note(error);
  if (profiles::Find(out.manager.profile) != nullptr) {  // else nobody knows its keys
    WarnOfKeysWithoutEffect(conf, out);
  }
  if (!wrong.empty()) {
    if (of_refused != nullptr) *of_refused = std::move(out.warnings);
    return wrong.All();
  }
  out.hosts = ReadKnownHosts(conf, out.warnings);
  return out;
}

}  // namespace fairlead::shell
