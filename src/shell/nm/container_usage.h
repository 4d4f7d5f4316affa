#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/time.h"
#include "model/nm.h"

namespace fairlead::shell {

/// Adds up what containers' process trees use, from /proc (Hadoop: ContainersMonitorImpl, ProcfsBasedProcessTree).
class UsageMeter {
 public:
  struct Tree {
    model::ContainerId container;
    int64_t supervisor = 0;  // its descendants are the container
    bool enforced = false;   // the kernel holds its memory limit
  };
  explicit UsageMeter(base::Duration interval) : interval_(interval) {}

  /// Once in each interval, with all containers that run.
  model::nm::Usage Measure(const std::vector<Tree>& trees);

 private:
  const base::Duration interval_;
  std::map<model::ContainerId, uint64_t> ticks_;  // of the last time
};

}  // namespace fairlead::shell
