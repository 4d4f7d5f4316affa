#pragma once

#include "scheduler/yarn_capacity/books.h"

namespace fairlead::scheduler::yarn_capacity {

/// A granted container gets another size (AbstractYarnScheduler.handleContainerUpdates). A smaller one counts at once;
/// a larger one must hold against what a grant of the difference would: room on the node, maxima of the queues, the
/// limit of the user. Hadoop keeps a larger one that has no room as an ask for that node; here it is refused with the
/// reason, and its master may say it again.
void Apply(Books& books, const model::scheduler::ContainerResized& event);

}  // namespace fairlead::scheduler::yarn_capacity
