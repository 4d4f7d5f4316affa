#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "base/prefetch.h"
#include "base/slot_table.h"
#include "base/state.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/scheduler.h"
#include "scheduler/books/ids.h"
#include "scheduler/shared/pool.h"

namespace fairlead::scheduler::native {

/// The containers of one application, or of one node: the newest first. Belongs to the application or node; only
/// Containers changes it.
class Chain {
 public:
  ContainerSlot first() const { return first_; }
  int32_t count() const { return count_; }
  friend bool operator==(const Chain&, const Chain&) = default;
  FL_STATE(first_, count_)

 private:
  friend class Containers;
  ContainerSlot first_;
  int32_t count_ = 0;
};

/// One container in the books: of its application, queue and node until it ends; one that was launched stays on its
/// node (only there) until the node reports its end.
// Large on purpose: one row of the table, kept small and in one piece.
struct Container {
  int64_t cluster_timestamp = 0;
  int64_t value = 0;
  int64_t request_id = -1;
  base::Instant granted;
  base::Instant lost_since;  // what it has done since is lost with it: all, unless its application says less
  int32_t app_number = 0;
  int32_t attempt = 0;
  int32_t priority = 0;
  AppSlot app;  // not valid: ended, and only the node has not yet said so
  NodeIndex node;
  ShapeId shape;
  ContainerSlot app_next, app_previous;
  ContainerSlot node_next, node_previous;
  base::Instant taken_back{};  // when it will be taken back; 0: not chosen
  bool in_use = false;
  bool acquired = false;
  bool launched = false;
  bool is_master = false;
  model::Locality locality = model::Locality::kOffSwitch;  // the lines of its ask that it took one off
  bool above = false;  // its node had no room for it within its capacity: the first to be ended there
  bool gang = false;   // granted together with the others of its application that were granted at that moment

  model::ContainerId id() const { return {{{cluster_timestamp, app_number}, attempt}, value}; }
  bool chosen() const { return taken_back != base::Instant{}; }
  FL_STATE(cluster_timestamp, value, request_id, granted, lost_since, app_number, attempt, priority, app, node, shape,
           app_next, app_previous, node_next, node_previous, taken_back, in_use, acquired, launched, is_master,
           locality, above, gang)
};

/// Containers by id, and which of them belong to an application or a node. All O(1).
class Containers {
 public:
  const Container& operator[](ContainerSlot slot) const { return pool_[slot]; }
  ContainerSlot Find(const model::ContainerId& id) const {
    return ContainerSlot{table_.Find(Hash(id), [&](uint32_t slot) { return pool_[ContainerSlot{slot}].id() == id; })};
  }

  /// A container of an id that is not yet there, at the head of both chains.
  ContainerSlot Add(const model::ContainerId& id, AppSlot app, Chain& of_app, NodeIndex node, Chain& of_node,
                    ShapeId shape, base::Instant now);
  void SetAsk(ContainerSlot slot, int32_t priority, int64_t request_id, model::Locality locality);
  /// What would be lost with it at `now`, never more than it has run for.
  void SetLoss(ContainerSlot slot, base::Duration lost, base::Instant now) {
    pool_[slot].lost_since = std::max(pool_[slot].granted, now - lost);
  }
  void SetAbove(ContainerSlot slot, bool above) { pool_[slot].above = above; }
  void SetGang(ContainerSlot slot) { pool_[slot].gang = true; }
  void SetMaster(ContainerSlot slot) { pool_[slot].is_master = true; }
  void SetAcquired(ContainerSlot slot) { pool_[slot].acquired = true; }
  /// Its master has heard that the container runs.
  void SetLaunched(ContainerSlot slot) { pool_[slot].launched = pool_[slot].acquired = true; }
  /// Its node says, or will never say, that it is over.
  void SetGone(ContainerSlot slot) { pool_[slot].launched = false; }
  void SetShape(ContainerSlot slot, ShapeId shape) { pool_[slot].shape = shape; }
  /// Instant{}: it stays.
  void SetTakenBack(ContainerSlot slot, base::Instant at) { pool_[slot].taken_back = at; }
  /// It is no longer its application's.
  void LeaveApp(ContainerSlot slot, Chain& of_app);
  /// It is no longer there, and its number is free.
  void Remove(ContainerSlot slot, Chain& of_node);

  Pool<Container, ContainerSlotTag>::Iterator begin() const { return pool_.begin(); }
  Pool<Container, ContainerSlotTag>::Iterator end() const { return pool_.end(); }

  /// The container of that id or another one, found without a look at it.
  ContainerSlot Likely(const model::ContainerId& id) const { return ContainerSlot{table_.Likely(Hash(id))}; }
  /// Where Find begins to look.
  void PrefetchEntry(const model::ContainerId& id) const { table_.Prefetch(Hash(id)); }
  /// What Find finds, mostly; reads where PrefetchEntry asked for.
  void PrefetchLikely(const model::ContainerId& id) const {
    if (const ContainerSlot slot = Likely(id); slot.valid()) base::Prefetch(&pool_[slot], sizeof(Container));
  }

  void Mix(base::StateHasher& hash) const;
  FL_STATE(pool_, table_)

 private:
  /// Eight containers that follow each other in an application share a cache line of the table.
  static uint32_t Hash(const model::ContainerId& id) {
    const auto value = static_cast<uint64_t>(id.value);
    uint64_t hash = (value >> 3) * 0x9e3779b97f4a7c15;
    hash ^= (static_cast<uint64_t>(static_cast<uint32_t>(id.attempt.app.number)) << 20) +
            static_cast<uint32_t>(id.attempt.attempt);
    hash *= 0xbf58476d1ce4e5b9;
    return static_cast<uint32_t>(hash >> 32 << 3 | (value & 7));
  }

  Pool<Container, ContainerSlotTag> pool_;
  base::SlotTable table_;
};

}  // namespace fairlead::scheduler::native
