#include "scheduler/yarn_fair/check.h"

#include <algorithm>

#include "scheduler/yarn_fair/bounds.h"
#include "scheduler/yarn_fair/ordering.h"

// CheckInvariants: every sum, count, list and order computed from scratch and compared with what is kept.

namespace fairlead::scheduler::yarn_fair {
namespace {

template <class T>
std::string Differs(const std::string& what, const T& kept, const T& counted) {
  if (kept == counted) return "";
  if constexpr (std::is_same_v<T, Resources>) {
    return what + " is " + model::ToString(kept) + ", counted " + model::ToString(counted) + "\n";
  } else {
    return what + " is " + std::to_string(kept) + ", counted " + std::to_string(counted) + "\n";
  }
}

}  // namespace

static std::string CheckAttempts(const Books& books);
static std::string CheckQueues(const Books& books);
static std::string CheckShares(const Books& books, const Queue& leaf);
static std::string CheckBounds(const Books& books);
static std::string CheckOrders(const Books& books);

std::string Check(const Books& books) {
  return books.nodes.Check(books.containers, books.names) + books.promises.Check() + CheckAttempts(books) +
         CheckQueues(books) + CheckBounds(books) + CheckOrders(books);
}

std::string CheckAttempts(const Books& books) {
  std::string wrong;
  Resources allocated;
  for (const AttemptId id : books.attempts) {
    const Attempt& attempt = books.attempts[id];
    std::string here = attempt.asks.Check();
    const Resources used = books.containers.CheckAttempt(attempt.live, id, here);
    Resources marked;
    for (const ContainerSlot slot : books.containers.OfAttempt(attempt.live)) {
      if (books.containers[slot].marked) marked += books.containers[slot].resources;
    }
    allocated += used;
    here += Differs("used", attempt.used, used);
    here += Differs("to be preempted", attempt.to_be_preempted, marked);
    Resources reserved;
    for (const NodeIndex node : attempt.reserved_nodes)
      reserved += books.containers[books.nodes[node].reserved].resources;
    here += Differs("reserved", attempt.reserved, reserved);
    if (attempt.offerable != (attempt.runnable && attempt.demand != attempt.used)) {
      here += "whether it is offered nodes is out of date\n";
    }
    if (!here.empty()) wrong += model::ToString(books.apps[attempt.app].id) + ": " + here;
  }
  return wrong + Differs("allocated", books.totals.allocated, allocated);
}

/// Usage is checked only where Hadoop's own books can be right: after the quirks that count twice they are not.
std::string CheckQueues(const Books& books) {
  std::string wrong;
  for (const auto& [name, id] : books.tree.ids) {
    const Queue& queue = books.queues[id];
    Resources used;
    uint32_t offerable = 0;
    int32_t runnable = 0;
    for (const AttemptId attempt : queue.runnable) {
      used += books.attempts[attempt].used;
      offerable += books.attempts[attempt].offerable ? 1 : 0;
      if (!books.attempts[attempt].runnable || books.attempts[attempt].queue != id)
        wrong += name + " runs a foreign attempt\n";
    }
    for (const AttemptId attempt : queue.waiting) used += books.attempts[attempt].used;
    for (const QueueId child : queue.children) {
      used += books.queues[child].used;
      offerable += books.queues[child].offerable;
      runnable += books.queues[child].NumRunnable();
      if (books.queues[child].parent != id || !books.queues[child].alive) wrong += name + " lists a foreign child\n";
    }
    wrong += CheckShares(books, queue);
    wrong += Differs(name + ": used", queue.used, used);
    wrong += Differs(name + ": offerable", queue.offerable, offerable);
    if (!queue.leaf) wrong += Differs(name + ": runnable", queue.runnable_below, runnable);
  }
  return wrong;
}

/// What update passes keep of a leaf's applications, so that they need not look at each.
std::string CheckShares(const Books& books, const Queue& leaf) {
  std::string wrong;
  std::array<Wide, Resources::kMaxTypes> demand{};
  for (const std::vector<AttemptId>* list : {&leaf.runnable, &leaf.waiting}) {
    for (const AttemptId id : *list) {
      for (size_t type = 0; type < demand.size(); ++type) demand[type] += books.attempts[id].demand[type];
      const bool own = std::count(leaf.own_shares.begin(), leaf.own_shares.end(), id) == 1;
      if (own != (books.attempts[id].runnable && !books.attempts[id].alike))
        wrong += leaf.name + ": whose share is its own\n";
      const auto& changed = leaf.demand_changed;
      if (books.attempts[id].demand_changed != (std::count(changed.begin(), changed.end(), id) == 1)) {
        wrong += leaf.name + ": whose demand has changed\n";
      }
    }
  }
  if (demand != leaf.demand_sum) wrong += leaf.name + ": the sum of demands\n";
  return wrong;
}

/// What lets a node pass by (bounds.cc).
std::string CheckBounds(const Books& books) {
  std::string wrong;
  for (const AttemptId id : books.attempts) {
    const Attempt& attempt = books.attempts[id];
    if (!attempt.offerable || attempt.asks.active().empty()) continue;
    const std::string name = model::ToString(books.apps[attempt.app].id);
    const Queue& leaf = books.queues[attempt.queue];
    const bool in_vain = !leaf.least_start.FitsIn(attempt.asks.least()) || !attempt.asks.most().FitsIn(leaf.most_start);
    if (leaf.order.built && attempt.master.Starts() && in_vain)
      wrong += name + ": passed over before it has a master\n";
    for (QueueId at = attempt.queue; at.valid(); at = books.queues[at].parent) {
      const bool waits = attempt.master.Starts() && MastersFull(books, leaf);
      if (!books.queues[at].bounded || waits || books.fixed.locality_matters) continue;
      if (!books.queues[at].least_ask.FitsIn(attempt.asks.least()))
        wrong += books.queues[at].name + ": " + name + " asks for less\n";
      if (MayReserveSome(books, attempt)) wrong += books.queues[at].name + ": " + name + " may reserve a node\n";
    }
  }
  return wrong;
}

/// Orders that are kept must be what building them again gives.
std::string CheckOrders(const Books& books) {
  Books copy(books);
  std::string wrong;
  for (const auto& [name, id] : books.tree.ids) {
    if (!books.queues[id].order.built) continue;
    Refresh(copy, id);
    const Order kept = copy.queues[id].order;
    Rebuild(copy, id);
    const Order& anew = copy.queues[id].order;
    if (kept.members != anew.members || kept.starting != anew.starting)
      wrong += name + ": the order of its members is out of date\n";
    wrong += Differs(name + ": members without an exact key", kept.inexact, anew.inexact);
    if (anew.inexact > 0) continue;
    std::vector<uint32_t> exact = ExactOrder(copy, id);
    if (!books.queues[id].leaf)
      std::erase_if(exact, [&](uint32_t member) { return books.queues[QueueId{member}].offerable == 0; });
    if (exact != (books.queues[id].leaf ? Merged(copy, anew) : anew.members))
      wrong += name + ": keys and comparator disagree\n";
  }
  return wrong;
}

}  // namespace fairlead::scheduler::yarn_fair
