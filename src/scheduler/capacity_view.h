#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/capacity_queues.h"
#include "model/resources.h"

// What `yarn-capacity` shows of a queue besides what every profile does (QueueView), as Hadoop's pages and clients have
// it. Shares are fractions of 1, floats as Java computes them.

namespace fairlead::scheduler {

/// One partition of a queue (QueueCapacities, QueueResourceQuotas, ResourceUsage).
// Large on purpose: one field for each thing that Hadoop shows of a partition.
struct CapacityPartition {
  std::string configured;  // the capacity as it is written: "[memory-mb=50.0%,vcores=50.0%]"
  std::vector<std::pair<std::string, std::string>> configured_types;  // by type: "50.0%"
  float share = 0;                                                    // of the parent's
  float maximum = 0;                                                  // of the parent's
  float absolute = 0;
  float absolute_maximum = 0;
  float used_share = 0;  // of the guaranteed amount
  float absolute_used = 0;
  float masters_share = 0;  // maximum-am-resource-percent
  float weight = -1;
  float normalized_weight = 0;
  model::Resources configured_min;
  model::Resources configured_max;
  model::Resources effective_min;
  model::Resources effective_max;
  model::Resources used;
  model::Resources pending;
  model::Resources reserved;
  model::Resources masters_used;
  model::Resources masters_limit;
  model::Resources user_masters_limit;  // of a leaf: of a user without a weight
};

struct CapacityUser {
  std::map<std::string, CapacityPartition> partitions;  // the amounts of it
  model::Resources used;                                // of the default partition
  model::Resources masters_used;
  int32_t active_apps = 0;
  int32_t pending_apps = 0;
  model::Resources limit;
  float weight = 1;
  bool active = false;
};

/// What the scheduler did lately (SchedulerHealth).
struct CapacityHealth {
  /// The last one of a kind; names are empty before there was one.
  struct Last {
    std::string node;       // "host:port"
    std::string container;  // empty, too, where it had no id yet
    std::string queue;
  };
  /// All of a kind in the last run.
  struct Sum {
    int64_t count = 0;
    model::Resources resources;
  };
  std::optional<base::Instant> last_run;
  Last allocation;
  Last release;
  Last preemption;
  Last reservation;
  Sum released;
  Sum allocated;
  Sum reserved;
};

// Large on purpose: one field for each thing that Hadoop shows of a queue.
struct CapacityView {
  model::CapacityQueueState state = model::CapacityQueueState::kRunning;
  std::map<std::string, CapacityPartition> partitions;  // by label, "" the default one
  int32_t apps = 0;
  std::vector<std::string> children;  // names, in the scheduler's own order
  std::string mode;                   // percentage, weight, absolute, mixed
  bool absolute = false;
  bool dynamic = false;
  bool makes_queues = false;
  std::vector<std::string> labels;  // accessible ones; "*": all
  std::string default_label;
  int32_t priority = 0;
  int32_t max_parallel_apps = 0;
  model::Resources maximum_allocation;
  bool preemption_disabled = false;
  bool intra_queue_preemption_disabled = false;
  // Of leaves.
  int32_t active_apps = 0;
  int32_t pending_apps = 0;
  int32_t max_apps = 0;
  int32_t max_apps_per_user = 0;
  float user_limit = 0;
  float user_limit_factor = 0;
  float masters_share = 0;
  int32_t default_priority = 0;
  std::map<std::string, CapacityUser> users;
  std::optional<CapacityHealth> health;  // of the root: the scheduler's
};

}  // namespace fairlead::scheduler
