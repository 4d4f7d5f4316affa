#pragma once

#include <vector>

#include "model/resources.h"
#include "scheduler/books/queues.h"

namespace fairlead::scheduler::native {

/// Exact fair shares of a queue's children, type by type: min(max(weight * x, minimum), maximum, demand) adding up to
/// the queue's own share (steady: among all children, demand or not).
std::vector<model::Resources> ChildShares(const Queues& queues, size_t types, QueueId queue,
                                          const model::Resources& share, bool steady);

/// The fair share of every queue, by number.
std::vector<model::Resources> QueueShares(const Queues& queues, size_t types, const model::Resources& all);

}  // namespace fairlead::scheduler::native
