#pragma once

#include "scheduler/yarn_fair/books.h"

// What others see of the state.

namespace fairlead::scheduler::yarn_fair {

/// All that readers see, for tests and recordings. O(everything).
View ViewOf(const Books& books);
/// The queues alone.
View QueuesOf(const Books& books);
uint64_t HashOf(const Books& books);

}  // namespace fairlead::scheduler::yarn_fair
