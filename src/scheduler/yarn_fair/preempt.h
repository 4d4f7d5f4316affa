#pragma once

#include "scheduler/yarn_fair/books.h"

// Whose containers make room.

namespace fairlead::scheduler::yarn_fair {

/// FSPreemptionThread.run until nobody starved is left. O(starved x nodes x containers) at worst.
void PreemptPass(Books& books);
/// Kill timers that are due, in the order they were set.
void KillPass(Books& books);

}  // namespace fairlead::scheduler::yarn_fair
