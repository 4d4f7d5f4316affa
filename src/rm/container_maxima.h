#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "model/queues.h"
#include "model/resources.h"

namespace fairlead::rm {

/// How large a container of a queue's applications may be where the queues' file says so (maxContainerAllocation): what
/// the queue sets, else the nearest above it that sets any (FairScheduler.getMaximumResourceCapability,
/// FSQueue.getMaximumContainerAllocation). Amounts alone: what is said in per cent of the cluster is for the profile,
/// which knows what that means.
class ContainerMaxima {
 public:
  explicit ContainerMaxima(const model::QueueTree& tree);

  /// For each type the smaller of `maximum` and the queue's own maximum. O(1) when no queue sets any, else
  /// O(depth log queues).
  model::Resources Within(model::Resources maximum, std::string_view queue) const;

 private:
  std::map<std::string, model::Resources, std::less<>> by_queue_;  // full names
};

}  // namespace fairlead::rm
