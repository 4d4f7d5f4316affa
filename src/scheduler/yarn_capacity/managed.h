#pragma once

#include <string>

#include "scheduler/yarn_capacity/books.h"

// Queues made on demand in the older way (auto-create-child-queue, ManagedParentQueue, AutoCreatedLeafQueue): leaves of
// one template. As many leaves have the template's share as fit into the parent's, in the order of their
// applications; the others have nothing guaranteed (GuaranteedOrZeroCapacityOverTimePolicy).

namespace fairlead::scheduler::yarn_capacity {

/// Whether the queue makes leaves in the older way.
bool IsManaged(const Books& books, const Queue& queue);
/// Whether the queue was made by one that does.
bool IsMadeByManaged(const Books& books, const Queue& queue);
/// Whether such a leaf has the template's share of the partition now.
bool IsEntitled(const Books& books, const Queue& leaf, PartitionId partition);
/// What the template is of the whole partition.
float TemplateShare(const Books& books, const Queue& parent, PartitionId partition);
/// ManagedParentQueue.addChildQueue; not valid: there are as many as there may be.
QueueId MakeManagedLeaf(Books& books, QueueId parent, const std::string& path);
/// QueueManagementDynamicEditPolicy.editSchedule: takes shares from leaves without applications, gives what is free to
/// leaves that have some. O(applications of these leaves).
void EntitleLeaves(Books& books);
/// After a reload all shares are dealt again.
void ForgetEntitled(Books& books);

}  // namespace fairlead::scheduler::yarn_capacity
