#pragma once

#include <vector>

#include "scheduler/hadoop/abstract_yarn_scheduler.h"
#include "scheduler/yarn_capacity/books.h"

// What applications ask for, and what their queues sum up of it (CapacityScheduler.allocate, AppSchedulingInfo).

namespace fairlead::scheduler::yarn_capacity {

void Apply(Books& books, const model::scheduler::Allocate& event);
inline void Apply(Books& books, const model::scheduler::Acquired& event) { hadoop::PickUp(books, event); }
/// AppSchedulingInfo.updateResourceRequests; whether a line of "*" was among them.
bool UpdateAsks(Books& books, AttemptId id, std::vector<hadoop::Asks::Line> lines, bool give_back);
/// One container less is asked for; gives the lines it was taken from.
hadoop::Taken TakeAsk(Books& books, AttemptId id, const RequestKey& key, model::Locality type, const Node& node);
/// AppSchedulingInfo.stop, move.
void StopAsks(Books& books, AttemptId id);
void MoveAsks(Books& books, AttemptId id, QueueId source, QueueId target);
/// SchedulerAppUtils.isPlaceBlacklisted.
bool IsBlacklisted(const Attempt& attempt, const Node& node);

}  // namespace fairlead::scheduler::yarn_capacity
