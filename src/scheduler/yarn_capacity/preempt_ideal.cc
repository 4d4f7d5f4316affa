#include <algorithm>

#include "scheduler/hadoop/calculator.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/preempt_round.h"

namespace fairlead::scheduler::yarn_capacity {

using hadoop::java::PriorityQueue;

static int Compared(double a, double b) { return a < b ? -1 : (a > b ? 1 : 0); }

namespace {

/// Shares what a queue is to have among its children.
class Sharing {
 public:
  Sharing(PreemptRoundState& round, bool with_reserved, bool balance)
      : round_(round), calc_(round.calc()), with_reserved_(with_reserved), balance_(balance) {}

  void Share(const PreemptQueue& parent);

 private:
  using Heap = PriorityQueue<size_t>;
  PreemptQueue& At(size_t i) { return round_.queues[i]; }
  const PreemptQueue& At(size_t i) const { return round_.queues[i]; }
  int Compare(size_t a, size_t b) const;
  double Satisfaction(const PreemptQueue& queue) const;
  /// computeFixpointAllocation: `unassigned` changes as the caller's object in Java does.
  void Fix(const std::vector<size_t>& queues, Resources& unassigned, bool ignore_guarantee);
  void Normalize(const Heap& queues, bool ignore_guarantee);
  void NormalizeType(const Heap& queues, size_t type, const Resources& guaranteed, float absolute);
  std::vector<size_t> MostUnderserved(Heap& by_need);
  Resources Offer(PreemptQueue& queue, const Resources& available) const;

  PreemptRoundState& round_;
  const Arithmetic& calc_;
  bool with_reserved_;
  bool balance_;
  Resources whole_;  // to be shared
};

double Sharing::Satisfaction(const PreemptQueue& queue) const {
  if (!calc_.Greater(whole_, queue.guaranteed, {})) return INT32_MAX;
  return calc_.Divide(whole_, queue.ideal, queue.guaranteed);
}

int Sharing::Compare(size_t a, size_t b) const {
  const double has_a = Satisfaction(At(a));
  const double has_b = Satisfaction(At(b));
  if (At(a).priority != At(b).priority && (has_a < 1) == (has_b < 1)) return Compared(At(b).priority, At(a).priority);
  return Compared(has_a, has_b);
}

void Sharing::Share(const PreemptQueue& parent) {
  whole_ = parent.ideal;
  const std::vector<size_t> children = parent.children;
  std::vector<size_t> with_guarantee;
  std::vector<size_t> without;
  for (const size_t child : children) {
    (calc_.Greater(whole_, At(child).guaranteed, {}) ? with_guarantee : without).push_back(child);
  }
  Resources unassigned = whole_;
  Fix(with_guarantee, unassigned, false);
  if (!without.empty() && calc_.Greater(whole_, unassigned, {})) Fix(without, unassigned, true);

  Resources needed;
  for (const size_t child : children) {
    if (calc_.Greater(whole_, At(child).used, At(child).ideal)) needed += At(child).used - At(child).ideal;
  }
  const float scale =
      calc_.Greater(whole_, needed, round_.allowed) ? calc_.Divide(whole_, round_.allowed, needed) : 1.0F;
  for (const size_t child : children) {
    PreemptQueue& queue = At(child);
    const Resources used = queue.used - queue.killable;
    const Resources least =
        calc_.Max(whole_, calc_.Min(whole_, queue.used + queue.pending, queue.guaranteed), queue.ideal);
    queue.surplus = calc_.Greater(whole_, used, least) ? hadoop::MultiplyDown(used - least, scale) : Resources{};
  }
}

void Sharing::Fix(const std::vector<size_t>& queues, Resources& callers, bool ignore_guarantee) {
  const auto compare = [this](size_t a, size_t b) { return Compare(a, b); };
  Heap by_need;
  for (const size_t i : queues) {
    PreemptQueue& queue = At(i);
    queue.ideal = calc_.Greater(whole_, queue.used, queue.guaranteed)
                      ? hadoop::ComponentwiseMin(queue.guaranteed, queue.used) + queue.untouchable
                      : queue.used;
    callers -= queue.ideal;
    if (calc_.Less(whole_, queue.ideal, queue.used + queue.pending)) by_need.Add(i, compare);
  }
  Resources unassigned = callers;
  bool own = false;
  while (!by_need.empty() && calc_.Greater(whole_, unassigned, {})) {
    Normalize(by_need, ignore_guarantee);
    const std::vector<size_t> underserved = MostUnderserved(by_need);
    const Resources at_start = unassigned;
    for (const size_t i : underserved) {
      if (!calc_.AnyAboveZero(unassigned)) break;
      Resources step;
      for (size_t type = 0; type < calc_.types(); ++type) step[type] = 1;
      const Resources available =
          hadoop::ComponentwiseMin(calc_.MultiplyUp(at_start, At(i).normalized, step), unassigned);
      const Resources done = available - Offer(At(i), available);
      if (calc_.Greater(whole_, done, {})) by_need.Add(i, compare);
      unassigned -= done;
      if (!own) callers = unassigned;
      own = true;
      unassigned = hadoop::ComponentwiseMax(unassigned, {});
    }
  }
  while (!by_need.empty()) round_.AddUnderserved(At(by_need.Poll(compare)));
}

void Sharing::Normalize(const Heap& queues, bool ignore_guarantee) {
  if (ignore_guarantee) {
    for (const size_t i : queues.items()) {
      At(i).normalized.assign(calc_.types(), 1.0F / static_cast<float>(queues.items().size()));
    }
    return;
  }
  Resources guaranteed;
  float absolute = 0;
  for (const size_t i : queues.items()) {
    guaranteed += At(i).guaranteed;
    absolute += At(i).absolute;
  }
  for (size_t type = 0; type < calc_.types(); ++type) NormalizeType(queues, type, guaranteed, absolute);
}

void Sharing::NormalizeType(const Heap& queues, size_t type, const Resources& guaranteed, float absolute) {
  const bool stays = round_.books.config.quirks.offers_of_unguaranteed_types_stay;
  if (stays && guaranteed[type] == 0) return;
  bool by_share = false;
  bool evenly = absolute == 0 && !stays;
  for (const size_t i : queues.items()) {
    if (stays) break;
    if (At(i).guaranteed[type] == 0 && At(i).absolute != 0 && guaranteed[type] != 0) {
      by_share = true;
      break;
    }
    if (guaranteed[type] == 0) evenly = true;
  }
  for (const size_t i : queues.items()) {
    double& normalized = At(i).normalized[type];
    if (by_share) {
      if (absolute != 0) normalized = At(i).absolute / absolute;
    } else if (evenly) {
      normalized = 1.0F / static_cast<float>(queues.items().size());
    } else {
      normalized = guaranteed[type] == 0
                       ? 0.0F
                       : static_cast<float>(At(i).guaranteed[type]) / static_cast<float>(guaranteed[type]);
    }
  }
}

std::vector<size_t> Sharing::MostUnderserved(Heap& by_need) {
  const auto compare = [this](size_t a, size_t b) { return Compare(a, b); };
  std::vector<size_t> underserved;
  while (!by_need.empty()) {
    const size_t first = by_need.Poll(compare);
    underserved.push_back(first);
    round_.AddUnderserved(At(first));
    if (by_need.empty()) break;
    const size_t next = by_need.items().front();
    if (compare(first, next) < 0) {
      round_.AddUnderserved(At(next));
      break;
    }
  }
  return underserved;
}

/// TempQueuePerPartition.offer: what it does not take of `available`.
Resources Sharing::Offer(PreemptQueue& queue, const Resources& available) const {
  const Resources room = hadoop::ComponentwiseMax(queue.maximum - queue.ideal, {});
  const Resources wanted = queue.used + (with_reserved_ ? queue.pending : queue.pending_without_reserved) - queue.ideal;
  Resources accepted = hadoop::ComponentwiseMin(room, calc_.Min(whole_, available, wanted));
  if (!balance_ && queue.children.empty()) {
    const Resources up_to = calc_.Max(whole_, queue.used, queue.guaranteed) - queue.ideal;
    accepted = calc_.Min(whole_, accepted, calc_.Max(whole_, up_to, {}));
  }
  accepted = hadoop::ComponentwiseMin(hadoop::ComponentwiseMax(accepted, {}), available);
  queue.ideal += accepted;
  return available - accepted;
}

void UpdateExtras(PreemptRoundState& round, PreemptQueue& queue) {
  const Arithmetic& calc = round.calc();
  Resources below;
  for (const size_t child : queue.children) {
    UpdateExtras(round, round.queues[child]);
    below += round.queues[child].preemptable;
  }
  Resources extra = queue.used - queue.guaranteed;
  if (calc.Less(queue.whole, extra, {})) extra = {};
  if (queue.children.empty()) {
    queue.untouchable = queue.disabled ? extra : Resources{};
    queue.preemptable = queue.disabled ? Resources{} : extra;
    return;
  }
  queue.untouchable = calc.AtLeast(queue.whole, below, extra) ? Resources{} : extra - below;
  queue.preemptable = calc.Min(queue.whole, below, extra);
}

void ShareDown(PreemptRoundState& round, Sharing& sharing, size_t at) {
  if (round.queues[at].children.empty()) return;
  sharing.Share(round.queues[at]);
  for (const size_t child : std::vector<size_t>(round.queues[at].children)) ShareDown(round, sharing, child);
}

}  // namespace

void ComputeIdeal(PreemptRoundState& round, bool with_reserved, bool balance) {
  const Arithmetic& calc = round.calc();
  const Resources& cluster = round.books.cluster();
  const model::CapacityPreemption& keys = round.books.file.preemption;
  Sharing sharing(round, with_reserved, balance);
  for (const PartitionId partition : round.partitions) {
    const size_t root = round.index.at({round.books.queues.root(), partition});
    UpdateExtras(round, round.queues[root]);
    round.queues[root].ideal = round.queues[root].guaranteed;
    ShareDown(round, sharing, root);
  }
  for (const QueueId leaf : round.leaves) {
    if (round.Of(leaf, kNoLabel).disabled) continue;
    for (const PartitionId partition : round.partitions) {
      PreemptQueue& queue = round.Of(leaf, partition);
      queue.to_take = {};
      const Resources tolerated = hadoop::MultiplyDown(queue.guaranteed, 1.0 + keys.max_ignored_over_capacity);
      if (!calc.Greater(cluster, queue.used, tolerated)) continue;
      queue.to_take = queue.surplus;
      if (!with_reserved && calc.Greater(cluster, queue.surplus, {})) {
        queue.to_take = calc.MultiplyUp(queue.surplus, keys.natural_termination_factor, Resources::Of(1, 1));
      }
    }
  }
}

}  // namespace fairlead::scheduler::yarn_capacity
