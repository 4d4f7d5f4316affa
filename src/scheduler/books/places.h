#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "scheduler/books/ids.h"
#include "scheduler/shared/interner.h"
#include "scheduler/shared/pool.h"

namespace fairlead::scheduler::native {

/// A host or a rack.
struct Place {
  bool in_use = false;
  uint32_t mentions = 0;          // by nodes, asks and exclusions; 0: kept for the next one
  std::vector<NodeIndex> nodes;   // alive ones
  std::vector<WaiterId> waiters;  // asks that have waited for it
  std::string name;
  FL_STATE(in_use, mentions, nodes, waiters, name)
};

/// What an ask that stands at its places waits for there.
enum class WaitsFor : uint8_t {
  kNothing,
  kHost,   // room at its racks is of no use to it yet
  kPlace,  // any of them
  kGone,   // the ask is no more; its entries go when they are met
};

/// An ask that has waited for its places.
struct Waiter {
  bool in_use = false;
  AppSlot app;
  uint32_t entries = 0;  // places where it stands
  uint64_t serial = 0;   // of the ask
  FL_STATE(in_use, app, entries, serial)
};

/// Hosts and racks by name, the nodes there, and the asks that wait for room there. A name is kept as long as somebody
/// mentions it; of names that nobody mentions any more kMostIdle are kept, because they mostly come again. So strangers
/// who name places fill the memory no further than their pending asks do.
class Places {
 public:
  static constexpr size_t kMostIdle = 16'384;

  const Place& operator[](PlaceId place) const { return places_[place]; }
  PlaceId Find(std::string_view name) const;
  /// The place of that name, with one mention more. O(1); once in kMostIdle calls O(places).
  PlaceId Mention(std::string_view name);
  /// One mention less.
  void Forget(PlaceId place);
  /// One past the largest number of a place.
  size_t size() const { return places_.size(); }
  size_t count() const { return places_.count(); }

  void AddNode(PlaceId place, NodeIndex node) { places_[place].nodes.push_back(node); }
  void RemoveNode(PlaceId place, NodeIndex node) { std::erase(places_[place].nodes, node); }

  /// An ask that will stand at its places; it waits for nothing yet.
  WaiterId AddWaiter(AppSlot app, uint64_t serial);
  void StandAt(PlaceId place, WaiterId waiter);
  void Wait(WaiterId waiter, WaitsFor what) { waits_for_[waiter.value] = what; }
  /// The ask is no more.
  void RemoveWaiter(WaiterId waiter);
  /// Calls wake(app, serial) for all who wait for room at the place; `host`: it is one, not a rack.
  template <class Wake>
  void WakeAt(PlaceId place, bool host, Wake wake) {
    std::erase_if(places_[place].waiters, [&](WaiterId id) {
      const WaitsFor what = waits_for_[id.value];
      if (what == WaitsFor::kGone) {
        Leave(id);
        return true;
      }
      if (what == WaitsFor::kPlace || (host && what == WaitsFor::kHost)) wake(waiters_[id].app, waiters_[id].serial);
      return false;
    });
  }
  WaitsFor waits_for(WaiterId waiter) const { return waits_for_[waiter.value]; }
  const Waiter& waiter(WaiterId waiter) const { return waiters_[waiter]; }

  /// Compares with the mentions counted by place and `alive`, the waiters of asks; empty when all agree.
  std::string Check(const std::vector<uint32_t>& mentions, const std::vector<bool>& alive) const;
  size_t waiter_slots() const { return waiters_.size(); }
  void Mix(base::StateHasher& hash) const;
  FL_STATE(places_, by_name_, idle_, waiters_, waits_for_)

 private:
  void Leave(WaiterId waiter);
  void ForgetIdle();

  Pool<Place, PlaceTag> places_;
  NameMap<PlaceId> by_name_;
  size_t idle_ = 0;  // places without mentions
  Pool<Waiter, WaiterTag> waiters_;
  /// Of each waiter. A node that got room looks at all that stand at its rack, of which few wait at the time: these
  /// bytes stay in the cache.
  std::vector<WaitsFor> waits_for_;
};

}  // namespace fairlead::scheduler::native
