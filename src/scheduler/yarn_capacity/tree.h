#pragma once

#include "scheduler/yarn_capacity/books.h"
#include "scheduler/yarn_capacity/setup.h"

// The tree of queues from its configuration: at the start, and when that is read again
// (CapacitySchedulerQueueManager.initializeQueues, reinitializeQueues; CapacityScheduler.reinitialize).

namespace fairlead::scheduler::yarn_capacity {

/// Makes the queues of books.file.
CapacityProblem Load(Books& books);
/// Takes another configuration; with a problem the old one is read again, which has effects of its own.
CapacityProblem Reload(Books& books, const model::CapacityQueues& file);
/// AbstractParentQueue.setChildQueues: legacy mode's checks, then the list.
CapacityProblem SetChildren(Books& books, QueueId parent, const std::vector<QueueId>& children);

}  // namespace fairlead::scheduler::yarn_capacity
