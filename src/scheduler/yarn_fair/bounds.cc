#include "scheduler/yarn_fair/core.h"

// Which queues and applications a node need not be offered to, because it is too small for the smallest of what they
// ask for and none of them may reserve it. A bound is lowered with every change that might break it and raised by an
// offer that was in vain: perhaps those that made it so low are gone. Shares change in update passes, after which no
// queue is bounded. While locality is counted every offer counts, and none is left out.

namespace fairlead::scheduler::yarn_fair {

/// False when an offer of this node to the queue would change nothing.
bool Core::MayServe(const Queue& queue, const Node& node) const {
  return !queue.bounded || queue.least_ask.FitsIn(node.unallocated);
}

/// False when an offer of this node to the applications without a master would change nothing: all that they ask for
/// is too large for the masters' share, or for the node and too small to be reserved.
bool Core::MayStartOne(const Queue& leaf, const Node& node) const {
  if (leaf.order.starting.empty()) return false;
  const bool counts =
      locality_matters_ || leaf.least_start.FitsIn(node.unallocated) || MayReserve(leaf, leaf.most_start);
  return counts && (MastersUnlimited(leaf) || leaf.least_start.FitsIn(MasterLimit(leaf) - leaf.am_used));
}

/// True when the masters' share has no room for any of them before shares change or a master ends, whatever the cluster
/// has free (see MasterLimit).
bool Core::MastersFull(const Queue& leaf) const {
  if (MastersUnlimited(leaf)) return false;
  const Resources room = MultiplyUp(leaf.fair_share, leaf.max_am_share) - leaf.am_used;
  for (size_t type = 0; type < types_; ++type) {
    if (leaf.fair_share[type] != 0 && leaf.least_start[type] > room[type]) return true;
  }
  return false;
}

bool Core::MayReserveSome(const Attempt& attempt) const {
  return IsStarved(attempt) && MayReserve(queues_[attempt.queue], attempt.asks.most());
}

/// The attempt is offered nodes from now on, or asks for something else.
void Core::NoteAsks(const Attempt& attempt) {
  if (attempt.asks.active().empty()) return;
  if (attempt.master.Starts()) NoteStarting(attempt);
  ForEachUp(attempt.queue, [&](Queue& q) { q.least_ask = ComponentwiseMin(q.least_ask, attempt.asks.least()); });
  NoteUsage(attempt);
}

void Core::NoteStarting(const Attempt& attempt) {
  Queue& leaf = queues_[attempt.queue];
  leaf.least_start = ComponentwiseMin(leaf.least_start, attempt.asks.least());
  leaf.most_start = ComponentwiseMax(leaf.most_start, attempt.asks.most());
}

/// What uses less may be starved.
void Core::NoteUsage(const Attempt& attempt) {
  if (locality_matters_ || attempt.asks.active().empty()) return;
  if (MayReserveSome(attempt)) Unbound(attempt.queue);
}

void Core::Unbound(QueueId id) {
  ForEachUp(id, [](Queue& q) { q.bounded = false; });
}

void Core::RaiseBounds(Queue& queue) {
  if (locality_matters_) return;
  queue.bounded = true;
  queue.least_ask = Unbounded();
  const auto note = [&](const Resources& least, bool bounded) {
    queue.least_ask = ComponentwiseMin(queue.least_ask, least);
    queue.bounded &= bounded;
  };
  if (!queue.leaf) {
    for (const uint32_t member : queue.order.members) {
      const QueueId child{member};
      note(queues_[child].least_ask, queues_[child].bounded);
    }
    return;
  }
  for (const uint32_t member : queue.order.members) {
    const AttemptId id{member};
    if (!attempts_[id].asks.active().empty()) note(attempts_[id].asks.least(), !MayReserveSome(attempts_[id]));
  }
  if (!queue.order.starting.empty() && !MastersFull(queue))
    note(queue.least_start, !MayReserve(queue, queue.most_start));
}

void Core::RaiseStartingBounds(Queue& leaf) {
  leaf.least_start = Unbounded();
  leaf.most_start = {};
  for (const uint32_t member : leaf.order.starting) NoteStarting(attempts_[AttemptId{member}]);
}

}  // namespace fairlead::scheduler::yarn_fair
