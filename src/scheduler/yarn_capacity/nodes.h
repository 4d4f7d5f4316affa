#pragma once

#include "scheduler/yarn_capacity/books.h"

// Nodes and their labels coming, going and changing (CapacityScheduler.addNode, removeNode, updateNodeAndQueueResource,
// updateLabelsOnNode). Hadoop's label manager tells the scheduler of each change by an event of its own, and the queues
// are computed again each time.

namespace fairlead::scheduler::yarn_capacity {

/// CapacityScheduler.addNode.
void Apply(Books& books, const model::scheduler::NodeAdded& event);
/// CapacityScheduler.removeNode: what runs and is reserved there ends. O(its containers + queues).
void Apply(Books& books, const model::scheduler::NodeRemoved& event);
/// CapacityScheduler.updateNodeAndQueueResource.
void Apply(Books& books, const model::scheduler::NodeResized& event);
/// The node is decommissioning or unhealthy, or is so no longer: nothing starts there meanwhile.
void Apply(Books& books, const model::scheduler::NodeSchedulable& event);
/// CommonNodeLabelsManager.addToCluserNodeLabels: partitions that may be used from now on.
void Apply(Books& books, const model::scheduler::LabelsAdded& event);
/// CapacityScheduler.updateLabelsOnNode: its containers count for their queues in the other partition. O(its containers
/// + queues).
void Apply(Books& books, const model::scheduler::NodeRelabelled& event);

}  // namespace fairlead::scheduler::yarn_capacity
