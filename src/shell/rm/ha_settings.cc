#include "shell/rm/ha_settings.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "config/rm_members.h"
#include "env_posix/posix_loop.h"
#include "shell/tls/tls.h"

namespace fairlead::shell {

using config::HadoopConf;

namespace {

constexpr char kIds[] = "yarn.resourcemanager.ha.rm-ids";
constexpr char kZkStore[] = "org.apache.hadoop.yarn.server.resourcemanager.recovery.ZKRMStateStore";
/// Hadoop's 10 s are made for managers that stand still while they collect garbage.
constexpr base::Duration kSession = base::Duration::Seconds(2);

/// The key of the two that was written: the older one of ResourceManagers, or that of hadoop-common.
const char* Written(const HadoopConf& conf, const char* older, const char* newer) {
  return conf.IsSet(older) ? older : newer;
}

/// The member that runs here, by its host's name, as HAUtil finds it by its address; "" after a refusal.
std::string OwnId(const HadoopConf& conf, const std::vector<std::string>& ids) {
  const char* key = "yarn.resourcemanager.ha.id";
  const std::string given = conf.String(key);
  if (!given.empty()) {
    if (std::find(ids.begin(), ids.end(), given) != ids.end()) return given;
    conf.Refuse(key, given + " is none of yarn.resourcemanager.ha.rm-ids");
    return "";
  }
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  const std::string host = name;
  std::vector<std::string> here;
  for (const std::string& id : ids) {
    const base::Result<HadoopConf> member = config::OfMember(conf, id);
    if (!member.ok()) continue;  // ReadMembers says it
    const auto address = env::ParseEndpoint(member->String("yarn.resourcemanager.address"), 8032);
    if (address.ok() && (address->host == host || address->host.starts_with(host + "."))) here.push_back(id);
  }
  if (here.size() == 1) return here.front();
  conf.Refuse(key, "which of yarn.resourcemanager.ha.rm-ids runs here does not follow from this host's name (" + host +
                       "): write it here, or start with --set " + key + "=" + ids.front() + " (config check: --as " +
                       ids.front() + ")");
  return "";
}

/// Without an identity nodes are for everybody: whoever has asked for less is told.
void CheckOpenAcl(const HadoopConf& conf) {
  const char* key = Written(conf, "yarn.resourcemanager.zk-acl", "hadoop.zk.acl");
  const std::string acl = conf.String(key);
  if (acl.empty() || acl.starts_with("world:anyone:")) return;
  conf.Refuse(key,
              "without an identity the nodes in ZooKeeper are open to everybody; write one into "
              "yarn.resourcemanager.zk-auth (digest:USER:PASSWORD): the nodes are for it alone then");
}

void ReadIdentity(const HadoopConf& conf, env_zookeeper::ElectorOptions& out) {
  const char* key = Written(conf, "yarn.resourcemanager.zk-auth", "hadoop.zk.auth");
  std::string text = conf.String(key);
  if (text.starts_with("@")) {  // ZKUtil.resolveConfIndirection
    base::Result<std::string> file = env_posix::MakePosixDisk()->ReadFile(text.substr(1), 64 << 10);
    if (!file.ok()) return conf.Refuse(key, file.error().message);
    text = *file;
  }
  text.erase(0, text.find_first_not_of(" \n\t"));
  text.erase(text.find_last_not_of(" \n\t") + 1);
  if (text.empty()) return CheckOpenAcl(conf);
  const size_t colon = text.find(':');
  if (colon == std::string::npos || text.substr(0, colon) != "digest" || text.find(',') != std::string::npos) {
    return conf.Refuse(key, "one identity of the scheme digest is supported; write digest:USER:PASSWORD");
  }
  out.scheme = "digest";
  out.identity = text.substr(colon + 1);
}

void ReadElector(const HadoopConf& conf, const std::string& id, env_zookeeper::ElectorOptions& out) {
  out.servers = conf.String(Written(conf, "yarn.resourcemanager.zk-address", "hadoop.zk.address"));
  if (out.servers.empty()) {
    conf.Refuse("hadoop.zk.address",
                "yarn.resourcemanager.ha.enabled needs ZooKeeper: write its servers here (host:port,host:port)");
  }
  const std::string cluster = conf.String("yarn.resourcemanager.cluster-id");
  if (cluster.empty() || cluster.find('/') != std::string::npos) {
    conf.Refuse("yarn.resourcemanager.cluster-id",
                "write a name without '/'; it tells clusters apart that share a ZooKeeper");
  }
  const std::string parent = conf.String("fairlead.ha.zookeeper-path", "/fairlead");
  if (!parent.starts_with("/") || parent.ends_with("/") || parent.find("//") != std::string::npos) {
    conf.Refuse("fairlead.ha.zookeeper-path", "write a path such as /fairlead");
  }
  out.root = parent + "/" + cluster;
  const char* timeout = Written(conf, "yarn.resourcemanager.zk-timeout-ms", "hadoop.zk.timeout-ms");
  out.timeout = conf.IsSet(timeout) ? conf.Time(timeout, kSession) : kSession;
  if (out.timeout < base::Duration::Millis(200)) {
    conf.Refuse(timeout, "a session shorter than 200 ms ends by itself; write 2000");
  }
  out.id = id;
  out.keys = {"yarn.resourcemanager.zk-auth (or hadoop.zk.auth)",
              "yarn.resourcemanager.cluster-id or fairlead.ha.zookeeper-path", "yarn.resourcemanager.ha.id"};
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  out.about = std::string(host) + ", process " + std::to_string(::getpid());
  ReadIdentity(conf, out);
}

void RefuseWhatManagersCannotShare(const HadoopConf& conf) {
  for (const char* key :
       {"yarn.resourcemanager.ha.automatic-failover.enabled", "yarn.resourcemanager.ha.automatic-failover.embedded"}) {
    if (!conf.Bool(key, true)) conf.Refuse(key, "a failover that somebody must order is not supported; write true");
  }
  const char* store = "yarn.resourcemanager.store.class";
  if (conf.String(store, kZkStore) != kZkStore) {
    conf.Refuse(store, std::string("managers share their state by ZooKeeper alone; write ") + kZkStore);
  }
  if (const char* key = "yarn.resourcemanager.recovery.enabled"; conf.IsSet(key) && !conf.Bool(key, true)) {
    conf.Refuse(key,
                "with yarn.resourcemanager.ha.enabled each takeover would forget the applications that were "
                "acknowledged, and end their containers; write true, or drop it");
  }
}

/// Where each member listens.
void ReadMembers(const HadoopConf& conf, const std::vector<std::string>& ids, HaSettings& out) {
  const auto read = [&](const std::string& member, const HadoopConf& its, const std::string& key, uint16_t port,
                        std::map<std::string, env::Endpoint>& to) {
    const auto endpoint = env::ParseEndpoint(its.String(key), port);
    if (!endpoint.ok()) return conf.Refuse(key + "." + member, endpoint.error().message + "; write host:port");
    to[member] = *endpoint;
  };
  for (const std::string& member : ids) {
    const base::Result<HadoopConf> its = config::OfMember(conf, member);
    if (!its.ok()) {
      conf.Refuse(kIds, its.error().message);
      continue;
    }
    read(member, *its, "yarn.resourcemanager.admin.address", 8033, out.admin);
    read(member, *its, WebAddressKey(conf, "yarn.resourcemanager.webapp"), 8088, out.web);
  }
}

}  // namespace

std::optional<HaSettings> ReadHaSettings(const HadoopConf& conf) {
  if (!conf.Bool("yarn.resourcemanager.ha.enabled", false)) return std::nullopt;
  const size_t before = conf.errors().size();
  HaSettings out;
  const std::vector<std::string> ids = config::RmIds(conf);
  if (ids.size() < 2) {
    conf.Refuse(kIds, "write the ids of two managers, such as rm1,rm2");
  } else {
    out.id = OwnId(conf, ids);
    ReadMembers(conf, ids, out);
  }
  RefuseWhatManagersCannotShare(conf);
  ReadElector(conf, out.id, out.elector);
  if (conf.errors().size() > before) return std::nullopt;
  return out;
}

}  // namespace fairlead::shell
