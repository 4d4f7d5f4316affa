#pragma once

#include "scheduler/hadoop/abstract_yarn_scheduler.h"
#include "scheduler/yarn_fair/books.h"

// One call of an application's master (FairScheduler.allocate).

namespace fairlead::scheduler::yarn_fair {

/// Releases, asks and blacklist of one call, and its answer with the headroom. O(asks log asks + releases).
void Apply(Books& books, const model::scheduler::Allocate& event);
inline void Apply(Books& books, const model::scheduler::Acquired& event) { hadoop::PickUp(books, event); }
/// FairScheduler.validateResourceRequests: the name of a type that is asked for although the queue's maximum of it is
/// 0; empty: none.
std::string ZeroTypeAsked(const Books& books, const std::vector<model::Ask>& asks, QueueId queue);
/// Every change of asks but what grants take (AppSchedulingInfo.updateResourceRequests). `give_back`: a grant that
/// nobody picked up, added to what is asked.
void UpdateAsks(Books& books, AttemptId attempt, std::vector<Asks::Line> lines, bool give_back);
/// Whether the attempt takes nothing of this node now (AppPlacementAllocator.precheckNode). O(1).
bool IsBlacklisted(const Attempt& attempt, const Node& node);

}  // namespace fairlead::scheduler::yarn_fair
