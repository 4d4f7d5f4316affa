#include "scheduler/yarn_fair/reserve.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "scheduler/yarn_fair/assign.h"
#include "scheduler/yarn_fair/containers.h"
#include "scheduler/yarn_fair/starvation.h"

// Reservations: FSAppAttempt.reserve, isReservable, assignReservedContainer, unreserve.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;

static bool TooManyReservations(const Books& books, const Attempt& attempt, const Node& node, model::Locality type);

using model::Locality;

bool IsReservable(const Books& books, const Attempt& attempt, const Resources& size) {
  return IsStarved(books, attempt) &&
         hadoop::CompareBy(CalculatorOf(books.queues[attempt.queue].policy), books.nodes.total(), size,
                           books.fixed.reservation_threshold, false, books.fixed.types) >= 0;
}

bool MayReserve(const Books& books, const Queue& leaf, const Resources& most) {
  for (size_t type = 0; type < books.fixed.types; ++type) {
    if (books.nodes.total()[type] == 0) return true;  // shares of nothing do not grow with the size
  }
  return hadoop::CompareBy(CalculatorOf(leaf.policy), books.nodes.total(), most, books.fixed.reservation_threshold,
                           false, books.fixed.types) >= 0;
}

bool TooManyReservations(const Books& books, const Attempt& attempt, const Node& node, Locality type) {
  if (type == Locality::kNodeLocal) return false;
  const bool anywhere = type == Locality::kOffSwitch;
  const auto existing = std::count_if(attempt.reserved_nodes.begin(), attempt.reserved_nodes.end(),
                                      [&](NodeIndex id) { return anywhere || books.nodes[id].rack == node.rack; });
  const uint32_t nodes = anywhere ? books.nodes.count() : books.nodes.CountIn(node.rack);
  const float allowed = static_cast<float>(nodes) * books.config.reservable_nodes;
  return existing >= static_cast<int64_t>(std::ceil(static_cast<double>(allowed)));
}

bool Reserve(Books& books, AttemptId id, NodeIndex node_id, const Resources& size, Locality type, bool reserved,
             const RequestKey& key) {
  const ContainerSlot held = books.nodes[node_id].reserved;
  if (held.valid() && books.containers[held].attempt != id) return false;
  if (TooManyReservations(books, books.attempts[id], books.nodes[node_id], type)) return false;
  if (reserved) return true;  // stays as it is
  if (held.valid()) Unreserve(books, id, node_id, false);
  const ContainerSlot slot = CreateContainer(books, id, node_id, size, key);
  books.nodes.SetReserved(node_id, slot);
  books.attempts[id].reserved_nodes.push_back(node_id);
  books.attempts[id].reserved += size;
  books.Emit(ms::Reserved{books.attempts[id].app, node_id, books.containers[slot].id, size, key.priority});
  return true;
}

void Unreserve(Books& books, AttemptId id, NodeIndex node_id, bool fulfilled) {
  const ContainerSlot slot = books.nodes[node_id].reserved;
  FL_CHECK(slot.valid() && books.containers[slot].attempt == id, "the reservation is this attempt's");
  const Container& container = books.containers[slot];
  books.nodes.SetReserved(node_id, {});
  std::erase(books.attempts[id].reserved_nodes, node_id);
  books.attempts[id].reserved -= container.resources;
  books.Emit(ms::Unreserved{books.attempts[id].app, node_id, container.id});
  if (fulfilled) return;
  books.containers.SetState(slot, ContainerState::kEnded);
  books.attempts[id].numbers.Forget(container.id.value, slot);
  FreeIfGone(books, slot);
}

bool SettleReservation(Books& books, NodeIndex node_id) {
  const Container& container = books.containers[books.nodes[node_id].reserved];
  const AttemptId id = container.attempt;
  const Attempt& attempt = books.attempts[id];
  if (!HasContainerFor(books, attempt, attempt.asks.Find(container.key), books.nodes[node_id]) ||
      OverMasterShare(books, attempt)) {
    Unreserve(books, id, node_id, false);
    return false;
  }
  if (container.resources.FitsIn(books.nodes[node_id].unallocated)) AssignKeys(books, id, node_id, true);
  return true;
}

}  // namespace fairlead::scheduler::yarn_fair
