#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/state.h"
#include "scheduler/shared/tournament.h"

// Who comes first, kept from round to round: the groups, each group's pools and each pool's sessions, in the order in
// which rounds of one task type serve them.

namespace fairlead::scheduler::tdw {

inline constexpr uint32_t kNone = UINT32_MAX;

/// A group or pool as configured; amounts are tasks of one type.
struct Bounds {
  int64_t low = 0;
  int64_t high = 0;
  int64_t weight = 1;
  int32_t priority = 0;
  uint32_t rank = 0;  // by start time and name, among all
  FL_STATE(low, high, weight, priority, rank)
};

/// As far as keys tell priorities apart.
constexpr int32_t BoundedPriority(int32_t priority) {
  constexpr int32_t kMost = 1 << 29;
  return priority < -kMost ? -kMost : priority > kMost ? kMost : priority;
}
/// FAIR among groups or pools: the higher priority; hungry (granted < min) first; both hungry: granted/min, else
/// granted/weight, weight 0 after every other; then the smaller rank. Otherwise FIFO: priority, rank.
OrderKey PoolKey(const Bounds& bounds, int64_t granted, bool fair);
/// FAIR among sessions: the higher priority, then the one with less, then the smaller rank. Otherwise FIFO: priority,
/// rank.
OrderKey SessionKey(int32_t priority, int64_t granted, bool fair, uint32_t rank);

/// What a session shows in the rounds of one type.
struct SessionState {
  int64_t granted = 0;
  int64_t waiting = 0;
  uint64_t classes = 0;  // of the shapes that it waits for
  FL_STATE(granted, waiting, classes)
};

/// The orders of one task type. A seat offers the classes of shapes that are waited for at it or below; a round asks
/// for the first seat with a class that some node may have room for. O(log) per change and per search.
class Standing {
 public:
  struct Pool {
    uint32_t group = kNone;  // kNone: the queue is not a pool
    uint32_t seat = kNone;
    Bounds bounds;
    bool fair = true;     // order of its sessions
    bool closed = false;  // nothing is granted below until it is opened
    int64_t granted = 0;
    int64_t waiting = 0;
    Tournament sessions;  // by application slot
    FL_STATE(group, seat, bounds, fair, closed, granted, waiting, sessions)
  };
  struct Group {
    uint32_t seat = kNone;  // kNone: the queue is not a group
    Bounds bounds;
    bool fair = true;  // order of its pools
    int64_t granted = 0;
    Tournament pools;  // by queue
    FL_STATE(seat, bounds, fair, granted, pools)
  };

  /// `queues`: one past the largest queue number; `fair`: order of the groups.
  void Clear(size_t queues, bool fair);
  void AddGroup(uint32_t queue, const Bounds& bounds, bool fair);
  void AddPool(uint32_t queue, uint32_t group, const Bounds& bounds, bool fair);

  /// A new session in the pool; gives its seat.
  uint32_t Sit(uint32_t pool, uint32_t slot) { return pools_[pool].sessions.Add(slot); }
  /// The session leaves with what it has.
  void Leave(uint32_t pool, uint32_t seat, const SessionState& state);
  /// The session's state changes; the places of its pool and group follow.
  void Move(uint32_t pool, uint32_t seat, const OrderKey& key, const SessionState& old, const SessionState& now);
  /// The session is passed over until it moves.
  void PassOver(uint32_t pool, uint32_t seat);
  void SetClosed(uint32_t pool, bool closed);

  /// The pool whose session is served next, or kNone: no seat offers one of the classes.
  uint32_t FirstPool(uint64_t classes) const;
  uint32_t FirstSession(uint32_t pool, uint64_t classes) const { return pools_[pool].sessions.First(classes); }
  bool AnyoneWaits() const { return groups_in_order_.classes() != 0; }

  const std::vector<Pool>& pools() const { return pools_; }
  bool Consistent() const;
  FL_STATE(fair_, groups_in_order_, groups_, pools_)

 private:
  uint64_t Offered(const Pool& pool) const;
  uint64_t Offered(const Group& group) const;
  void Count(uint32_t pool, int64_t granted, int64_t waiting);
  void RefreshPool(uint32_t pool);

  bool fair_ = true;
  Tournament groups_in_order_;  // by queue
  std::vector<Group> groups_;   // by queue
  std::vector<Pool> pools_;     // by queue
};

}  // namespace fairlead::scheduler::tdw
