#include "scheduler/yarn_fair/bounds.h"

#include "scheduler/yarn_fair/assign.h"
#include "scheduler/yarn_fair/reserve.h"
#include "scheduler/yarn_fair/starvation.h"

// Which queues and applications a node need not be offered to, because it is too small for the smallest of what they
// ask for and none of them may reserve it. A bound is lowered with every change that might break it and raised by an
// offer that was in vain: perhaps those that made it so low are gone. Shares change in update passes, after which no
// queue is bounded. While locality is counted every offer counts, and none is left out.

namespace fairlead::scheduler::yarn_fair {

bool MayServe(const Queue& queue, const Node& node) {
  return !queue.bounded || queue.least_ask.FitsIn(node.unallocated);
}

bool MayStartOne(const Books& books, const Queue& leaf, const Node& node) {
  if (leaf.order.starting.empty()) return false;
  const bool counts = books.fixed.locality_matters || leaf.least_start.FitsIn(node.unallocated) ||
                      MayReserve(books, leaf, leaf.most_start);
  return counts && (MastersUnlimited(leaf) || leaf.least_start.FitsIn(MasterLimit(books, leaf) - leaf.am_used));
}

bool MastersFull(const Books& books, const Queue& leaf) {
  if (MastersUnlimited(leaf)) return false;
  const Resources room = MultiplyUp(leaf.fair_share, leaf.max_am_share) - leaf.am_used;
  for (size_t type = 0; type < books.fixed.types; ++type) {
    if (leaf.fair_share[type] != 0 && leaf.least_start[type] > room[type]) return true;
  }
  return false;
}

bool MayReserveSome(const Books& books, const Attempt& attempt) {
  return IsStarved(books, attempt) && MayReserve(books, books.queues[attempt.queue], attempt.asks.most());
}

void NoteAsks(Books& books, const Attempt& attempt) {
  if (attempt.asks.active().empty()) return;
  if (attempt.master.Starts()) NoteStarting(books, attempt);
  books.ForEachUp(attempt.queue, [&](Queue& q) { q.least_ask = ComponentwiseMin(q.least_ask, attempt.asks.least()); });
  NoteUsage(books, attempt);
}

void NoteStarting(Books& books, const Attempt& attempt) {
  Queue& leaf = books.queues[attempt.queue];
  leaf.least_start = ComponentwiseMin(leaf.least_start, attempt.asks.least());
  leaf.most_start = ComponentwiseMax(leaf.most_start, attempt.asks.most());
}

void NoteUsage(Books& books, const Attempt& attempt) {
  if (books.fixed.locality_matters || attempt.asks.active().empty()) return;
  if (MayReserveSome(books, attempt)) Unbound(books, attempt.queue);
}

void Unbound(Books& books, QueueId id) {
  books.ForEachUp(id, [](Queue& q) { q.bounded = false; });
}

void RaiseBounds(Books& books, Queue& queue) {
  if (books.fixed.locality_matters) return;
  queue.bounded = true;
  queue.least_ask = Unbounded();
  const auto note = [&](const Resources& least, bool bounded) {
    queue.least_ask = ComponentwiseMin(queue.least_ask, least);
    queue.bounded &= bounded;
  };
  if (!queue.leaf) {
    for (const uint32_t member : queue.order.members) {
      const QueueId child{member};
      note(books.queues[child].least_ask, books.queues[child].bounded);
    }
    return;
  }
  for (const uint32_t member : queue.order.members) {
    const AttemptId id{member};
    if (!books.attempts[id].asks.active().empty())
      note(books.attempts[id].asks.least(), !MayReserveSome(books, books.attempts[id]));
  }
  if (!queue.order.starting.empty() && !MastersFull(books, queue))
    note(queue.least_start, !MayReserve(books, queue, queue.most_start));
}

void RaiseStartingBounds(Books& books, Queue& leaf) {
  leaf.least_start = Unbounded();
  leaf.most_start = {};
  for (const uint32_t member : leaf.order.starting) NoteStarting(books, books.attempts[AttemptId{member}]);
}

}  // namespace fairlead::scheduler::yarn_fair
