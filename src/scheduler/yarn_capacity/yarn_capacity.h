#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/capacity_queues.h"
#include "scheduler/scheduler.h"
#include "scheduler/yarn_capacity/config.h"

namespace fairlead::scheduler::yarn_capacity {

/// Where an application stands in its leaf: served, waiting for room for its master, over a limit of parallel
/// applications.
enum class AppStanding : uint8_t { kActive, kPending, kWaiting };
std::string_view EnumName(AppStanding standing);

/// How a RoundFailed begins where Hadoop fails over an object that is not there (NullPointerException), not over one
/// that it looked for (YarnRuntimeException).
inline constexpr std::string_view kNobodyThere = "nobody there: ";

struct CapacityAppView {
  AppStanding standing = AppStanding::kPending;
  model::Resources used;      // of the default partition
  model::Resources reserved;  // of the default partition
  int32_t priority = 0;
};

/// Hadoop's CapacityScheduler, decision by decision (docs/scheduler-yarn-capacity.md). Costs: a heartbeat that grants
/// is O(children log children) per level of queues and O(applications) in the leaf.
///
/// More views than every profile has, for recordings and tools.
class YarnCapacityScheduler : public Scheduler {
 public:
  /// Free resources of a node; nothing for an unknown one.
  virtual model::Resources FreeOf(model::NodeIndex node) const = 0;
  /// Of the application's current attempt; it must have one.
  virtual CapacityAppView GetApp(model::AppIndex app) const = 0;
  /// The label that asks without one get in this queue (default-node-label-expression).
  virtual std::string DefaultLabelOf(const std::string& queue) const = 0;
};

/// A scheduler with these queues and no nodes; a queue's configuration that Hadoop refuses is an error, its code the
/// CapacityFault. `labels` are those of the cluster.
base::Result<std::unique_ptr<YarnCapacityScheduler>> MakeYarnCapacity(
    const YarnCapacityConfig& config, const model::CapacityQueues& queues,
    const std::vector<model::scheduler::ClusterLabel>& labels = {}, base::Instant start = {});

}  // namespace fairlead::scheduler::yarn_capacity
