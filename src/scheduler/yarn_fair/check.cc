#include <algorithm>

#include "scheduler/yarn_fair/core.h"

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

std::string Core::CheckInvariants() const {
  return nodes_.Check(containers_, names_) + promises_.Check() + CheckAttempts() + CheckQueues() + CheckBounds() +
         CheckOrders();
}

std::string Core::CheckAttempts() const {
  std::string wrong;
  Resources allocated;
  for (const AttemptId id : attempts_) {
    const Attempt& attempt = attempts_[id];
    std::string here = attempt.asks.Check();
    const Resources used = containers_.CheckAttempt(attempt.live, id, here);
    Resources marked;
    for (const ContainerSlot slot : containers_.OfAttempt(attempt.live)) {
      if (containers_[slot].marked) marked += containers_[slot].resources;
    }
    allocated += used;
    here += Differs("used", attempt.used, used);
    here += Differs("to be preempted", attempt.to_be_preempted, marked);
    Resources reserved;
    for (const NodeIndex node : attempt.reserved_nodes) reserved += containers_[nodes_[node].reserved].resources;
    here += Differs("reserved", attempt.reserved, reserved);
    if (attempt.offerable != (attempt.runnable && attempt.demand != attempt.used)) {
      here += "whether it is offered nodes is out of date\n";
    }
    if (!here.empty()) wrong += model::ToString(apps_[attempt.app].id) + ": " + here;
  }
  return wrong + Differs("allocated", allocated_, allocated);
}

/// Usage is checked only where Hadoop's own books can be right: after the quirks that count twice they are not.
std::string Core::CheckQueues() const {
  std::string wrong;
  for (const auto& [name, id] : queue_ids_) {
    const Queue& queue = queues_[id];
    Resources used;
    uint32_t offerable = 0;
    int32_t runnable = 0;
    for (const AttemptId attempt : queue.runnable) {
      used += attempts_[attempt].used;
      offerable += attempts_[attempt].offerable ? 1 : 0;
      if (!attempts_[attempt].runnable || attempts_[attempt].queue != id) wrong += name + " runs a foreign attempt\n";
    }
    for (const AttemptId attempt : queue.waiting) used += attempts_[attempt].used;
    for (const QueueId child : queue.children) {
      used += queues_[child].used;
      offerable += queues_[child].offerable;
      runnable += queues_[child].NumRunnable();
      if (queues_[child].parent != id || !queues_[child].alive) wrong += name + " lists a foreign child\n";
    }
    wrong += CheckShares(queue);
    wrong += Differs(name + ": used", queue.used, used);
    wrong += Differs(name + ": offerable", queue.offerable, offerable);
    if (!queue.leaf) wrong += Differs(name + ": runnable", queue.runnable_below, runnable);
  }
  return wrong;
}

/// What update passes keep of a leaf's applications, so that they need not look at each.
std::string Core::CheckShares(const Queue& leaf) const {
  std::string wrong;
  std::array<Wide, Resources::kMaxTypes> demand{};
  for (const std::vector<AttemptId>* list : {&leaf.runnable, &leaf.waiting}) {
    for (const AttemptId id : *list) {
      for (size_t type = 0; type < demand.size(); ++type) demand[type] += attempts_[id].demand[type];
      const bool own = std::count(leaf.own_shares.begin(), leaf.own_shares.end(), id) == 1;
      if (own != (attempts_[id].runnable && !attempts_[id].alike)) wrong += leaf.name + ": whose share is its own\n";
      const auto& changed = leaf.demand_changed;
      if (attempts_[id].demand_changed != (std::count(changed.begin(), changed.end(), id) == 1)) {
        wrong += leaf.name + ": whose demand has changed\n";
      }
    }
  }
  if (demand != leaf.demand_sum) wrong += leaf.name + ": the sum of demands\n";
  return wrong;
}

/// What lets a node pass by (bounds.cc).
std::string Core::CheckBounds() const {
  std::string wrong;
  for (const AttemptId id : attempts_) {
    const Attempt& attempt = attempts_[id];
    if (!attempt.offerable || attempt.asks.active().empty()) continue;
    const std::string name = model::ToString(apps_[attempt.app].id);
    const Queue& leaf = queues_[attempt.queue];
    const bool in_vain = !leaf.least_start.FitsIn(attempt.asks.least()) || !attempt.asks.most().FitsIn(leaf.most_start);
    if (leaf.order.built && attempt.master.Starts() && in_vain)
      wrong += name + ": passed over before it has a master\n";
    for (QueueId at = attempt.queue; at.valid(); at = queues_[at].parent) {
      const bool waits = attempt.master.Starts() && MastersFull(leaf);
      if (!queues_[at].bounded || waits || locality_matters_) continue;
      if (!queues_[at].least_ask.FitsIn(attempt.asks.least()))
        wrong += queues_[at].name + ": " + name + " asks for less\n";
      if (MayReserveSome(attempt)) wrong += queues_[at].name + ": " + name + " may reserve a node\n";
    }
  }
  return wrong;
}

/// Orders that are kept must be what building them anew gives.
std::string Core::CheckOrders() const {
  Core copy(*this);
  std::string wrong;
  for (const auto& [name, id] : queue_ids_) {
    if (!queues_[id].order.built) continue;
    copy.Refresh(id);
    const Order kept = copy.queues_[id].order;
    copy.Rebuild(id);
    const Order& anew = copy.queues_[id].order;
    if (kept.members != anew.members || kept.starting != anew.starting)
      wrong += name + ": the order of its members is out of date\n";
    wrong += Differs(name + ": members without an exact key", kept.inexact, anew.inexact);
    if (anew.inexact > 0) continue;
    std::vector<uint32_t> exact = copy.ExactOrder(id);
    if (!queues_[id].leaf)
      std::erase_if(exact, [&](uint32_t member) { return queues_[QueueId{member}].offerable == 0; });
    if (exact != (queues_[id].leaf ? copy.Merged(anew) : anew.members))
      wrong += name + ": keys and comparator disagree\n";
  }
  return wrong;
}

}  // namespace fairlead::scheduler::yarn_fair
