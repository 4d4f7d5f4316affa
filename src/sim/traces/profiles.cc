#include "sim/traces/profiles.h"

#include "profiles/profile.h"

namespace fairlead::sim {
namespace {

config::HadoopConf KeysOf(const std::string& name, const ProfileOptions& options) {
  std::map<std::string, std::string> keys = {{"yarn.scheduler.fair.preemption", options.preemption ? "true" : "false"},
                                             // Traces ask for what they ask for: no cap but the nodes themselves.
                                             {"yarn.scheduler.maximum-allocation-mb", "1048576"},
                                             {"yarn.scheduler.maximum-allocation-vcores", "1024"}};
  if (name == "yarn-fair") {
    keys["yarn.scheduler.fair.assignmultiple"] = "true";
    keys["fairlead.scheduler.yarn-fair.version"] = "3.4.3";
  } else {
    for (const char* type : {"mb", "vcores"}) {
      keys[std::string("yarn.scheduler.minimum-allocation-") + type] = name == "yarn-capacity" ? "1" : "0";
      keys[std::string("yarn.scheduler.increment-allocation-") + type] = "1";
    }
  }
  for (const auto& [key, value] : options.keys) keys[key] = value;
  config::HadoopConf conf;
  for (const auto& [key, value] : keys) conf.Set(key, value);
  return conf;
}

}  // namespace

base::Result<Profile> MakeProfile(const std::string& name, const config::HadoopConf& conf,
                                  const model::QueueTree& queues, int64_t node_heartbeat_ms) {
  const auto maker = profiles::Read(name, conf, queues);
  if (!maker) return maker.error();
  const profiles::Profile& entry = *profiles::Find(name);
  Profile profile;
  profile.scheduler = (*maker)(0);
  if (const auto wishes = profiles::ReadWishes(name, conf)) profile.wishes = *wishes;
  profile.setup.queues = queues;
  profile.setup.pushed_grants = entry.pushes_grants;
  if (entry.by_heartbeat) profile.setup.node_heartbeat_ms = node_heartbeat_ms;
  return profile;
}

base::Result<Profile> MakeProfile(const std::string& name, const ProfileOptions& options) {
  return MakeProfile(name, KeysOf(name, options), options.queues, options.node_heartbeat_ms);
}

}  // namespace fairlead::sim
