#pragma once

#include "scheduler/yarn_capacity/books.h"

// Asynchronous scheduling by time (CapacityScheduler.AsyncScheduleThread): heartbeats only report, and passes over all
// nodes propose. What was proposed is decided on at the end of the pass (ResourceCommitterService).

namespace fairlead::scheduler::yarn_capacity {

/// What happened: whether a pass may find more than the one before.
void NoteForPasses(Books& books, const model::scheduler::Event& event);
/// One pass over all nodes, from one that is drawn; sets when the next is due. O(nodes * queues).
void RunProposalPass(Books& books);

}  // namespace fairlead::scheduler::yarn_capacity
