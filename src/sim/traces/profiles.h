#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/queues.h"
#include "scheduler/scheduler.h"
#include "sim/traces/run.h"

namespace fairlead::sim {

struct ProfileOptions {
  model::QueueTree queues;
  bool preemption = false;
  /// Hadoop's keys for `yarn-fair`, over its defaults with assignmultiple on (off, a node gets one container a second).
  std::map<std::string, std::string> hadoop_keys;
  int64_t node_heartbeat_ms = 1000;  // of yarn-fair, the only profile that waits for heartbeats
};

/// "fairlead", "yarn-fair", "tdw", "spark-standalone".
const std::vector<std::string>& ProfileNames();

struct Profile {
  std::unique_ptr<scheduler::Scheduler> scheduler;
  RunSetup setup;  // how nodes and masters speak to this one
};

/// The production scheduler of that name; an error says which setting is wrong.
base::Result<Profile> MakeProfile(const std::string& name, const ProfileOptions& options);

}  // namespace fairlead::sim
