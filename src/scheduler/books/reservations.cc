#include "scheduler/books/reservations.h"

#include <algorithm>

namespace fairlead::scheduler::native {

ReservationId Reservations::Add(Nodes& nodes, Reservation reservation) {
  const ReservationId id = pool_.Add();
  nodes.Reserve(reservation.node, id, reservation.size);
  reservation.in_use = true;
  pool_[id] = std::move(reservation);
  return id;
}

void Reservations::Remove(Nodes& nodes, ReservationId id) {
  nodes.Unreserve(pool_[id].node, id, pool_[id].size);
  pool_.Remove(id);
}

std::string Reservations::Check(const Nodes& nodes) const {
  std::vector<model::Resources> reserved(nodes.size());
  std::vector<size_t> counts(nodes.size());
  for (const ReservationId id : pool_) {
    const Reservation& one = pool_[id];
    reserved[one.node.value] += one.size;
    ++counts[one.node.value];
    const std::vector<ReservationId>& listed = nodes[one.node].reservations;
    if (!nodes[one.node].alive || std::find(listed.begin(), listed.end(), id) == listed.end()) {
      return "reservation " + std::to_string(id.value);
    }
  }
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[NodeIndex{i}];
    if (reserved[i] != node.reserved || counts[i] != node.reservations.size()) {
      return "node " + std::to_string(i) + ": reserved";
    }
  }
  return "";
}

void Reservations::Mix(base::StateHasher& hash) const {
  for (const ReservationId id : pool_) {
    const Reservation& one = pool_[id];
    hash.Mix(id.value);
    hash.Mix(one.node.value);
    hash.Mix(one.app.value);
    hash.Mix(one.ask);
    hash.Mix(one.serial);
    for (const int64_t amount : one.size.amount) hash.Mix(static_cast<uint64_t>(amount));
    hash.Mix(static_cast<uint64_t>(one.id.value));
    for (const model::ContainerId& victim : one.victims) {
      hash.Mix(static_cast<uint64_t>(victim.attempt.app.number));
      hash.Mix(static_cast<uint64_t>(victim.value));
    }
  }
  for (const uint32_t spare : pool_.numbers().spare()) hash.Mix(spare);
}

}  // namespace fairlead::scheduler::native
