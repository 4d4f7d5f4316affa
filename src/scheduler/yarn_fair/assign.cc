#include "scheduler/yarn_fair/assign.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "scheduler/yarn_fair/allocate.h"
#include "scheduler/yarn_fair/applications.h"
#include "scheduler/yarn_fair/bounds.h"
#include "scheduler/yarn_fair/containers.h"
#include "scheduler/yarn_fair/locality.h"
#include "scheduler/yarn_fair/ordering.h"
#include "scheduler/yarn_fair/reserve.h"
#include "scheduler/yarn_fair/starvation.h"

// One node pass: FairScheduler.attemptScheduling and continuousSchedulingAttempt, FSParentQueue, FSLeafQueue and
// FSAppAttempt.assignContainer.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;

static void AttemptScheduling(Books& books, NodeIndex node);
static void AssignMultiple(Books& books, NodeIndex node);
static void AssignPromised(Books& books, NodeIndex node);
static Offer OfferToQueue(Books& books, QueueId queue, NodeIndex node);
static Offer OfferToMembers(Books& books, const Queue& queue, std::span<const uint32_t> members, NodeIndex node);
static Offer OfferToApplications(Books& books, QueueId leaf, NodeIndex node);
static bool AcceptsNode(const Queue& queue, const Node& node);
static Offer OfferToAttempt(Books& books, AttemptId id, NodeIndex node);
static std::optional<Offer> AssignKey(Books& books, AttemptId id, NodeIndex node, const RequestKey& key,
                                      const KeyLines* placement, bool reserved);
static Offer Try(Books& books, AttemptId id, NodeIndex node, const Request& ask, model::Locality type, bool reserved,
                 const RequestKey& key);
static Offer Grant(Books& books, AttemptId id, NodeIndex node, const Resources& capability, model::Locality type,
                   bool reserved, const RequestKey& key);
static bool FitsInMaxShare(const Books& books, QueueId queue, const Resources& extra);
static bool CanRunMaster(const Books& books, const Queue& leaf, const Resources& size);

using model::Locality;

void Apply(Books& books, const ms::NodeUpdated& event) {
  const NodeIndex id = event.node;
  if (!books.nodes.Alive(id)) return;
  if (!event.launched.empty() || !event.completed.empty()) NodeReport(books, id, event);
  AttemptScheduling(books, id);
}

void AttemptScheduling(Books& books, NodeIndex id) {
  if (!books.nodes[id].alive || !books.nodes[id].schedulable) return;
  if (!books.promises.of(id).empty()) AssignPromised(books, id);
  if (!books.nodes[id].reserved.valid() || !SettleReservation(books, id)) {
    if (books.config.assign_multiple) {
      AssignMultiple(books, id);
    } else if (!books.nodes[id].reserved.valid()) {
      OfferToQueue(books, kRoot, id);
    }
  }
  books.UpdateAvailable();
}

void AssignMultiple(Books& books, NodeIndex id) {
  const Resources before = books.nodes[id].unallocated;
  Resources assigned;
  for (int32_t count = 1; !books.nodes[id].reserved.valid(); ++count) {
    const Offer offer = OfferToQueue(books, kRoot, id);
    if (offer.Nothing()) return;
    assigned += offer.assigned;
    if (books.config.dynamic_max_assign ? !assigned.FitsIn(MultiplyDown(before, 0.5))
                                        : books.config.max_assign > 0 && count >= books.config.max_assign) {
      return;
    }
  }
}

void ContinuousPass(Books& books) {
  std::vector<NodeIndex> order = books.nodes.InHashOrder();
  std::stable_sort(order.begin(), order.end(), [&](NodeIndex a, NodeIndex b) {
    return books.nodes[a].unallocated[0] > books.nodes[b].unallocated[0];
  });
  if (books.config.quirks.continuous_drops_equal_nodes) {
    order.erase(std::unique(order.begin(), order.end(),
                            [&](NodeIndex a, NodeIndex b) {
                              return books.nodes[a].unallocated[0] == books.nodes[b].unallocated[0];
                            }),
                order.end());
  }
  for (const NodeIndex id : order) {
    if (books.config.minimum_allocation.FitsIn(books.nodes[id].unallocated)) AttemptScheduling(books, id);
  }
}

/// FairScheduler.assignPreemptedContainers: promised space first, in order of promise, without the stale ones
/// (FSSchedulerNode.cleanupPreemptionList).
void AssignPromised(Books& books, NodeIndex id) {
  const auto stale = [&](AttemptId attempt) {
    const Attempt& one = books.attempts[attempt];
    return one.stopped || !IsStarved(books, one) || Starvation(one).IsZero();
  };
  for (const AttemptId attempt : books.promises.DropIf(id, stale)) Unpin(books, attempt);
  const std::vector<Promise> promises = books.promises.of(id);
  for (const Promise& promise : promises) {
    Resources pending = promise.left;
    while (!books.attempts[promise.attempt].stopped && !pending.IsZero()) {
      const Offer offer = OfferToAttempt(books, promise.attempt, id);
      if (offer.reserved || offer.Nothing()) break;
      SubtractNonNegative(pending, offer.assigned);
    }
  }
}

/// FSQueue.assignContainerPreCheck.
bool AcceptsNode(const Queue& queue, const Node& node) {
  return !node.reserved.valid() && (queue.unlimited || queue.used.FitsIn(queue.max_share));
}

Offer OfferToQueue(Books& books, QueueId id, NodeIndex node) {
  if (books.queues[id].offerable == 0 || !AcceptsNode(books.queues[id], books.nodes[node]) ||
      !MayServe(books.queues[id], books.nodes[node])) {
    return {};
  }
  Refresh(books, id);
  const Queue& queue = books.queues[id];
  Offer offer;
  if (queue.order.inexact > 0) {
    offer = OfferToMembers(books, queue, ExactOrder(books, id), node);
  } else {
    offer = queue.leaf ? OfferToApplications(books, id, node) : OfferToMembers(books, queue, queue.order.members, node);
  }
  if (offer.Nothing()) RaiseBounds(books, books.queues[id]);
  return offer;
}

Offer OfferToMembers(Books& books, const Queue& queue, std::span<const uint32_t> members, NodeIndex node) {
  for (const uint32_t member : members) {
    if (queue.leaf && IsBlacklisted(books.attempts[AttemptId{member}], books.nodes[node])) continue;
    const Offer offer =
        queue.leaf ? OfferToAttempt(books, AttemptId{member}, node) : OfferToQueue(books, QueueId{member}, node);
    if (!offer.Nothing()) return offer;
  }
  return {};
}

/// FSLeafQueue.assignContainer. While none of the applications that wait for their master can get one here they are
/// passed over together: there may be thousands, at every heartbeat.
Offer OfferToApplications(Books& books, QueueId id, NodeIndex node) {
  Queue& leaf = books.queues[id];
  const std::vector<uint32_t>& running = leaf.order.members;
  const std::vector<uint32_t>& starting = leaf.order.starting;
  const bool may_start = MayStartOne(books, leaf, books.nodes[node]);
  size_t r = 0;
  size_t s = may_start ? 0 : starting.size();
  while (r < running.size() || s < starting.size()) {
    const bool starts = r == running.size() ||
                        (s < starting.size() && books.keys.attempts[starting[s]] < books.keys.attempts[running[r]]);
    const AttemptId attempt{starts ? starting[s++] : running[r++]};
    if (IsBlacklisted(books.attempts[attempt], books.nodes[node])) continue;
    const Offer offer = OfferToAttempt(books, attempt, node);
    if (!offer.Nothing()) return offer;
  }
  if (may_start) RaiseStartingBounds(books, leaf);
  return {};
}

/// FSAppAttempt.assignContainer(node).
Offer OfferToAttempt(Books& books, AttemptId id, NodeIndex node) {
  if (OverMasterShare(books, books.attempts[id])) return {};
  return AssignKeys(books, id, node, false);
}

Offer AssignKeys(Books& books, AttemptId id, NodeIndex node, bool reserved) {
  Attempt& attempt = books.attempts[id];
  if (reserved) {
    const RequestKey key = books.containers[books.nodes[node].reserved].key;
    return AssignKey(books, id, node, key, attempt.asks.Find(key), true).value_or(Offer{});
  }
  const std::vector<Asks::ActiveKey>& keys = attempt.asks.active();
  for (size_t i = 0; i < keys.size(); ++i) {
    const RequestKey key = keys[i].key;
    const KeyLines* placement = &attempt.asks.of(keys[i]);
    if (!HasContainerFor(books, attempt, placement, books.nodes[node])) continue;
    const std::optional<Offer> offer = AssignKey(books, id, node, key, placement, false);
    if (offer) return *offer;
  }
  return {};
}

/// One request key on one node; nullopt: the next key is to be tried.
std::optional<Offer> AssignKey(Books& books, AttemptId id, NodeIndex node, const RequestKey& key,
                               const KeyLines* placement, bool reserved) {
  Attempt& attempt = books.attempts[id];
  const Locality allowed =
      books.fixed.locality_matters ? AllowedLocality(books, attempt, StateOf(attempt, key)) : Locality::kOffSwitch;
  if (placement == nullptr) return std::nullopt;
  const std::optional<Choice> choice = Choose(books, *placement, books.nodes[node], allowed);
  if (!choice) return std::nullopt;
  return Try(books, id, node, *choice->ask, choice->type, reserved, key);
}

/// Host first, then rack, then anywhere, as far as the lines relax and the wait for closer nodes allows.
std::optional<Choice> Choose(const Books& books, const KeyLines& placement, const Node& node, Locality allowed) {
  const Request* any = placement.Any();
  const bool only_any = placement.requests.size() == 1 && any != nullptr;
  if (!only_any) {
    const Request* at_rack = placement.Of(node.rack, books.names);
    const bool rack_wanted = at_rack != nullptr && at_rack->count > 0;
    const Request* at_node = rack_wanted ? placement.Of(node.host, books.names) : nullptr;
    if (at_node != nullptr && at_node->count > 0) return Choice{at_node, Locality::kNodeLocal};
    if (at_rack != nullptr && !at_rack->relax) return std::nullopt;
    if (rack_wanted && allowed != Locality::kNodeLocal) return Choice{at_rack, Locality::kRackLocal};
  }
  if (any == nullptr || !any->relax || any->count <= 0) return std::nullopt;
  if (placement.requests.size() > 1 && allowed != Locality::kOffSwitch) return std::nullopt;
  return Choice{any, Locality::kOffSwitch};
}

bool HasContainerFor(const Books& books, const Attempt& attempt, const KeyLines* placement, const Node& node) {
  const Request* any = placement == nullptr ? nullptr : placement->Any();
  if (any == nullptr || any->count <= 0) return false;
  if (placement->requests.size() > 1) {
    const Request* at_rack = placement->Of(node.rack, books.names);
    const bool rack_wanted = at_rack != nullptr && at_rack->count > 0;
    if (!any->relax && !rack_wanted) return false;
    if (rack_wanted && !at_rack->relax) {
      const Request* at_node = placement->Of(node.host, books.names);
      if (at_node == nullptr || at_node->count <= 0) return false;
    }
  } else if (!any->relax) {
    return false;
  }
  return any->capability.FitsIn(node.total) && FitsInMaxShare(books, attempt.queue, any->capability);
}

bool FitsInMaxShare(const Books& books, QueueId id, const Resources& extra) {
  for (; id.valid(); id = books.queues[id].parent) {
    if (!books.queues[id].unlimited && !(books.queues[id].used + extra).FitsIn(books.queues[id].max_share))
      return false;
  }
  return true;
}

/// The private FSAppAttempt.assignContainer: grants when it fits, else perhaps reserves.
Offer Try(Books& books, AttemptId id, NodeIndex node, const Request& ask, Locality type, bool reserved,
          const RequestKey& key) {
  const Resources capability = ask.capability;
  if (capability.FitsIn(books.nodes[node].unallocated)) return Grant(books, id, node, capability, type, reserved, key);
  if (IsReservable(books, books.attempts[id], capability) && !books.promises.IsPromisedTo(node, id) &&
      Reserve(books, id, node, capability, type, reserved, key)) {
    return {true, {}};
  }
  return {};
}

/// A reserved container keeps its number and its size, also when the ask has grown since.
Offer Grant(Books& books, AttemptId id, NodeIndex node_id, const Resources& capability, Locality type, bool reserved,
            const RequestKey& key) {
  Attempt& attempt = books.attempts[id];
  TightenLocality(books, attempt, key, type);
  const KeyLines* placement = attempt.asks.Find(key);
  if (placement == nullptr || placement->AnyCount() <= 0) {
    if (reserved) Unreserve(books, id, node_id, false);
    return {};
  }
  const Node& node = books.nodes[node_id];
  const ContainerSlot slot = reserved ? node.reserved : CreateContainer(books, id, node_id, capability, key);
  books.containers.KeepTaken(slot, attempt.asks.Take(key, type, node.host, node.rack, books.names), books.names);
  if (reserved) Unreserve(books, id, node_id, true);
  books.containers.SetState(slot, ContainerState::kAllocated);
  books.containers.Join(slot, attempt.live);
  const Container& container = books.containers[slot];
  books.totals.allocated += container.resources;
  Charge(books, id, container.resources, 1);
  books.nodes.Put(slot, false, books.containers);
  if (books.promises.Fulfil(node_id, id, container.resources)) --attempt.pins;
  const bool first = attempt.master.Starts();
  if (first) {
    books.queues[attempt.queue].am_used += capability;
    attempt.master.Start(capability);
    books.new_masters.emplace_back(id, slot);
  }
  books.Emit(ms::Granted{attempt.app, container.id, node_id, key.priority, key.id, container.resources, type, reserved,
                         first});
  return {false, capability};
}

bool OverMasterShare(const Books& books, const Attempt& attempt) {
  if (!attempt.master.Starts() || attempt.asks.active().empty()) return false;
  const Request* any = attempt.asks.of(attempt.asks.active().front()).Any();
  if (any == nullptr || any->count == 0) return true;
  return !CanRunMaster(books, books.queues[attempt.queue], any->capability);
}

/// FSLeafQueue.canRunAppAM.
bool CanRunMaster(const Books& books, const Queue& leaf, const Resources& size) {
  return MastersUnlimited(leaf) || (leaf.am_used + size).FitsIn(MasterLimit(books, leaf));
}

bool MastersUnlimited(const Queue& leaf) { return std::fabs(leaf.max_am_share - -1.0F) < 0.0001; }

Resources MasterLimit(const Books& books, const Queue& leaf) {
  Resources base = leaf.fair_share;
  for (size_t type = 0; type < books.fixed.types; ++type) {
    if (base[type] == 0) base[type] = std::min(books.totals.available[type], leaf.max_share[type]);
  }
  return MultiplyUp(base, leaf.max_am_share);
}

}  // namespace fairlead::scheduler::yarn_fair
