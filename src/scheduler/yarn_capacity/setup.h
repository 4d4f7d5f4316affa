#pragma once

#include <string>

#include "scheduler/yarn_capacity/books.h"

// Reading a queue's keys (AbstractCSQueue.setupQueueConfigs and what LeafQueue and ParentQueue add).

namespace fairlead::scheduler::yarn_capacity {

using model::CapacityFault;
using model::CapacityProblem;

inline CapacityProblem Io(const std::string& message) { return {CapacityFault::kIo, message}; }
inline CapacityProblem Argument(const std::string& message) { return {CapacityFault::kArgument, message}; }

/// The keys that count for a queue: its own; for one that was made on demand, those of its parent's templates, too
/// (AutoCreatedQueueTemplate).
model::CapacityQueueSettings KeysOf(const Books& books, const Queue& queue);
/// Reads them into the queue. What was changed before a problem stays changed.
CapacityProblem SetUp(Books& books, QueueId id);
/// AbstractParentQueue.isEligibleForAutoQueueCreation.
bool MayMakeQueues(const Books& books, const Queue& queue);
/// stopQueue: the queue and those below it.
void Stop(Books& books, QueueId id);
/// CSQueueUtils.updateQueueStatistics for one partition, or all that the queue knows.
void UpdateUsedShare(Books& books, Queue& queue, PartitionId partition);
void UpdateUsedShares(Books& books, Queue& queue);
/// CSQueueUtils.updateAbsoluteCapacitiesByNodeLabels.
void UpdateAbsoluteShares(Books& books, Queue& queue);
/// What the attempt's order is to know of it.
Rank RankOf(const Books& books, AttemptId id);

}  // namespace fairlead::scheduler::yarn_capacity
