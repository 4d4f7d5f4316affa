#pragma once

#include "scheduler/yarn_fair/books.h"

// Who is starved.

namespace fairlead::scheduler::yarn_fair {

/// FairScheduler.shouldAttemptPreemption.
bool ShouldPreempt(const Books& books);
/// FSLeafQueue.updateStarvedApps: by fair share, then what is left of the leaf's minimum is spread. O(applications log
/// applications).
void UpdateStarved(Books& books, QueueId leaf);
/// FSStarvedApps.StarvationComparator: smaller starvation first; no order where neither fits.
int CompareStarvation(const Books& books, AttemptId a, AttemptId b);
/// FSAppAttempt.isUsageBelowShare, by the policy of its queue.
bool IsUsageBelowShare(const Books& books, const Attempt& attempt, const Resources& usage, const Resources& share);
/// FSAppAttempt.isStarved: below its fair share, or counted for its queue's minimum.
bool IsStarved(const Books& books, const Attempt& attempt);

}  // namespace fairlead::scheduler::yarn_fair
