#pragma once

#include "scheduler/yarn_capacity/books.h"

// Nodes and their labels coming, going and changing (CapacityScheduler.addNode, removeNode, updateNodeAndQueueResource,
// updateLabelsOnNode). Hadoop's label manager tells the scheduler of each change by an event of its own, and the queues
// are computed again each time.

namespace fairlead::scheduler::yarn_capacity {

void Apply(Books& books, const model::scheduler::NodeAdded& event);
void Apply(Books& books, const model::scheduler::NodeRemoved& event);
void Apply(Books& books, const model::scheduler::NodeResized& event);
void Apply(Books& books, const model::scheduler::NodeSchedulable& event);
void Apply(Books& books, const model::scheduler::LabelsAdded& event);
void Apply(Books& books, const model::scheduler::NodeRelabelled& event);

}  // namespace fairlead::scheduler::yarn_capacity
