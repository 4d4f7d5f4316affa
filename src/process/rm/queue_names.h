#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "scheduler/scheduler.h"

namespace fairlead::process::rm {

/// Those right below each queue, by its name, in the order of `view`, in which they stand. Cost: O(queues log queues).
using QueuesBelow = std::map<std::string_view, std::vector<const scheduler::QueueView*>>;
inline QueuesBelow GroupByParent(const scheduler::View& view) {
  QueuesBelow below;
  for (const scheduler::QueueView& queue : view.queues) below[queue.parent].push_back(&queue);
  return below;
}

/// `queue` is `above`, or below it; full names.
inline bool AtOrBelow(std::string_view queue, std::string_view above) {
  return queue == above || (queue.size() > above.size() && queue.starts_with(above) && queue[above.size()] == '.');
}

}  // namespace fairlead::process::rm
