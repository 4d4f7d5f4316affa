#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "scheduler/yarn_fair/core.h"

// Reservations: FSAppAttempt.reserve, isReservable, assignReservedContainer, unreserve.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;
using model::Locality;

/// Only for a starved application, and for containers of a certain size (FairScheduler.isAtLeastReservationThreshold).
bool Core::IsReservable(const Attempt& attempt, const Resources& size) const {
  return IsStarved(attempt) && hadoop::CompareBy(CalculatorOf(queues_[attempt.queue].policy), nodes_.total(), size,
                                                 reservation_threshold_, false, types_) >= 0;
}

bool Core::MayReserve(const Queue& leaf, const Resources& most) const {
  for (size_t type = 0; type < types_; ++type) {
    if (nodes_.total()[type] == 0) return true;  // shares of nothing do not grow with the size
  }
  return hadoop::CompareBy(CalculatorOf(leaf.policy), nodes_.total(), most, reservation_threshold_, false, types_) >= 0;
}

bool Core::TooManyReservations(const Attempt& attempt, const Node& node, Locality type) const {
  if (type == Locality::kNodeLocal) return false;
  const bool anywhere = type == Locality::kOffSwitch;
  const auto existing = std::count_if(attempt.reserved_nodes.begin(), attempt.reserved_nodes.end(),
                                      [&](NodeIndex id) { return anywhere || nodes_[id].rack == node.rack; });
  const uint32_t nodes = anywhere ? nodes_.count() : nodes_.CountIn(node.rack);
  const float allowed = static_cast<float>(nodes) * config_.reservable_nodes;
  return existing >= static_cast<int64_t>(std::ceil(static_cast<double>(allowed)));
}

bool Core::Reserve(AttemptId id, NodeIndex node_id, const Resources& size, Locality type, bool reserved,
                   const RequestKey& key) {
  const ContainerSlot held = nodes_[node_id].reserved;
  if (held.valid() && containers_[held].attempt != id) return false;
  if (TooManyReservations(attempts_[id], nodes_[node_id], type)) return false;
  if (reserved) return true;  // stays as it is
  if (held.valid()) Unreserve(id, node_id, false);
  const ContainerSlot slot = CreateContainer(id, node_id, size, key);
  nodes_.SetReserved(node_id, slot);
  attempts_[id].reserved_nodes.push_back(node_id);
  attempts_[id].reserved += size;
  Emit(ms::Reserved{attempts_[id].app, node_id, containers_[slot].id, size, key.priority});
  return true;
}

/// `fulfilled`: the container lives on as a granted one.
void Core::Unreserve(AttemptId id, NodeIndex node_id, bool fulfilled) {
  const ContainerSlot slot = nodes_[node_id].reserved;
  FL_CHECK(slot.valid() && containers_[slot].attempt == id, "the reservation is this attempt's");
  const Container& container = containers_[slot];
  nodes_.SetReserved(node_id, {});
  std::erase(attempts_[id].reserved_nodes, node_id);
  attempts_[id].reserved -= container.resources;
  Emit(ms::Unreserved{attempts_[id].app, node_id, container.id});
  if (fulfilled) return;
  containers_.SetState(slot, ContainerState::kEnded);
  attempts_[id].numbers.Forget(container.id.value, slot);
  FreeIfGone(slot);
}

/// FSAppAttempt.assignReservedContainer: true while the reservation is valid, which ends the pass.
bool Core::SettleReservation(NodeIndex node_id) {
  const Container& container = containers_[nodes_[node_id].reserved];
  const AttemptId id = container.attempt;
  const Attempt& attempt = attempts_[id];
  if (!HasContainerFor(attempt, attempt.asks.Find(container.key), nodes_[node_id]) || OverMasterShare(attempt)) {
    Unreserve(id, node_id, false);
    return false;
  }
  if (container.resources.FitsIn(nodes_[node_id].unallocated)) AssignKeys(id, node_id, true);
  return true;
}

}  // namespace fairlead::scheduler::yarn_fair
