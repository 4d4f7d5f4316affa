#pragma once

#include "scheduler/yarn_capacity/books.h"
#include "scheduler/yarn_capacity/yarn_capacity.h"

// What readers see.

namespace fairlead::scheduler::yarn_capacity {

/// All that readers see, for tests and recordings. O(everything).
View ViewOf(const Books& books);
/// The queues alone. O(queues x partitions).
View QueuesOf(const Books& books);
/// Where one application stands in its leaf, and what it uses of the default partition.
CapacityAppView AppOf(const Books& books, model::AppIndex app);

}  // namespace fairlead::scheduler::yarn_capacity
