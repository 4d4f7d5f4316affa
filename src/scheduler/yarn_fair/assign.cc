#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "scheduler/yarn_fair/core.h"

// One node pass: FairScheduler.attemptScheduling and continuousSchedulingAttempt, FSParentQueue, FSLeafQueue and
// FSAppAttempt.assignContainer.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;
using model::Locality;

void Core::Apply(const ms::NodeUpdated& event) {
  const NodeIndex id = event.node;
  if (!nodes_.Alive(id)) return;
  if (!event.launched.empty() || !event.completed.empty()) NodeReport(id, event);
  AttemptScheduling(id);
}

void Core::AttemptScheduling(NodeIndex id) {
  if (!nodes_[id].alive || !nodes_[id].schedulable) return;
  if (!promises_.of(id).empty()) AssignPromised(id);
  if (!nodes_[id].reserved.valid() || !SettleReservation(id)) {
    if (config_.assign_multiple) {
      AssignMultiple(id);
    } else if (!nodes_[id].reserved.valid()) {
      OfferToQueue(kRoot, id);
    }
  }
  UpdateAvailable();
}

void Core::AssignMultiple(NodeIndex id) {
  const Resources half = MultiplyDown(nodes_[id].unallocated, 0.5);
  Resources assigned;
  for (int32_t count = 1; !nodes_[id].reserved.valid(); ++count) {
    const Offer offer = OfferToQueue(kRoot, id);
    if (offer.Nothing()) return;
    assigned += offer.assigned;
    if (config_.dynamic_max_assign ? !assigned.FitsIn(half) : config_.max_assign > 0 && count >= config_.max_assign) {
      return;
    }
  }
}

/// Nodes by free memory, most first; with the quirk, nodes of equal free memory count as one (a TreeSet).
void Core::ContinuousPass() {
  std::vector<NodeIndex> order = nodes_.InHashOrder();
  std::stable_sort(order.begin(), order.end(),
                   [&](NodeIndex a, NodeIndex b) { return nodes_[a].unallocated[0] > nodes_[b].unallocated[0]; });
  if (config_.quirks.continuous_drops_equal_nodes) {
    order.erase(
        std::unique(order.begin(), order.end(),
                    [&](NodeIndex a, NodeIndex b) { return nodes_[a].unallocated[0] == nodes_[b].unallocated[0]; }),
        order.end());
  }
  for (const NodeIndex id : order) {
    if (config_.minimum_allocation.FitsIn(nodes_[id].unallocated)) AttemptScheduling(id);
  }
}

/// FairScheduler.assignPreemptedContainers: promised space first, in order of promise, without the stale ones
/// (FSSchedulerNode.cleanupPreemptionList).
void Core::AssignPromised(NodeIndex id) {
  const auto stale = [&](AttemptId attempt) {
    const Attempt& one = attempts_[attempt];
    return one.stopped || !IsStarved(one) || Starvation(one).IsZero();
  };
  for (const AttemptId attempt : promises_.DropIf(id, stale)) Unpin(attempt);
  const std::vector<yarn_fair::Promise> promises = promises_.of(id);
  for (const yarn_fair::Promise& promise : promises) {
    Resources pending = promise.left;
    while (!attempts_[promise.attempt].stopped && !pending.IsZero()) {
      const Offer offer = OfferToAttempt(promise.attempt, id);
      if (offer.reserved || offer.Nothing()) break;
      SubtractNonNegative(pending, offer.assigned);
    }
  }
}

/// FSQueue.assignContainerPreCheck.
bool Core::AcceptsNode(const Queue& queue, const Node& node) const {
  return !node.reserved.valid() && (queue.unlimited || queue.used.FitsIn(queue.max_share));
}

Core::Offer Core::OfferToQueue(QueueId id, NodeIndex node) {
  if (queues_[id].offerable == 0 || !AcceptsNode(queues_[id], nodes_[node]) || !MayServe(queues_[id], nodes_[node])) {
    return {};
  }
  Refresh(id);
  const Queue& queue = queues_[id];
  Offer offer;
  if (queue.order.inexact > 0) {
    offer = OfferToMembers(queue, ExactOrder(id), node);
  } else {
    offer = queue.leaf ? OfferToApplications(id, node) : OfferToMembers(queue, queue.order.members, node);
  }
  if (offer.Nothing()) RaiseBounds(queues_[id]);
  return offer;
}

Core::Offer Core::OfferToMembers(const Queue& queue, std::span<const uint32_t> members, NodeIndex node) {
  for (const uint32_t member : members) {
    if (queue.leaf && IsBlacklisted(attempts_[AttemptId{member}], nodes_[node])) continue;
    const Offer offer = queue.leaf ? OfferToAttempt(AttemptId{member}, node) : OfferToQueue(QueueId{member}, node);
    if (!offer.Nothing()) return offer;
  }
  return {};
}

/// FSLeafQueue.assignContainer. While none of the applications that wait for their master can get one here they are
/// passed over together: there may be thousands, at every heartbeat.
Core::Offer Core::OfferToApplications(QueueId id, NodeIndex node) {
  Queue& leaf = queues_[id];
  const std::vector<uint32_t>& running = leaf.order.members;
  const std::vector<uint32_t>& starting = leaf.order.starting;
  const bool may_start = MayStartOne(leaf, nodes_[node]);
  size_t r = 0;
  size_t s = may_start ? 0 : starting.size();
  while (r < running.size() || s < starting.size()) {
    const bool starts =
        r == running.size() || (s < starting.size() && attempt_keys_[starting[s]] < attempt_keys_[running[r]]);
    const AttemptId attempt{starts ? starting[s++] : running[r++]};
    if (IsBlacklisted(attempts_[attempt], nodes_[node])) continue;
    const Offer offer = OfferToAttempt(attempt, node);
    if (!offer.Nothing()) return offer;
  }
  if (may_start) RaiseStartingBounds(leaf);
  return {};
}

/// FSAppAttempt.assignContainer(node).
Core::Offer Core::OfferToAttempt(AttemptId id, NodeIndex node) {
  if (OverMasterShare(attempts_[id])) return {};
  return AssignKeys(id, node, false);
}

Core::Offer Core::AssignKeys(AttemptId id, NodeIndex node, bool reserved) {
  Attempt& attempt = attempts_[id];
  if (reserved) {
    const RequestKey key = containers_[nodes_[node].reserved].key;
    return AssignKey(id, node, key, attempt.asks.Find(key), true).value_or(Offer{});
  }
  const std::vector<Asks::ActiveKey>& keys = attempt.asks.active();
  for (size_t i = 0; i < keys.size(); ++i) {
    const RequestKey key = keys[i].key;
    const KeyLines* placement = &attempt.asks.of(keys[i]);
    if (!HasContainerFor(attempt, placement, nodes_[node])) continue;
    const std::optional<Offer> offer = AssignKey(id, node, key, placement, false);
    if (offer) return *offer;
  }
  return {};
}

/// One request key on one node; nullopt: the next key is to be tried.
std::optional<Core::Offer> Core::AssignKey(AttemptId id, NodeIndex node, const RequestKey& key,
                                           const KeyLines* placement, bool reserved) {
  Attempt& attempt = attempts_[id];
  const Locality allowed = locality_matters_ ? AllowedLocality(attempt, StateOf(attempt, key)) : Locality::kOffSwitch;
  if (placement == nullptr) return std::nullopt;
  const std::optional<Choice> choice = Choose(*placement, nodes_[node], allowed);
  if (!choice) return std::nullopt;
  return Try(id, node, *choice->ask, choice->type, reserved, key);
}

/// Host first, then rack, then anywhere, as far as the lines relax and the wait for closer nodes allows.
std::optional<Core::Choice> Core::Choose(const KeyLines& placement, const Node& node, Locality allowed) const {
  const Request* any = placement.Any();
  const bool only_any = placement.requests.size() == 1 && any != nullptr;
  if (!only_any) {
    const Request* at_rack = placement.Of(node.rack, names_);
    const bool rack_wanted = at_rack != nullptr && at_rack->count > 0;
    const Request* at_node = rack_wanted ? placement.Of(node.host, names_) : nullptr;
    if (at_node != nullptr && at_node->count > 0) return Choice{at_node, Locality::kNodeLocal};
    if (at_rack != nullptr && !at_rack->relax) return std::nullopt;
    if (rack_wanted && allowed != Locality::kNodeLocal) return Choice{at_rack, Locality::kRackLocal};
  }
  if (any == nullptr || !any->relax || any->count <= 0) return std::nullopt;
  if (placement.requests.size() > 1 && allowed != Locality::kOffSwitch) return std::nullopt;
  return Choice{any, Locality::kOffSwitch};
}

/// FSAppAttempt.hasContainerForNode.
bool Core::HasContainerFor(const Attempt& attempt, const KeyLines* placement, const Node& node) const {
  const Request* any = placement == nullptr ? nullptr : placement->Any();
  if (any == nullptr || any->count <= 0) return false;
  if (placement->requests.size() > 1) {
    const Request* at_rack = placement->Of(node.rack, names_);
    const bool rack_wanted = at_rack != nullptr && at_rack->count > 0;
    if (!any->relax && !rack_wanted) return false;
    if (rack_wanted && !at_rack->relax) {
      const Request* at_node = placement->Of(node.host, names_);
      if (at_node == nullptr || at_node->count <= 0) return false;
    }
  } else if (!any->relax) {
    return false;
  }
  return any->capability.FitsIn(node.total) && FitsInMaxShare(attempt.queue, any->capability);
}

bool Core::FitsInMaxShare(QueueId id, const Resources& extra) const {
  for (; id.valid(); id = queues_[id].parent) {
    if (!queues_[id].unlimited && !(queues_[id].used + extra).FitsIn(queues_[id].max_share)) return false;
  }
  return true;
}

/// The private FSAppAttempt.assignContainer: grants when it fits, else perhaps reserves.
Core::Offer Core::Try(AttemptId id, NodeIndex node, const Request& ask, Locality type, bool reserved,
                      const RequestKey& key) {
  const Resources capability = ask.capability;
  if (capability.FitsIn(nodes_[node].unallocated)) return Grant(id, node, capability, type, reserved, key);
  if (IsReservable(attempts_[id], capability) && !promises_.IsPromisedTo(node, id) &&
      Reserve(id, node, capability, type, reserved, key)) {
    return {true, {}};
  }
  return {};
}

/// A reserved container keeps its number and its size, also when the ask has grown since.
Core::Offer Core::Grant(AttemptId id, NodeIndex node_id, const Resources& capability, Locality type, bool reserved,
                        const RequestKey& key) {
  Attempt& attempt = attempts_[id];
  TightenLocality(attempt, key, type);
  const KeyLines* placement = attempt.asks.Find(key);
  if (placement == nullptr || placement->AnyCount() <= 0) {
    if (reserved) Unreserve(id, node_id, false);
    return {};
  }
  const Node& node = nodes_[node_id];
  const ContainerSlot slot = reserved ? node.reserved : CreateContainer(id, node_id, capability, key);
  containers_.KeepTaken(slot, attempt.asks.Take(key, type, node.host, node.rack, names_), names_);
  if (reserved) Unreserve(id, node_id, true);
  containers_.SetState(slot, ContainerState::kAllocated);
  containers_.Join(slot, attempt.live);
  const Container& container = containers_[slot];
  allocated_ += container.resources;
  Charge(id, container.resources, 1);
  nodes_.Put(slot, false, containers_);
  if (promises_.Fulfil(node_id, id, container.resources)) --attempt.pins;
  const bool first = attempt.master.Starts();
  if (first) {
    queues_[attempt.queue].am_used += capability;
    attempt.master.Start(capability);
    new_masters_.emplace_back(id, slot);
  }
  Emit(ms::Granted{attempt.app, container.id, node_id, key.priority, key.id, container.resources, type, reserved,
                   first});
  return {false, capability};
}

/// FSAppAttempt.isOverAMShareLimit.
bool Core::OverMasterShare(const Attempt& attempt) const {
  if (!attempt.master.Starts() || attempt.asks.active().empty()) return false;
  const Request* any = attempt.asks.of(attempt.asks.active().front()).Any();
  if (any == nullptr || any->count == 0) return true;
  return !CanRunMaster(queues_[attempt.queue], any->capability);
}

/// FSLeafQueue.canRunAppAM.
bool Core::CanRunMaster(const Queue& leaf, const Resources& size) const {
  return MastersUnlimited(leaf) || (leaf.am_used + size).FitsIn(MasterLimit(leaf));
}

bool Core::MastersUnlimited(const Queue& leaf) { return std::fabs(leaf.max_am_share - -1.0F) < 0.0001; }

/// FSLeafQueue.computeMaxAMResource: types without a fair share count what is free or the maximum.
Resources Core::MasterLimit(const Queue& leaf) const {
  Resources base = leaf.fair_share;
  for (size_t type = 0; type < types_; ++type) {
    if (base[type] == 0) base[type] = std::min(available_[type], leaf.max_share[type]);
  }
  return MultiplyUp(base, leaf.max_am_share);
}

}  // namespace fairlead::scheduler::yarn_fair
