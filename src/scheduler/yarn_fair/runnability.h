#pragma once

#include "scheduler/yarn_fair/books.h"

// Which applications may run, and which waiting ones start when one leaves (MaxRunningAppsEnforcer).

namespace fairlead::scheduler::yarn_fair {

/// MaxRunningAppsEnforcer.canAppBeRunnable: neither the user's maximum nor one of a queue is reached. O(depth).
bool CanRun(const Books& books, QueueId queue, const std::string& user);
int32_t UserMaxApps(const Books& books, const std::string& user);
/// MaxRunningAppsEnforcer.trackRunnableApp.
void TrackRunnable(Books& books, AttemptId id);
/// MaxRunningAppsEnforcer.untrackRunnableApp.
void UntrackRunnable(Books& books, AttemptId id);
/// MaxRunningAppsEnforcer.untrackNonRunnableApp.
void UntrackWaiting(Books& books, AttemptId id);
/// MaxRunningAppsEnforcer.updateRunnabilityOnAppRemoval: below the highest queue that was full before, and of the user
/// if it was at its limit.
void StartWaitingAfterRemoval(Books& books, AttemptId gone, QueueId queue);
/// MaxRunningAppsEnforcer.updateRunnabilityOnReload: of all that wait. O(waiting log waiting).
void StartWaitingAfterReload(Books& books);

}  // namespace fairlead::scheduler::yarn_fair
