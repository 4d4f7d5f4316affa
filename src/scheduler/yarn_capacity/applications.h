#pragma once

#include "scheduler/yarn_capacity/books.h"

// Applications and attempts coming, going, moving, and their priorities.

namespace fairlead::scheduler::yarn_capacity {

/// CapacityScheduler.addApplication: mapped to a leaf, which may be made for it, or refused.
void Apply(Books& books, const model::scheduler::AppAdded& event);
/// CapacityScheduler.addApplicationAttempt: it waits in its leaf until its limits let it be active.
void Apply(Books& books, const model::scheduler::AttemptAdded& event);
/// CapacityScheduler.doneApplicationAttempt: what it holds ends, unless the next attempt keeps it.
void Apply(Books& books, const model::scheduler::AttemptRemoved& event);
/// CapacityScheduler.doneApplication.
void Apply(Books& books, const model::scheduler::AppRemoved& event);
/// CapacityScheduler.moveApplication, or why it may not be moved.
void Apply(Books& books, const model::scheduler::AppMoved& event);
/// CapacityScheduler.updateApplicationPriority: its place among the applications of its leaf changes.
void Apply(Books& books, const model::scheduler::AppPriority& event);
/// AbstractLeafQueue.addApplicationAttempt.
void SubmitAttempt(Books& books, AttemptId id, QueueId leaf);
/// An attempt that stopped is forgotten once nothing names it.
void FreeIfGone(Books& books, AttemptId id);

}  // namespace fairlead::scheduler::yarn_capacity
