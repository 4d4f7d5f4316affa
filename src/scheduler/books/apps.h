#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/resources.h"
#include "model/scheduler.h"
#include "scheduler/books/containers.h"
#include "scheduler/books/ids.h"
#include "scheduler/books/shapes.h"
#include "scheduler/shared/pool.h"

namespace fairlead::scheduler::native {

/// A host or rack that an ask names.
struct NamedPlace {
  PlaceId place;
  int32_t count = 0;
  bool rack = false;
  bool relax = true;
  uint32_t line = 0;  // how many the ask named before it
  FL_STATE(place, count, rack, relax, line)
};

/// Why an ask is not tried.
enum class Park : uint8_t {
  kNo,
  kPlace,  // until a named place has room, or its time has come
  kAny,    // until any node has room (all that have are excluded)
  kRound,  // until the end of this batch
  kGang,   // placed with its gang only
  kUser,   // until its user, or a group, uses less
};

/// What one application asks for under one (priority, request id, shape, gang).
struct Ask {
  int32_t priority = 0;
  int64_t request_id = -1;
  ShapeId shape;
  int32_t count = 0;  // at "*": all that is outstanding
  bool relax_any = true;
  Park park = Park::kNo;
  WaiterId waiter;      // stands at its places as this one, once it has waited
  uint32_t cursor = 0;  // where the next search in `places` starts
  uint32_t lines = 0;   // places that it ever named
  int64_t gang = 0;
  uint64_t serial = 0;
  int32_t reserved = 0;                                 // reservations for it
  std::vector<NamedPlace> places;                       // by number
  std::vector<PlaceId> excluded;                        // by this ask alone; sorted
  base::Instant since{};                                // when it began to be pending
  base::Instant refusing_since = base::Instant::Max();  // room elsewhere has been left for a closer place since then

  /// It waits and may be tried.
  bool open() const { return count > 0 && park == Park::kNo; }
  FL_STATE(priority, request_id, shape, count, relax_any, park, waiter, cursor, lines, gang, serial, reserved, places,
           excluded, since, refusing_since)
};

struct App {
  // What every end of a container touches, side by side.
  bool in_use = false;
  bool runnable = false;
  bool active = false;  // has an attempt
  bool unmanaged = false;
  bool needs_master = false;
  AppIndex index;
  QueueId leaf;
  int32_t priority = 0;
  int32_t attempt = 0;
  Chain containers;
  uint64_t classes = 0;  // of its open asks
  model::Resources used;

  model::Resources pending;
  std::vector<Ask> asks;  // in order of serving
  int64_t next_sequence = 0;
  model::ApplicationId id;
  UserId user;
  std::vector<UserId> groups;  // of the user; each counts it, too
  model::Resources master_used;
  std::vector<PlaceId> excluded;  // sorted
  FL_STATE(in_use, runnable, active, unmanaged, needs_master, index, leaf, priority, attempt, containers, classes, used,
           pending, asks, next_sequence, id, user, groups, master_used, excluded)
};

/// Whoever counts the application: its user, and the user's groups.
template <class Act>
void ForHolders(const App& app, const Act& act) {
  act(app.user);
  for (const UserId group : app.groups) act(group);
}

/// Applications: what they are, use and ask for.
class Apps {
 public:
  const App& operator[](AppSlot slot) const { return apps_[slot]; }
  Pool<App, AppSlotTag>::Iterator begin() const { return apps_.begin(); }
  Pool<App, AppSlotTag>::Iterator end() const { return apps_.end(); }
  /// One past the largest slot.
  size_t size() const { return apps_.size(); }
  /// Not valid for one that is not here (never was, was refused, or has ended).
  AppSlot Find(AppIndex app) const { return app.value < by_index_.size() ? by_index_[app.value] : AppSlot{}; }
  /// One past the largest index ever added: applications in order of submission are found by it.
  uint32_t indices() const { return static_cast<uint32_t>(by_index_.size()); }

  AppSlot Add(const model::scheduler::AppAdded& event, QueueId leaf, UserId user, std::vector<UserId> groups = {});
  void Remove(AppSlot slot);
  void SetRunnable(AppSlot slot, bool runnable) { apps_[slot].runnable = runnable; }
  void SetPriority(AppSlot slot, int32_t priority) { apps_[slot].priority = priority; }
  void SetLeaf(AppSlot slot, QueueId leaf) { apps_[slot].leaf = leaf; }
  void StartAttempt(AppSlot slot, int32_t attempt);
  void EndAttempt(AppSlot slot) { apps_[slot].active = false; }
  /// Its master has a container.
  void GotMaster(AppSlot slot) { apps_[slot].needs_master = false; }
  Chain& chain(AppSlot slot) { return apps_[slot].containers; }
  void AddUse(AppSlot slot, const model::Resources& more) { apps_[slot].used += more; }
  void AddMasterUse(AppSlot slot, const model::Resources& more) { apps_[slot].master_used += more; }
  /// The number of the attempt's next container.
  model::ContainerId NextId(AppSlot slot, int64_t epoch);
  /// A container of the attempt had that sequence number.
  void SawSequence(AppSlot slot, int64_t sequence);
  /// Excluded places, sorted; the caller keeps the mentions.
  void SetExcluded(AppSlot slot, std::vector<PlaceId> places) { apps_[slot].excluded = std::move(places); }

  /// To be changed in place; `classes` and `pending` follow by RecountClasses and AddPending.
  std::vector<Ask>& asks(AppSlot slot) { return apps_[slot].asks; }
  /// Null when it is no more. O(asks).
  Ask* FindAsk(AppSlot slot, uint64_t serial);
  const Ask* FindAsk(AppSlot slot, uint64_t serial) const { return const_cast<Apps*>(this)->FindAsk(slot, serial); }
  /// The ask of that key, known or new with `serial`; true: new.
  std::pair<Ask*, bool> AskFor(AppSlot slot, const model::Ask& ask, ShapeId shape, uint64_t serial);
  void AddPending(AppSlot slot, const model::Resources& more) { apps_[slot].pending += more; }
  void RecountClasses(AppSlot slot, const Shapes& shapes);

  void Mix(base::StateHasher& hash) const;
  FL_STATE(apps_, by_index_)

 private:
  Pool<App, AppSlotTag> apps_;
  std::vector<AppSlot> by_index_;
};

}  // namespace fairlead::scheduler::native
