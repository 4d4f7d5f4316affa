#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "model/ids.h"
#include "model/resources.h"
#include "scheduler/books/ids.h"
#include "scheduler/books/nodes.h"
#include "scheduler/shared/pool.h"

namespace fairlead::scheduler::native {

/// Room on a node that is kept for one ask until it is there or the reservation ends.
struct Reservation {
  bool in_use = false;
  NodeIndex node;
  AppSlot app;
  uint64_t ask = 0;  // serial
  uint64_t serial = 0;
  model::Resources size;
  model::ContainerId id;                    // what the container will be
  std::vector<model::ContainerId> victims;  // told that they will be taken back for it
  FL_STATE(in_use, node, app, ask, serial, size, id, victims)
};

/// Which room is kept for whom. The nodes' sums follow.
class Reservations {
 public:
  const Reservation& operator[](ReservationId id) const { return pool_[id]; }
  bool Has(ReservationId id, uint64_t serial) const { return pool_.Has(id) && pool_[id].serial == serial; }
  ReservationId Add(Nodes& nodes, Reservation reservation);
  void Remove(Nodes& nodes, ReservationId id);
  void AddVictim(ReservationId id, const model::ContainerId& victim) { pool_[id].victims.push_back(victim); }
  /// The victims, who are dealt with now.
  std::vector<model::ContainerId> TakeVictims(ReservationId id) { return std::exchange(pool_[id].victims, {}); }

  size_t count() const { return pool_.count(); }
  /// One past the largest number: a loop that removes goes by number.
  uint32_t slots() const { return static_cast<uint32_t>(pool_.size()); }
  bool Has(ReservationId id) const { return pool_.Has(id); }
  Pool<Reservation, ReservationTag>::Iterator begin() const { return pool_.begin(); }
  Pool<Reservation, ReservationTag>::Iterator end() const { return pool_.end(); }

  std::string Check(const Nodes& nodes) const;
  void Mix(base::StateHasher& hash) const;
  FL_STATE(pool_)

 private:
  Pool<Reservation, ReservationTag> pool_;
};

}  // namespace fairlead::scheduler::native
