#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "scheduler/scheduler.h"

namespace fairlead::scheduler {

/// What profile `fairlead` counts of a queue over time (docs/scheduler.md, "Fairness over time").
struct Spending {
  std::optional<int64_t> past_ppm;  // its past use, in millionths of the cluster; nothing: nobody counts it
  std::string budget;               // how much of its budget is used, for people; empty: it has none
};

/// Of the queues that have something of it, by name; empty for other profiles. Cost: the queues.
using Spendings = std::map<std::string, Spending>;
Spendings SpendingsOf(const Scheduler& scheduler);

}  // namespace fairlead::scheduler
