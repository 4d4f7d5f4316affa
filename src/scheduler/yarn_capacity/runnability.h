#pragma once

#include "scheduler/yarn_capacity/books.h"

// Limits of how many applications of a queue or user run at once (CSMaxRunningAppsEnforcer).

namespace fairlead::scheduler::yarn_capacity {

/// checkRunnabilityWithUpdate.
bool DecideRunnable(Books& books, AttemptId id);
/// trackApp, untrackApp.
void Track(Books& books, AttemptId id);
void Untrack(Books& books, AttemptId id);
/// updateRunnabilityOnAppRemoval: a runnable application went.
void UpdateRunnability(Books& books, AttemptId gone);
/// updateRunnabilityOnReload.
void UpdateRunnability(Books& books);

}  // namespace fairlead::scheduler::yarn_capacity
