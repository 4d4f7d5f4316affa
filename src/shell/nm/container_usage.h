#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "env_posix/use_meter.h"
#include "model/nm.h"

namespace fairlead::shell {

/// What the machine and each container use (Hadoop: NodeResourceMonitorImpl, ContainersMonitorImpl): a meter each.
class UsageMeter {
 public:
  struct Tree {
    model::ContainerId container;
    int64_t supervisor = 0;                   // its descendants are the container
    std::vector<std::string> control_groups;  // that count them
    bool enforced = false;                    // the kernel holds its memory limit
  };

  /// `part`: what of this machine is the node's.
  explicit UsageMeter(env_posix::MachinePart part = {}) : part_(std::move(part)) {}

  /// From time to time, with all containers that run.
  model::nm::Usage Measure(base::Instant now, const std::vector<Tree>& trees);

 private:
  env_posix::MachinePart part_;
  env_posix::UseMeter machine_;
  std::map<model::ContainerId, env_posix::UseMeter> containers_;
};

}  // namespace fairlead::shell
