#pragma once

#include "scheduler/fairlead/core.h"

// Where queues and applications stand in their parent's order. Inline and in scalars, so that a key goes from its
// computation into the order's table in registers: a copy through memory, written in small pieces and read in large
// ones, makes the processor wait until the pieces have reached the cache (a tenth of all the time of a grant).

namespace fairlead::scheduler::native {

inline OrderKey Core::ShareKey(model::OrderPolicy policy, const Resources& used, int64_t weight) const {
  const Share share = ShareOf(policy, used);
  OrderKey key;
  key.num = share.used;
  key.den = static_cast<unsigned __int128>(share.of) * static_cast<uint64_t>(weight);
  return key;
}

inline OrderKey Core::AppKey(const App& app) const {
  OrderKey key = ShareKey(queues_[app.leaf].policy, app.used, kWeightOne);
  key.tier = -app.priority;
  key.tie = app.index.value;
  return key;
}

inline OrderKey Core::QueueKey(const Queue& queue) const {
  const Share low = queue.has_low ? ShareOfMinimum(queue) : Share{};
  const bool needy = low.of != 0;
  const Share share = needy ? low : ShareOf(queues_[queue.parent].policy, queue.used);
  OrderKey key;
  key.num = share.used;
  key.den = static_cast<unsigned __int128>(share.of) * static_cast<uint64_t>(needy ? 1 : queue.weight);
  key.tier = needy ? 0 : 1;
  key.tie = queue.slot;
  return key;
}

}  // namespace fairlead::scheduler::native
