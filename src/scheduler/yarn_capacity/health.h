#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/resources.h"
#include "scheduler/capacity_view.h"

namespace fairlead::scheduler::yarn_capacity {

/// What was done lately, for those who look (SchedulerHealth). No decision reads it, and it does not outlive a restart.
struct Health {
  struct Last {
    std::string node;
    std::string queue;
    std::optional<model::ContainerId> container{};  // a new one has no id when it is proposed
  };

  std::vector<std::string> nodes;  // "host:port", by NodeIndex
  std::optional<int64_t> run_ms;
  Last allocation;
  Last release;
  Last preemption;
  Last reservation;
  CapacityHealth::Sum released;
  CapacityHealth::Sum allocated;
  CapacityHealth::Sum reserved;
};

/// As CapacitySchedulerHealthInfo shows it.
CapacityHealth ShownOf(const Health& health);

}  // namespace fairlead::scheduler::yarn_capacity
