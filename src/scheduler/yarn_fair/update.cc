#include <algorithm>
#include <cmath>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/core.h"
#include "scheduler/yarn_fair/shares.h"

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

void Core::UpdatePass() {
  UpdateDemand(kRoot);
  if (queues_[kRoot].fair_share != nodes_.total()) {
    queues_[kRoot].fair_share = nodes_.total();
    queues_[kRoot].shares_dirty = true;
  }
  UpdateShares(kRoot);
  UpdateAvailable();
  for (const QueueId id : queues_) queues_[id].bounded = false;
  if (!config_.preemption || !ShouldPreempt()) return;
  for (const QueueId leaf : leaf_order_) UpdateStarved(leaf);
}

void Core::UpdateDemand(QueueId id) {
  if (queues_[id].leaf) {
    if (queues_[id].demand_dirty) UpdateLeafDemand(id);
    return;
  }
  Resources demand;
  for (const QueueId child : queues_[id].children) {
    UpdateDemand(child);
    Resources part = queues_[child].demand;
    if (!queues_[child].leaf && config_.quirks.parent_demand_drops_types) {
      part = Resources::Of(part[0], std::min<int64_t>(part[1], INT32_MAX));
    }
    AddSaturating(demand, part, types_);
  }
  demand = ComponentwiseMin(demand, queues_[id].max_share);
  if (demand == queues_[id].demand) return;
  queues_[id].demand = demand;
  TouchQueue(id);
}

void Core::UpdateLeafDemand(QueueId id) {
  Queue& leaf = queues_[id];
  leaf.demand_dirty = false;
  for (const AttemptId attempt : leaf.demand_changed) UpdateAttemptDemand(attempt);
  leaf.demand_changed.clear();
  Resources demand;
  for (size_t type = 0; type < types_; ++type) {
    demand[type] = static_cast<int64_t>(std::min<Wide>(leaf.demand_sum[type], INT64_MAX));
  }
  demand = ComponentwiseMin(demand, leaf.max_share);
  if (demand == leaf.demand) return;
  leaf.demand = demand;
  TouchQueue(id);
}

/// The attempt stands in its leaf, and asks or uses something else.
void Core::DemandChanged(AttemptId id) {
  Attempt& attempt = attempts_[id];
  if (attempt.stopped) return;
  queues_[attempt.queue].demand_dirty = true;
  if (attempt.demand_changed) return;
  attempt.demand_changed = true;
  queues_[attempt.queue].demand_changed.push_back(id);
}

/// An application's demand in the sum of its leaf: it comes, goes or changes.
void Core::CountDemand(Queue& leaf, const Resources& before, const Resources& after) const {
  for (size_t type = 0; type < types_; ++type) leaf.demand_sum[type] += Wide{after[type]} - before[type];
}

void Core::UpdateAttemptDemand(AttemptId id) {
  Attempt& attempt = attempts_[id];
  attempt.demand_changed = false;
  Resources demand = attempt.used;
  for (const Asks::ActiveKey& key : attempt.asks.active()) {
    const Request* any = attempt.asks.of(key).Any();
    if (any != nullptr && any->count > 0) AddTimes(demand, any->capability, any->count, types_);
  }
  if (demand == attempt.demand) return;
  CountDemand(queues_[attempt.queue], attempt.demand, demand);
  attempt.demand = demand;
  if (config_.size_based_weight) {
    attempt.weight = static_cast<float>(std::log1p(static_cast<double>(demand[0])) / std::log(2.0));
    queues_[attempt.queue].shares_dirty = true;
  }
  Touch(id);
}

/// FSParentQueue.updateInternal, FSLeafQueue.updateInternal.
void Core::UpdateShares(QueueId id) {
  Queue& queue = queues_[id];
  if (queue.shares_dirty) {
    queue.shares_dirty = false;
    const size_t types = queue.policy == Policy::kDrf ? types_ : queue.policy == Policy::kFair ? 1 : 0;
    if (queue.leaf) {
      ShareAmongAttempts(queue, types);
    } else {
      for (size_t type = 0; type < types; ++type) ShareAmongQueues(queue, type);
    }
    if (queue.policy == Policy::kFifo) ShareToFirst(queue);
  }
  for (const QueueId child : queue.children) UpdateShares(child);
}

void Core::ShareAmongQueues(const Queue& parent, size_t type) {
  sharers_.clear();
  for (const QueueId id : parent.children) {
    const Queue& child = queues_[id];
    sharers_.push_back({child.weight, child.min_share[type], child.max_share[type], child.NumRunnable() > 0, 0});
  }
  ComputeShares(sharers_, parent.fair_share[type], config_.quirks.shares_round_up);
  for (size_t i = 0; i < parent.children.size(); ++i) {
    Queue& child = queues_[parent.children[i]];
    const int64_t before = child.fair_share[type];
    SetShare(child.fair_share, type, sharers_[i].share);
    if (child.fair_share[type] != before) child.shares_dirty = true;
  }
}

/// Applications of one weight, and all have one unless it comes from their size, share alike: their share is kept once.
void Core::ShareAmongAttempts(Queue& leaf, size_t types) {
  if (leaf.runnable.empty() || types == 0) return;
  if (!config_.size_based_weight && MakeAlike(leaf, types)) {
    sharers_.assign(1, {});
    for (size_t type = 0; type < types; ++type) {
      ComputeShares(sharers_, leaf.fair_share[type], config_.quirks.shares_round_up, leaf.runnable.size());
      SetShare(leaf.app_share, type, sharers_[0].share);
    }
    return;
  }
  MakeOwn(leaf);
  for (size_t type = 0; type < types; ++type) {
    sharers_.clear();
    for (const AttemptId id : leaf.runnable) sharers_.push_back({attempts_[id].weight, 0, INT64_MAX, true, 0});
    ComputeShares(sharers_, leaf.fair_share[type], config_.quirks.shares_round_up);
    for (size_t i = 0; i < leaf.runnable.size(); ++i) {
      SetShare(attempts_[leaf.runnable[i]].fair_share, type, sharers_[i].share);
    }
  }
}

/// False when an application has a share of a type that its leaf does not share out: it moved, or the policy changed.
bool Core::MakeAlike(Queue& leaf, size_t types) {
  for (const AttemptId id : leaf.own_shares) {
    for (size_t type = types; type < Resources::kMaxTypes; ++type) {
      if (attempts_[id].fair_share[type] != leaf.app_share[type]) return false;
    }
  }
  for (const AttemptId id : leaf.own_shares) attempts_[id].alike = true;
  leaf.own_shares.clear();
  return true;
}

void Core::MakeOwn(Queue& leaf) {
  for (const AttemptId id : leaf.runnable) {
    if (attempts_[id].alike) attempts_[id].fair_share = leaf.app_share;
    attempts_[id].alike = false;
  }
  leaf.own_shares = leaf.runnable;
  leaf.app_share = {};
}

/// FifoPolicy.computeShares: all to the one that started first, the others keep what they had.
void Core::ShareToFirst(const Queue& leaf) {
  AttemptId first;
  for (const AttemptId id : leaf.runnable) {
    if (!config_.quirks.fifo_keeps_stale_shares) attempts_[id].fair_share = {};
    if (!first.valid() || attempts_[id].start_ms < attempts_[first].start_ms) first = id;
  }
  if (first.valid()) attempts_[first].fair_share = leaf.fair_share;
}

void Core::ComputeSteady(QueueId id) const {
  const Queue& parent = queues_[id];
  const size_t types = parent.policy == Policy::kDrf ? types_ : parent.policy == Policy::kFair ? 1 : 0;
  for (size_t type = 0; type < types; ++type) {
    std::vector<Sharer> sharers;
    for (const QueueId child : parent.children) {
      const Queue& queue = queues_[child];
      sharers.push_back({queue.weight, queue.min_share[type], queue.max_share[type], true, 0});
    }
    ComputeShares(sharers, parent.steady_share[type], config_.quirks.shares_round_up);
    for (size_t i = 0; i < sharers.size(); ++i) {
      SetShare(queues_[parent.children[i]].steady_share, type, sharers[i].share);
    }
  }
  for (const QueueId child : parent.children) {
    if (!queues_[child].leaf) ComputeSteady(child);
  }
}

}  // namespace fairlead::scheduler::yarn_fair
