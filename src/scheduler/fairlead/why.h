#pragma once

#include <string>
#include <vector>

#include "scheduler/scheduler.h"

namespace fairlead::scheduler {

/// One thing that stands in the way of a request.
struct Blocker {
  model::scheduler::PendingReason reason = model::scheduler::PendingReason::kNone;
  std::string subject;  // the queue, user or label that it is about; empty: none
  std::string detail;   // its numbers, for a person
  std::string remedy;   // what change removes it
};

/// For each pending request of the application, in the order of Scheduler::Why, everything that stands in its way in
/// the `fairlead` profile. Remove all of it and the request is granted, at once or after its waits for places, unless
/// somebody else takes the room first; with any of it left it is not. Why gives the first as its reason and all of it
/// as text. Empty for other profiles. O(nodes x named places) per request.
std::vector<std::vector<Blocker>> Blockers(const Scheduler& scheduler, model::AppIndex app, base::Instant now);

}  // namespace fairlead::scheduler
