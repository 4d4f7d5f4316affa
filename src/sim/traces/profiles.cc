#include "sim/traces/profiles.h"

#include <optional>

#include "scheduler/fairlead/fairlead.h"
#include "scheduler/spark_standalone/standalone.h"
#include "scheduler/tdw/tdw.h"
#include "scheduler/yarn_fair/yarn_fair.h"

namespace fairlead::sim {
namespace {

base::Result<std::unique_ptr<scheduler::Scheduler>> MakeYarn(const ProfileOptions& options) {
  std::map<std::string, std::string> keys = {{"yarn.scheduler.fair.assignmultiple", "true"},
                                             {"yarn.scheduler.fair.preemption", options.preemption ? "true" : "false"},
                                             // Traces ask for what they ask for: no cap but the nodes themselves.
                                             {"yarn.scheduler.maximum-allocation-mb", "1048576"},
                                             {"yarn.scheduler.maximum-allocation-vcores", "1024"}};
  for (const auto& [key, value] : options.hadoop_keys) keys[key] = value;
  const auto lookup = [&](const std::string& key) -> std::optional<std::string> {
    const auto it = keys.find(key);
    return it == keys.end() ? std::nullopt : std::optional(it->second);
  };
  const auto config = scheduler::yarn_fair::ReadConfig(lookup, "3.4.3", keys);
  if (!config) return config.error();
  return std::unique_ptr<scheduler::Scheduler>(scheduler::yarn_fair::MakeYarnFair(*config, options.queues));
}

}  // namespace

const std::vector<std::string>& ProfileNames() {
  static const std::vector<std::string> kNames = {"fairlead", "yarn-fair", "tdw", "spark-standalone"};
  return kNames;
}

base::Result<Profile> MakeProfile(const std::string& name, const ProfileOptions& options) {
  Profile profile;
  profile.setup.queues = options.queues;
  if (name == "yarn-fair") {
    auto yarn = MakeYarn(options);
    if (!yarn) return yarn.error();
    profile.scheduler = std::move(*yarn);
    profile.setup.node_heartbeat_ms = options.node_heartbeat_ms;
    return profile;
  }
  if (const base::Status tree = scheduler::CheckQueueTree(options.queues); !tree) return tree.error();
  scheduler::FairleadConfig config;
  config.queues = options.queues;
  config.preemption.enabled = options.preemption;
  if (name == "fairlead") {
    profile.scheduler = scheduler::MakeFairlead(config);
  } else if (name == "tdw") {
    scheduler::TdwConfig tdw;
    tdw.base = config;
    tdw.preemption = options.preemption;
    profile.scheduler = scheduler::MakeTdw(tdw);
    profile.setup.pushed_grants = true;
  } else if (name == "spark-standalone") {
    profile.scheduler = scheduler::MakeStandalone({config});
    profile.setup.pushed_grants = true;
  } else {
    return base::Error{"no profile \"" + name + "\"; there are fairlead, yarn-fair, tdw and spark-standalone"};
  }
  return profile;
}

}  // namespace fairlead::sim
