#pragma once

#include "scheduler/yarn_fair/books.h"

// Applications and attempts coming, going and moving.

namespace fairlead::scheduler::yarn_fair {

/// FairScheduler.addApplication: the queue is chosen by the placement rules, or the application refused.
void Apply(Books& books, const model::scheduler::AppAdded& event);
/// FairScheduler.addApplicationAttempt: the attempt runs or waits in its leaf; containers that were kept become its
/// own.
void Apply(Books& books, const model::scheduler::AttemptAdded& event);
/// FairScheduler.removeApplicationAttempt: its containers and reservations end, unless the next attempt keeps them.
void Apply(Books& books, const model::scheduler::AttemptRemoved& event);
/// FairScheduler.removeApplication.
void Apply(Books& books, const model::scheduler::AppRemoved& event);
/// FairScheduler.moveApplication: refused where limits of the new queue do not allow it.
void Apply(Books& books, const model::scheduler::AppMoved& event);
/// FSLeafQueue.addApp: among those that run or those that wait. `charge`: what it uses is added to its queues.
void AddToLeaf(Books& books, AttemptId id, bool runnable, bool charge = true);
/// One less names the attempt (the list of the starved, a promise); the last one frees it if it has stopped.
void Unpin(Books& books, AttemptId id);
/// Frees a stopped attempt that nothing names any more.
void FreeIfUnpinned(Books& books, AttemptId id);

}  // namespace fairlead::scheduler::yarn_fair
