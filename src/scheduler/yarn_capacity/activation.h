#pragma once

#include <set>
#include <string>
#include <vector>

#include "scheduler/yarn_capacity/books.h"

// Limits of a leaf: how many masters, how much a user, how much an application is told it may still get
// (AbstractLeafQueue, CapacityHeadroomProvider).

namespace fairlead::scheduler::yarn_capacity {

/// updateCurrentResourceLimits: what a pass hands down, cut to the leaf's maximum.
void SetPassLimit(Books& books, Queue& leaf, const Resources& limit);
/// calculateAndGetAMResourceLimitPerPartition.
Resources UpdateMasterLimit(Books& books, Queue& leaf, PartitionId partition);
/// getUserAMResourceLimitPerPartition; of a user whom the leaf does not know, one without a weight.
Resources UserMasterLimit(const Books& books, const Queue& leaf, PartitionId partition, const std::string& user_name);
/// activateApplications: pending ones whose masters fit begin to be served.
void Activate(Books& books, QueueId id);
/// computeUserLimitAndSetHeadroom: the limit of the attempt's user (`known`: computed in this pass before) in the leaf
/// that is looked at, which a moved attempt may have left.
Resources UserLimit(Books& books, QueueId leaf, AttemptId id, PartitionId partition, Mode mode, const Resources* known);
/// Puts applications whose usage changed to their new places in the leaf's order.
void RefreshOrder(Books& books, Queue& leaf);
/// FiCaSchedulerApp.getHeadroom.
Resources Headroom(Books& books, AttemptId id);
/// SchedulerApplicationAttempt.isWaitingForAMContainer.
inline bool WaitsForMaster(const Attempt& attempt) {
  return attempt.master.BlacklistNow() == hadoop::Blacklist::Of::kSystem;
}
/// In the order of a HashSet to which their names were added like this.
std::vector<PartitionId> InHashOrder(const Books& books, const std::vector<PartitionId>& added);
/// getNodeLabelsForQueue.
std::set<PartitionId> LabelsOf(const Queue& queue);

}  // namespace fairlead::scheduler::yarn_capacity
