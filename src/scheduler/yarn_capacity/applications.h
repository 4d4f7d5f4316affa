#pragma once

#include "scheduler/yarn_capacity/books.h"

// Applications and attempts coming, going, moving, and their priorities.

namespace fairlead::scheduler::yarn_capacity {

void Apply(Books& books, const model::scheduler::AppAdded& event);
void Apply(Books& books, const model::scheduler::AttemptAdded& event);
void Apply(Books& books, const model::scheduler::AttemptRemoved& event);
void Apply(Books& books, const model::scheduler::AppRemoved& event);
void Apply(Books& books, const model::scheduler::AppMoved& event);
void Apply(Books& books, const model::scheduler::AppPriority& event);
/// AbstractLeafQueue.addApplicationAttempt.
void SubmitAttempt(Books& books, AttemptId id, QueueId leaf);
/// An attempt that stopped is forgotten once nothing names it.
void FreeIfGone(Books& books, AttemptId id);

}  // namespace fairlead::scheduler::yarn_capacity
