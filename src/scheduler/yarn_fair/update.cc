#include "scheduler/yarn_fair/update.h"

#include <algorithm>
#include <cmath>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/ordering.h"
#include "scheduler/yarn_fair/queues.h"
#include "scheduler/yarn_fair/shares.h"
#include "scheduler/yarn_fair/starvation.h"

// The update pass: FairScheduler.update, updateDemand and computeShares of queues and applications. Only what changed
// is computed again.

namespace fairlead::scheduler::yarn_fair {
namespace {

void AddSaturating(Resources& a, const Resources& b, size_t types) {
  for (size_t i = 0; i < types; ++i) {
    if (__builtin_add_overflow(a[i], b[i], &a[i])) a[i] = INT64_MAX;
  }
}

/// a += (long) (b * (double) count), which for products below 2^53 is the product.
void AddTimes(Resources& a, const Resources& b, int32_t count, size_t types) {
  for (size_t i = 0; i < types; ++i) {
    int64_t product = 0;
    if (__builtin_mul_overflow(b[i], int64_t{count}, &product) || product > (int64_t{1} << 53)) {
      product = java::ToLong(static_cast<double>(b[i]) * count);
    }
    if (__builtin_add_overflow(a[i], product, &a[i])) a[i] = INT64_MAX;
  }
}

/// Resource.setResourceValue: vcores are an int.
void SetShare(Resources& target, size_t type, int64_t value) {
  target[type] = type == 1 ? std::min<int64_t>(value, INT32_MAX) : value;
}

}  // namespace

static void UpdateDemand(Books& books, QueueId id);
static void UpdateLeafDemand(Books& books, QueueId id);
static void UpdateAttemptDemand(Books& books, AttemptId id);
static void UpdateShares(Books& books, QueueId id);
static void ShareAmongQueues(Books& books, const Queue& parent, size_t type);
static void ShareAmongAttempts(Books& books, Queue& leaf, size_t types);
static bool MakeAlike(Books& books, Queue& leaf, size_t types);
static void ShareToFirst(Books& books, const Queue& leaf);

void UpdatePass(Books& books) {
  UpdateDemand(books, kRoot);
  if (books.queues[kRoot].fair_share != books.nodes.total()) {
    books.queues[kRoot].fair_share = books.nodes.total();
    books.queues[kRoot].shares_dirty = true;
  }
  UpdateShares(books, kRoot);
  books.UpdateAvailable();
  for (const QueueId id : books.queues) books.queues[id].bounded = false;
  if (!books.config.preemption || !ShouldPreempt(books)) return;
  for (const QueueId leaf : books.tree.leaves) UpdateStarved(books, leaf);
}

void UpdateDemand(Books& books, QueueId id) {
  if (books.queues[id].leaf) {
    if (books.queues[id].demand_dirty) UpdateLeafDemand(books, id);
    return;
  }
  Resources demand;
  for (const QueueId at : books.queues[id].children) {
    const Queue& child = books.queues[at];
    if (!child.leaf || child.demand_dirty) UpdateDemand(books, at);
    if (!child.leaf && books.config.quirks.parent_demand_drops_types) {
      AddSaturating(demand, Resources::Of(child.demand[0], std::min<int64_t>(child.demand[1], INT32_MAX)),
                    books.fixed.types);
    } else {
      AddSaturating(demand, child.demand, books.fixed.types);
    }
  }
  demand = ComponentwiseMin(demand, books.queues[id].max_share);
  if (demand == books.queues[id].demand) return;
  books.queues[id].demand = demand;
  TouchQueue(books, id);
}

void UpdateLeafDemand(Books& books, QueueId id) {
  Queue& leaf = books.queues[id];
  leaf.demand_dirty = false;
  for (const AttemptId attempt : leaf.demand_changed) UpdateAttemptDemand(books, attempt);
  leaf.demand_changed.clear();
  Resources demand;
  for (size_t type = 0; type < books.fixed.types; ++type) {
    demand[type] = static_cast<int64_t>(std::min<Wide>(leaf.demand_sum[type], INT64_MAX));
  }
  demand = ComponentwiseMin(demand, leaf.max_share);
  if (demand == leaf.demand) return;
  leaf.demand = demand;
  TouchQueue(books, id);
}

void DemandChanged(Books& books, AttemptId id) {
  Attempt& attempt = books.attempts[id];
  if (attempt.stopped) return;
  books.queues[attempt.queue].demand_dirty = true;
  if (attempt.demand_changed) return;
  attempt.demand_changed = true;
  books.queues[attempt.queue].demand_changed.push_back(id);
}

void CountDemand(const Books& books, Queue& leaf, const Resources& before, const Resources& after) {
  for (size_t type = 0; type < books.fixed.types; ++type) leaf.demand_sum[type] += Wide{after[type]} - before[type];
}

void UpdateAttemptDemand(Books& books, AttemptId id) {
  Attempt& attempt = books.attempts[id];
  attempt.demand_changed = false;
  Resources demand = attempt.used;
  for (const Asks::ActiveKey& key : attempt.asks.active()) {
    const Request* any = attempt.asks.of(key).Any();
    if (any != nullptr && any->count > 0) AddTimes(demand, any->capability, any->count, books.fixed.types);
  }
  if (demand == attempt.demand) return;
  CountDemand(books, books.queues[attempt.queue], attempt.demand, demand);
  attempt.demand = demand;
  if (books.config.size_based_weight) {
    attempt.weight = static_cast<float>(std::log1p(static_cast<double>(demand[0])) / std::log(2.0));
    books.queues[attempt.queue].shares_dirty = true;
  }
  Touch(books, id);
}

/// FSParentQueue.updateInternal, FSLeafQueue.updateInternal.
void UpdateShares(Books& books, QueueId id) {
  Queue& queue = books.queues[id];
  if (queue.shares_dirty) {
    queue.shares_dirty = false;
    const size_t types = queue.policy == Policy::kDrf ? books.fixed.types : queue.policy == Policy::kFair ? 1 : 0;
    if (queue.leaf) {
      ShareAmongAttempts(books, queue, types);
    } else {
      for (size_t type = 0; type < types; ++type) ShareAmongQueues(books, queue, type);
    }
    if (queue.policy == Policy::kFifo) ShareToFirst(books, queue);
  }
  for (const QueueId child : queue.children) {
    if (!books.queues[child].leaf || books.queues[child].shares_dirty) UpdateShares(books, child);
  }
}

void ShareAmongQueues(Books& books, const Queue& parent, size_t type) {
  std::vector<Sharer> sharers;
  for (const QueueId id : parent.children) {
    const Queue& child = books.queues[id];
    sharers.push_back({child.weight, child.min_share[type], child.max_share[type], child.NumRunnable() > 0, 0});
  }
  ComputeShares(sharers, parent.fair_share[type], books.config.quirks.shares_round_up);
  for (size_t i = 0; i < parent.children.size(); ++i) {
    Queue& child = books.queues[parent.children[i]];
    const int64_t before = child.fair_share[type];
    SetShare(child.fair_share, type, sharers[i].share);
    if (child.fair_share[type] != before) child.shares_dirty = true;
  }
}

/// Applications of one weight, and all have one unless it comes from their size, share alike: their share is kept once.
void ShareAmongAttempts(Books& books, Queue& leaf, size_t types) {
  if (leaf.runnable.empty() || types == 0) return;
  if (!books.config.size_based_weight && MakeAlike(books, leaf, types)) {
    std::vector<Sharer> sharers(1);
    for (size_t type = 0; type < types; ++type) {
      ComputeShares(sharers, leaf.fair_share[type], books.config.quirks.shares_round_up, leaf.runnable.size());
      SetShare(leaf.app_share, type, sharers[0].share);
    }
    return;
  }
  MakeOwn(books, leaf);
  for (size_t type = 0; type < types; ++type) {
    std::vector<Sharer> sharers;
    for (const AttemptId id : leaf.runnable) sharers.push_back({books.attempts[id].weight, 0, INT64_MAX, true, 0});
    ComputeShares(sharers, leaf.fair_share[type], books.config.quirks.shares_round_up);
    for (size_t i = 0; i < leaf.runnable.size(); ++i) {
      SetShare(books.attempts[leaf.runnable[i]].fair_share, type, sharers[i].share);
    }
  }
}

/// False when an application has a share of a type that its leaf does not share out: it moved, or the policy changed.
bool MakeAlike(Books& books, Queue& leaf, size_t types) {
  for (const AttemptId id : leaf.own_shares) {
    for (size_t type = types; type < Resources::kMaxTypes; ++type) {
      if (books.attempts[id].fair_share[type] != leaf.app_share[type]) return false;
    }
  }
  for (const AttemptId id : leaf.own_shares) books.attempts[id].alike = true;
  leaf.own_shares.clear();
  return true;
}

void MakeOwn(Books& books, Queue& leaf) {
  for (const AttemptId id : leaf.runnable) {
    if (books.attempts[id].alike) books.attempts[id].fair_share = leaf.app_share;
    books.attempts[id].alike = false;
  }
  leaf.own_shares = leaf.runnable;
  leaf.app_share = {};
}

/// FifoPolicy.computeShares: all to the one that started first, the others keep what they had.
void ShareToFirst(Books& books, const Queue& leaf) {
  AttemptId first;
  for (const AttemptId id : leaf.runnable) {
    if (!books.config.quirks.fifo_keeps_stale_shares) books.attempts[id].fair_share = {};
    if (!first.valid() || books.attempts[id].start_ms < books.attempts[first].start_ms) first = id;
  }
  if (first.valid()) books.attempts[first].fair_share = leaf.fair_share;
}

void ComputeSteady(const Books& books, QueueId id) {
  const Queue& parent = books.queues[id];
  const size_t types = parent.policy == Policy::kDrf ? books.fixed.types : parent.policy == Policy::kFair ? 1 : 0;
  for (size_t type = 0; type < types; ++type) {
    std::vector<Sharer> sharers;
    for (const QueueId child : parent.children) {
      const Queue& queue = books.queues[child];
      sharers.push_back({queue.weight, queue.min_share[type], queue.max_share[type], true, 0});
    }
    ComputeShares(sharers, parent.steady_share[type], books.config.quirks.shares_round_up);
    for (size_t i = 0; i < sharers.size(); ++i) {
      SetShare(books.queues[parent.children[i]].steady_share, type, sharers[i].share);
    }
  }
  for (const QueueId child : parent.children) {
    if (!books.queues[child].leaf) ComputeSteady(books, child);
  }
}

}  // namespace fairlead::scheduler::yarn_fair
