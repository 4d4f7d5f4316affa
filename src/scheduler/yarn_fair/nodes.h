#pragma once

#include "scheduler/yarn_fair/books.h"

// Nodes coming, going and changing size.

namespace fairlead::scheduler::yarn_fair {

/// FairScheduler.addNode: limits that are parts of the cluster are resolved again.
void Apply(Books& books, const model::scheduler::NodeAdded& event);
/// FairScheduler.removeNode: what runs there ends. O(its containers).
void Apply(Books& books, const model::scheduler::NodeRemoved& event);
/// AbstractYarnScheduler.updateNodeResource.
void Apply(Books& books, const model::scheduler::NodeResized& event);
/// The node is decommissioning or unhealthy, or is so no longer: it is offered to nobody meanwhile.
void Apply(Books& books, const model::scheduler::NodeSchedulable& event);

}  // namespace fairlead::scheduler::yarn_fair
