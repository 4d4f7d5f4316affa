#pragma once

#include "scheduler/yarn_fair/books.h"

// Which applications may run, and which waiting ones start when one leaves (MaxRunningAppsEnforcer).

namespace fairlead::scheduler::yarn_fair {

bool CanRun(const Books& books, QueueId queue, const std::string& user);
int32_t UserMaxApps(const Books& books, const std::string& user);
void TrackRunnable(Books& books, AttemptId id);
void UntrackRunnable(Books& books, AttemptId id);
void UntrackWaiting(Books& books, AttemptId id);
void StartWaitingAfterRemoval(Books& books, AttemptId gone, QueueId queue);
void StartWaitingAfterReload(Books& books);

}  // namespace fairlead::scheduler::yarn_fair
