#pragma once

#include "model/queues.h"

namespace fairlead::scheduler::yarn_capacity {

/// The queues that the scheduler runs: those of a capacity-scheduler.xml where the tree comes of one; else its names,
/// weights, absolute maxima, largest numbers of running applications and orders of applications, so that another
/// profile's queues and Fairlead's YAML run here, too. Such a tree has no user limits, its queues may have the whole
/// cluster, masters may fill a queue, and queues are made as they are named. O(queues log queues).
model::CapacityQueues CapacityQueuesFrom(const model::QueueTree& tree);

}  // namespace fairlead::scheduler::yarn_capacity
