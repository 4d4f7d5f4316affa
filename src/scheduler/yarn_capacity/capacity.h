#pragma once

#include <optional>

#include "scheduler/yarn_capacity/books.h"
#include "scheduler/yarn_capacity/setup.h"

// What queues may have: from the cluster down (AbstractCSQueue.updateClusterResource and what it calls).

namespace fairlead::scheduler::yarn_capacity {

/// AbstractParentQueue.QueueCapacityType.
enum class ChildrenBy : uint8_t { kWeight, kAbsolute, kPercent };
/// How these queues say what they get, in the partitions that `parent` knows; a problem when they mix.
CapacityProblem ReadMode(const Books& books, const Queue& parent, const std::vector<QueueId>& queues, ChildrenBy& by);
/// The queue and all below it, after a change of nodes, labels or queues.
void UpdateQueue(Books& books, QueueId id);
/// ... from the root.
void UpdateCluster(Books& books);
/// AbstractParentQueue.getResourceLimitsOfChild for the default partition and no net limit; `limit` is cut to the
/// parent's maximum.
Resources LimitOfChild(const Books& books, const Queue& parent, const Queue& child, Resources& limit);
/// Its two halves.
void CutToParent(const Books& books, const Queue& parent, PartitionId partition, Resources& limit);
Resources RoomOfChild(const Books& books, const Queue& parent, const Queue& child, PartitionId partition,
                      const Resources& limit);
/// Quirk maximum_applications_at_setup: from the leaf's share of the partition as it is now; `of_amounts`: once the
/// leaf's amounts are known (ParentQueue.deriveCapacityFromAbsoluteConfigurations).
void SetMaximumApplications(const Books& books, Queue& leaf, PartitionId partition, bool of_amounts);
/// What every leaf does after its amounts changed (updateClusterResourceLegacyMode, refreshAfterResourceCalculation).
void RefreshLeaf(Books& books, QueueId id, const Resources& limit, bool sizes_known);

/// legacy-queue-mode.enabled=false: the vectors of a parent's children (ResourceCalculationDriver), then theirs.
void UpdateRootByVectors(Books& books);
void UpdateChildrenByVectors(Books& books, QueueId parent, Resources limit);

}  // namespace fairlead::scheduler::yarn_capacity
