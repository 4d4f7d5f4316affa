#include <algorithm>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/core.h"

// Who is starved: FSLeafQueue.updateStarvedApps, FSAppAttempt.fairShareStarvation, FSStarvedApps.

namespace fairlead::scheduler::yarn_fair {

/// FairScheduler.shouldAttemptPreemption.
bool Core::ShouldPreempt() const {
  const float memory = static_cast<float>(allocated_[0]) / static_cast<float>(nodes_.total()[0]);
  const float vcores = static_cast<float>(allocated_[1]) / static_cast<float>(nodes_.total()[1]);
  if (memory != memory || vcores != vcores) return false;
  return config_.preemption_utilization_threshold < std::max(memory, vcores);
}

bool Core::IsUsageBelowShare(const Attempt& attempt, const Resources& usage, const Resources& share) const {
  return hadoop::CompareBy(CalculatorOf(queues_[attempt.queue].policy), nodes_.total(), usage, share, true, types_) < 0;
}

bool Core::IsStarved(const Attempt& attempt) const {
  return IsUsageBelowShare(attempt, attempt.used, FairShareOf(attempt)) || !attempt.min_starvation.IsZero();
}

void Core::UpdateStarved(QueueId id) {
  const std::vector<AttemptId> attempts = StarvationCandidates(id);
  Resources fair_share_total;
  for (const AttemptId attempt : attempts) {
    const Resources starvation = FairShareStarvation(attempts_[attempt]);
    if (starvation.IsZero()) break;
    AddStarved(attempt);
    fair_share_total += starvation;
  }
  Resources min_share = MinShareStarvation(queues_[id]);
  SubtractNonNegative(min_share, fair_share_total);
  SpreadMinShareStarvation(queues_[id], attempts, min_share);
}

/// Runnable applications with pending demand whose time for a check has come, in the leaf's order.
std::vector<AttemptId> Core::StarvationCandidates(QueueId id) const {
  const Queue& leaf = queues_[id];
  const CompareContext context = ContextOf(leaf);
  std::vector<AttemptId> list;
  std::vector<OrderKey> keys;
  bool exact = true;
  for (const AttemptId attempt : leaf.runnable) {
    if (!attempts_[attempt].offerable || now_ms_ < attempts_[attempt].next_starvation_check) continue;
    list.push_back(attempt);
    keys.push_back(KeyOf(context, SubjectOf(attempts_[attempt])));
    exact &= keys.back().exact;
  }
  std::vector<uint32_t> order(list.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  if (exact) {
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
  } else {
    order = java::TreeOrder(static_cast<uint32_t>(list.size()), [&](uint32_t a, uint32_t b) {
      return Compare(context, SubjectOf(attempts_[list[a]]), SubjectOf(attempts_[list[b]]));
    });
  }
  std::vector<AttemptId> sorted;
  for (const uint32_t i : order) sorted.push_back(list[i]);
  return sorted;
}

Resources Core::FairShareStarvation(Attempt& attempt) {
  const Queue& leaf = queues_[attempt.queue];
  const Resources threshold = MultiplyDown(FairShareOf(attempt), leaf.fair_share_threshold);
  const Resources wanted = ComponentwiseMin(threshold, attempt.demand);
  const bool starved = IsUsageBelowShare(attempt, attempt.used, wanted);
  if (!starved) attempt.last_at_fair_share = now_ms_;
  attempt.fair_starvation = {};
  if (starved && now_ms_ - attempt.last_at_fair_share >= leaf.fair_share_timeout) {
    attempt.fair_starvation = wanted;
    SubtractNonNegative(attempt.fair_starvation, attempt.used);
  }
  return attempt.fair_starvation;
}

Resources Core::MinShareStarvation(Queue& leaf) {
  Resources starvation = ComponentwiseMin(leaf.min_share, leaf.demand);
  SubtractNonNegative(starvation, leaf.used);
  if (starvation.IsZero()) leaf.last_at_min_share = now_ms_;
  if (now_ms_ - leaf.last_at_min_share < leaf.min_share_timeout) return {};
  return starvation;
}

/// FSLeafQueue.updateStarvedAppsMinshare.
void Core::SpreadMinShareStarvation(const Queue& leaf, const std::vector<AttemptId>& attempts, Resources pending) {
  for (const AttemptId id : attempts) {
    Attempt& attempt = attempts_[id];
    if (pending.IsZero()) {
      attempt.min_starvation = {};
      continue;
    }
    Resources part = attempt.demand - attempt.used;
    SubtractNonNegative(part, attempt.fair_starvation);
    if (hadoop::CompareBy(CalculatorOf(leaf.policy), nodes_.total(), part, pending, false, types_) > 0) {
      if (config_.quirks.min_share_leftover_inverted) {
        SubtractNonNegative(part, pending);
      } else {
        part = pending;
      }
      pending = {};
    } else {
      SubtractNonNegative(pending, part);
    }
    attempt.min_starvation = part;
    AddStarved(id);
  }
}

/// FSStarvedApps.StarvationComparator: smaller starvation first; no order where neither fits.
int Core::CompareStarvation(AttemptId a, AttemptId b) const {
  return Starvation(attempts_[a]).FitsIn(Starvation(attempts_[b])) ? -1 : 1;
}

void Core::AddStarved(AttemptId id) {
  if (attempts_[id].in_starved_queue) return;
  attempts_[id].in_starved_queue = true;
  ++attempts_[id].pins;
  starved_.Add(id, [this](AttemptId a, AttemptId b) { return CompareStarvation(a, b); });
}

}  // namespace fairlead::scheduler::yarn_fair
