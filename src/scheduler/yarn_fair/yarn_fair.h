#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/queues.h"
#include "scheduler/scheduler.h"
#include "scheduler/yarn_fair/config.h"

namespace fairlead::scheduler::yarn_fair {

/// Hadoop's FairScheduler, decision by decision (docs/scheduler-yarn-fair.md). Costs: a heartbeat that grants is
/// O(log children) per level of queues and O(log applications) in its leaf plus the applications that were offered the
/// node in vain; an update pass is O(applications that changed + queues).
///
/// Two more views than every profile has, for recordings and tools.
class YarnFairScheduler : public Scheduler {
 public:
  /// Free resources of a node; nothing for an unknown one.
  virtual model::Resources FreeOf(model::NodeIndex node) const = 0;
  /// Leaf queues in Hadoop's own list order (QueueManager.getLeafQueues).
  virtual std::vector<std::string> LeafOrder() const = 0;
};

/// A scheduler with the queues of `tree` and no nodes. `start` is the time of its making.
std::unique_ptr<YarnFairScheduler> MakeYarnFair(const YarnFairConfig& config, const model::QueueTree& tree,
                                                base::Instant start = {});

}  // namespace fairlead::scheduler::yarn_fair
