#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "model/queues.h"
#include "scheduler/scheduler.h"
#include "sim/traces/run.h"

namespace fairlead::sim {

struct ProfileOptions {
  model::QueueTree queues;
  bool preemption = false;
  /// Keys of the profile (docs/configuration.md), over the trace's own: nothing is rounded up or too large, and
  /// `yarn-fair` decides as 3.4.3 with assignmultiple on (off, a node gets one container a second).
  std::map<std::string, std::string> keys;
  int64_t node_heartbeat_ms = 1000;  // of a profile that grants by heartbeats
};

struct Profile {
  std::unique_ptr<scheduler::Scheduler> scheduler;
  model::Wishes wishes;
  RunSetup setup;  // how nodes and masters speak to this one
};

/// The production scheduler of that name on a configuration as it is; an error says which setting is wrong.
base::Result<Profile> MakeProfile(const std::string& name, const config::HadoopConf& conf,
                                  const model::QueueTree& queues, int64_t node_heartbeat_ms);
/// The same on the trace's own settings.
base::Result<Profile> MakeProfile(const std::string& name, const ProfileOptions& options);

}  // namespace fairlead::sim
