#pragma once

#include "scheduler/yarn_fair/books.h"

// The update pass: demand and fair shares.

namespace fairlead::scheduler::yarn_fair {

/// FairScheduler.update: demands, shares, and who is starved. O(queues that changed + their applications).
void UpdatePass(Books& books);
/// The attempt stands in its leaf, and asks or uses something else.
void DemandChanged(Books& books, AttemptId id);
/// An application's demand in the sum of its leaf: it comes, goes or changes.
void CountDemand(const Books& books, Queue& leaf, const Resources& before, const Resources& after);
/// The leaf's applications had one fair share in common; from now on each has its own. O(applications).
void MakeOwn(Books& books, Queue& leaf);

}  // namespace fairlead::scheduler::yarn_fair
