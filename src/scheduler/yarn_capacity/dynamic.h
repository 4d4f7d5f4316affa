#pragma once

#include <string>

#include "scheduler/yarn_capacity/books.h"
#include "scheduler/yarn_capacity/setup.h"

// Queues that are made when somebody submits to them, and removed when they are idle
// (CapacitySchedulerQueueManager.createAutoQueue, AutoCreatedQueueDeletionPolicy).

namespace fairlead::scheduler::yarn_capacity {

/// The leaf of this path, made with those missing above it; not valid: it may not be made, or cannot with the settings
/// that it would have (`problem`; Hadoop's scheduler fails there).
QueueId MakeQueue(Books& books, const std::string& path, CapacityProblem& problem);
/// One round: idle queues of the last round go.
void RemoveIdleQueues(Books& books);

}  // namespace fairlead::scheduler::yarn_capacity
