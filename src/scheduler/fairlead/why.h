#pragma once

#include <vector>

#include "scheduler/books/blocker.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {

/// For each pending ask of the application, in the order of Scheduler::Why, everything that stands in its way in the
/// `fairlead` profile. Remove all of it and the ask is granted, at once or after its waits for places, unless somebody
/// else takes the room first; with any of it left it is not. Why gives the first as its reason and all of it as text.
/// Empty for other profiles. O(nodes x named places) per ask.
std::vector<std::vector<Blocker>> Blockers(const Scheduler& scheduler, model::AppIndex app, base::Instant now);

}  // namespace fairlead::scheduler
