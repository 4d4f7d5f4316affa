#include "scheduler/yarn_fair/starvation.h"

#include <algorithm>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/ordering.h"

// Who is starved: FSLeafQueue.updateStarvedApps, FSAppAttempt.fairShareStarvation, FSStarvedApps.

namespace fairlead::scheduler::yarn_fair {

static std::vector<AttemptId> StarvationCandidates(const Books& books, QueueId leaf);
static Resources FairShareStarvation(Books& books, Attempt& attempt);
static Resources MinShareStarvation(Books& books, Queue& leaf);
static void SpreadMinShareStarvation(Books& books, const Queue& leaf, const std::vector<AttemptId>& attempts,
                                     Resources pending);
static void AddStarved(Books& books, AttemptId id);

bool ShouldPreempt(const Books& books) {
  const float memory = static_cast<float>(books.totals.allocated[0]) / static_cast<float>(books.nodes.total()[0]);
  const float vcores = static_cast<float>(books.totals.allocated[1]) / static_cast<float>(books.nodes.total()[1]);
  if (memory != memory || vcores != vcores) return false;
  return books.config.preemption_utilization_threshold < std::max(memory, vcores);
}

bool IsUsageBelowShare(const Books& books, const Attempt& attempt, const Resources& usage, const Resources& share) {
  return hadoop::CompareBy(CalculatorOf(books.queues[attempt.queue].policy), books.nodes.total(), usage, share, true,
                           books.fixed.types) < 0;
}

bool IsStarved(const Books& books, const Attempt& attempt) {
  return IsUsageBelowShare(books, attempt, attempt.used, books.FairShareOf(attempt)) ||
         !attempt.min_starvation.IsZero();
}

void UpdateStarved(Books& books, QueueId id) {
  const std::vector<AttemptId> attempts = StarvationCandidates(books, id);
  Resources fair_share_total;
  for (const AttemptId attempt : attempts) {
    const Resources starvation = FairShareStarvation(books, books.attempts[attempt]);
    if (starvation.IsZero()) break;
    AddStarved(books, attempt);
    fair_share_total += starvation;
  }
  Resources min_share = MinShareStarvation(books, books.queues[id]);
  SubtractNonNegative(min_share, fair_share_total);
  SpreadMinShareStarvation(books, books.queues[id], attempts, min_share);
}

/// Runnable applications with pending demand whose time for a check has come, in the leaf's order.
std::vector<AttemptId> StarvationCandidates(const Books& books, QueueId id) {
  const Queue& leaf = books.queues[id];
  const CompareContext context = ContextOf(books, leaf);
  std::vector<AttemptId> list;
  std::vector<OrderKey> keys;
  bool exact = true;
  for (const AttemptId attempt : leaf.runnable) {
    if (!books.attempts[attempt].offerable || books.now_ms < books.attempts[attempt].next_starvation_check) continue;
    list.push_back(attempt);
    keys.push_back(KeyOf(context, SubjectOf(books.attempts[attempt])));
    exact &= keys.back().exact;
  }
  std::vector<uint32_t> order(list.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  if (exact) {
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
  } else {
    order = java::TreeOrder(static_cast<uint32_t>(list.size()), [&](uint32_t a, uint32_t b) {
      return Compare(context, SubjectOf(books.attempts[list[a]]), SubjectOf(books.attempts[list[b]]));
    });
  }
  std::vector<AttemptId> sorted;
  for (const uint32_t i : order) sorted.push_back(list[i]);
  return sorted;
}

Resources FairShareStarvation(Books& books, Attempt& attempt) {
  const Queue& leaf = books.queues[attempt.queue];
  const Resources threshold = MultiplyDown(books.FairShareOf(attempt), leaf.fair_share_threshold);
  const Resources wanted = ComponentwiseMin(threshold, attempt.demand);
  const bool starved = IsUsageBelowShare(books, attempt, attempt.used, wanted);
  if (!starved) attempt.last_at_fair_share = books.now_ms;
  attempt.fair_starvation = {};
  if (starved && books.now_ms - attempt.last_at_fair_share >= leaf.fair_share_timeout) {
    attempt.fair_starvation = wanted;
    SubtractNonNegative(attempt.fair_starvation, attempt.used);
  }
  return attempt.fair_starvation;
}

Resources MinShareStarvation(Books& books, Queue& leaf) {
  Resources starvation = ComponentwiseMin(leaf.min_share, leaf.demand);
  SubtractNonNegative(starvation, leaf.used);
  if (starvation.IsZero()) leaf.last_at_min_share = books.now_ms;
  if (books.now_ms - leaf.last_at_min_share < leaf.min_share_timeout) return {};
  return starvation;
}

/// FSLeafQueue.updateStarvedAppsMinshare.
void SpreadMinShareStarvation(Books& books, const Queue& leaf, const std::vector<AttemptId>& attempts,
                              Resources pending) {
  for (const AttemptId id : attempts) {
    Attempt& attempt = books.attempts[id];
    if (pending.IsZero()) {
      attempt.min_starvation = {};
      continue;
    }
    Resources part = attempt.demand - attempt.used;
    SubtractNonNegative(part, attempt.fair_starvation);
    if (hadoop::CompareBy(CalculatorOf(leaf.policy), books.nodes.total(), part, pending, false, books.fixed.types) >
        0) {
      if (books.config.quirks.min_share_leftover_inverted) {
        SubtractNonNegative(part, pending);
      } else {
        part = pending;
      }
      pending = {};
    } else {
      SubtractNonNegative(pending, part);
    }
    attempt.min_starvation = part;
    AddStarved(books, id);
  }
}

int CompareStarvation(const Books& books, AttemptId a, AttemptId b) {
  return Starvation(books.attempts[a]).FitsIn(Starvation(books.attempts[b])) ? -1 : 1;
}

void AddStarved(Books& books, AttemptId id) {
  if (books.attempts[id].in_starved_queue) return;
  books.attempts[id].in_starved_queue = true;
  ++books.attempts[id].pins;
  books.preemption.starved.Add(id, [&books](AttemptId a, AttemptId b) { return CompareStarvation(books, a, b); });
}

}  // namespace fairlead::scheduler::yarn_fair
