#pragma once

#include "scheduler/yarn_capacity/books.h"

// Containers that change their size (AbstractYarnScheduler.handleContainerUpdates, ContainerUpdateContext).

namespace fairlead::scheduler::yarn_capacity {

/// A smaller size counts at once. For a larger one the difference is asked for on the container's node, behind all that
/// the application asks for besides: the answer is kUpdateOutstanding, and the grant, which names the container again,
/// comes with a heartbeat. A later change of the same container takes its place.
void Apply(Books& books, const model::scheduler::ContainerResized& event);

/// The container that an ask with this key makes larger; not valid: the key is of no such ask.
ContainerSlot GrowingContainer(const Books& books, const Attempt& attempt, const RequestKey& key);
/// The container has `more` from now on; node, application, user and queues count it.
void Grow(Books& books, ContainerSlot slot, const Resources& more);
/// The container ends: nothing is asked for or reserved to make it larger. O(1) where nothing is.
void EndGrowth(Books& books, ContainerSlot slot);

}  // namespace fairlead::scheduler::yarn_capacity
