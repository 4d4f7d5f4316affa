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

constexpr char kZkStore[] = "org.apache.hadoop.yarn.server.resourcemanager.recovery.ZKRMStateStore";
/// Hadoop's 10 s are made for managers that stand still while they collect garbage.
constexpr base::Duration kSession = base::Duration::Seconds(2);

/// The older key of ResourceManagers before the one of hadoop-common.
std::string Either(const HadoopConf& conf, const char* older, const char* newer) {
  return conf.IsSet(older) ? conf.String(older) : conf.String(newer);
}

/// The member that runs here, by its host's name, as HAUtil finds it by its address.
base::Result<std::string> OwnId(const HadoopConf& conf, const std::vector<std::string>& ids) {
  const char* key = "yarn.resourcemanager.ha.id";
  const std::string given = conf.String(key);
  if (!given.empty()) {
    if (std::find(ids.begin(), ids.end(), given) != ids.end()) return given;
    return base::Error{std::string(key) + ": " + given + " is none of yarn.resourcemanager.ha.rm-ids"};
  }
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  const std::string host = name;
  std::vector<std::string> here;
  for (const std::string& id : ids) {
    const base::Result<HadoopConf> member = config::OfMember(conf, id);
    if (!member.ok()) return member.error();
    const auto address = env::ParseEndpoint(member->String("yarn.resourcemanager.address"), 8032);
    if (address.ok() && (address->host == host || address->host.starts_with(host + "."))) here.push_back(id);
  }
  if (here.size() == 1) return here.front();
  return base::Error{"which of yarn.resourcemanager.ha.rm-ids runs here does not follow from this host's name (" +
                     host + "): write it into " + key + ", or start with --set " + key + "=" + ids.front()};
}

/// Without an identity nodes are for everybody: whoever has asked for less is told.
base::Status CheckOpenAcl(const HadoopConf& conf) {
  const std::string acl = Either(conf, "yarn.resourcemanager.zk-acl", "hadoop.zk.acl");
  if (acl.empty() || acl.starts_with("world:anyone:")) return {};
  return base::Error{
      "yarn.resourcemanager.zk-acl (or hadoop.zk.acl): without an identity the nodes in ZooKeeper are open to "
      "everybody; "
      "write one into yarn.resourcemanager.zk-auth (digest:USER:PASSWORD): the nodes are for it alone then"};
}

base::Status ReadIdentity(const HadoopConf& conf, env_zookeeper::ElectorOptions& out) {
  std::string text = Either(conf, "yarn.resourcemanager.zk-auth", "hadoop.zk.auth");
  if (text.starts_with("@")) {  // ZKUtil.resolveConfIndirection
    base::Result<std::string> file = env_posix::MakePosixDisk()->ReadFile(text.substr(1), 64 << 10);
    if (!file.ok()) return base::Error{"yarn.resourcemanager.zk-auth: " + file.error().message};
    text = *file;
  }
  text.erase(0, text.find_first_not_of(" \n\t"));
  text.erase(text.find_last_not_of(" \n\t") + 1);
  if (text.empty()) return CheckOpenAcl(conf);
  const size_t colon = text.find(':');
  if (colon == std::string::npos || text.substr(0, colon) != "digest" || text.find(',') != std::string::npos) {
    return base::Error{
        "yarn.resourcemanager.zk-auth: one identity of the scheme digest is supported; write "
        "digest:USER:PASSWORD"};
  }
  out.scheme = "digest";
  out.identity = text.substr(colon + 1);
  return {};
}

base::Status ReadElector(const HadoopConf& conf, const std::string& id, env_zookeeper::ElectorOptions& out) {
  out.servers = Either(conf, "yarn.resourcemanager.zk-address", "hadoop.zk.address");
  if (out.servers.empty()) {
    return base::Error{
        "yarn.resourcemanager.ha.enabled needs ZooKeeper: write its servers into hadoop.zk.address "
        "(host:port,host:port)"};
  }
  const std::string cluster = conf.String("yarn.resourcemanager.cluster-id");
  if (cluster.empty() || cluster.find('/') != std::string::npos) {
    return base::Error{
        "yarn.resourcemanager.cluster-id: write a name without '/'; it tells clusters apart that share "
        "a ZooKeeper"};
  }
  const std::string parent = conf.String("fairlead.ha.zookeeper-path", "/fairlead");
  if (!parent.starts_with("/") || parent.ends_with("/") || parent.find("//") != std::string::npos) {
    return base::Error{"fairlead.ha.zookeeper-path: write a path such as /fairlead"};
  }
  out.root = parent + "/" + cluster;
  const char* timeout =
      conf.IsSet("yarn.resourcemanager.zk-timeout-ms") ? "yarn.resourcemanager.zk-timeout-ms" : "hadoop.zk.timeout-ms";
  out.timeout = conf.IsSet(timeout) ? conf.Time(timeout, kSession) : kSession;
  if (out.timeout < base::Duration::Millis(200)) {
    return base::Error{std::string(timeout) + ": a session shorter than 200 ms ends by itself; write 2000"};
  }
  out.id = id;
  out.keys = {"yarn.resourcemanager.zk-auth (or hadoop.zk.auth)",
              "yarn.resourcemanager.cluster-id or fairlead.ha.zookeeper-path", "yarn.resourcemanager.ha.id"};
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  out.about = std::string(host) + ", process " + std::to_string(::getpid());
  return ReadIdentity(conf, out);
}

}  // namespace

base::Result<std::optional<HaSettings>> ReadHaSettings(const HadoopConf& conf) {
  if (!conf.Bool("yarn.resourcemanager.ha.enabled", false)) return std::optional<HaSettings>();
  const std::vector<std::string> ids = config::RmIds(conf);
  if (ids.size() < 2) {
    return base::Error{"yarn.resourcemanager.ha.rm-ids: write the ids of two managers, such as rm1,rm2"};
  }
  for (const char* key :
       {"yarn.resourcemanager.ha.automatic-failover.enabled", "yarn.resourcemanager.ha.automatic-failover.embedded"}) {
    if (!conf.Bool(key, true)) {
      return base::Error{std::string(key) + ": a failover that somebody must order is not supported; write true"};
    }
  }
  if (const std::string store = conf.String("yarn.resourcemanager.store.class", kZkStore); store != kZkStore) {
    return base::Error{"yarn.resourcemanager.store.class: managers share their state by ZooKeeper alone; write " +
                       std::string(kZkStore)};
  }
  if (const char* key = "yarn.resourcemanager.recovery.enabled"; conf.IsSet(key) && !conf.Bool(key, true)) {
    return base::Error{std::string(key) +
                       ": with yarn.resourcemanager.ha.enabled each takeover would forget the applications that were "
                       "acknowledged, and end their containers; write true, or drop it"};
  }
  HaSettings out;
  base::Result<std::string> id = OwnId(conf, ids);
  if (!id.ok()) return id.error();
  out.id = *id;
  for (const std::string& member : ids) {
    const base::Result<HadoopConf> its = config::OfMember(conf, member);
    if (!its.ok()) return its.error();
    const auto admin = env::ParseEndpoint(its->String("yarn.resourcemanager.admin.address"), 8033);
    const auto web = env::ParseEndpoint(its->String(WebAddressKey(conf, "yarn.resourcemanager.webapp")), 8088);
    if (!admin.ok()) return base::Error{"the admin address of " + member + ": " + admin.error().message};
    if (!web.ok()) return base::Error{"the web address of " + member + ": " + web.error().message};
    out.admin[member] = *admin;
    out.web[member] = *web;
  }
  if (base::Status elector = ReadElector(conf, out.id, out.elector); !elector.ok()) return elector.error();
  return std::optional(std::move(out));
}

}  // namespace fairlead::shell
