#include "config/rm_members.h"

#include <map>
#include <string_view>
#include <utility>

namespace fairlead::config {

namespace {
constexpr char kHostname[] = "yarn.resourcemanager.hostname";
struct Address {
  const char* key;
  const char* port;
};
constexpr Address kAddresses[] = {
    {"yarn.resourcemanager.address", "8032"},
    {"yarn.resourcemanager.scheduler.address", "8030"},
    {"yarn.resourcemanager.resource-tracker.address", "8031"},
    {"yarn.resourcemanager.admin.address", "8033"},
    {"yarn.resourcemanager.webapp.address", "8088"},
    {"yarn.resourcemanager.webapp.https.address", "8090"},
};
}  // namespace

std::vector<std::string> RmIds(const HadoopConf& conf) {
  if (!conf.Bool("yarn.resourcemanager.ha.enabled", false)) return {};
  return conf.List("yarn.resourcemanager.ha.rm-ids");
}

base::Result<HadoopConf> OfMember(const HadoopConf& conf, const std::string& id) {
  const std::string host = conf.String(std::string(kHostname) + "." + id);
  std::map<std::string, std::string> own;
  if (!host.empty()) own[kHostname] = host;
  for (const Address& address : kAddresses) {
    const std::string key = std::string(address.key) + "." + id;
    std::string value = conf.String(key);
    if (value.empty() && !host.empty()) value = host + ":" + address.port;
    if (value.empty() && std::string_view(address.key).find(".https.") != std::string_view::npos) continue;
    if (value.empty()) {
      return base::Error{"the resource manager " + id + " has no address: write " + key + " or " + kHostname + "." +
                         id};
    }
    own[address.key] = std::move(value);
  }
  HadoopConf out = conf;
  for (const auto& [key, value] : own) out.Set(key, value);
  return out;
}

base::Result<std::vector<std::string>> OfEveryMember(const HadoopConf& conf, const std::string& key) {
  const std::vector<std::string> ids = RmIds(conf);
  if (ids.empty()) return std::vector<std::string>{conf.String(key)};
  std::vector<std::string> out;
  for (const std::string& id : ids) {
    const base::Result<HadoopConf> member = OfMember(conf, id);
    if (!member.ok()) return member.error();
    out.push_back(member->String(key));
  }
  return out;
}

}  // namespace fairlead::config
