#include "scheduler/tdw/standing.h"

namespace fairlead::scheduler::tdw {

OrderKey PoolKey(const Bounds& bounds, int64_t granted, bool fair) {
  enum : int32_t { kHungry, kFed, kWeightless, kTiers };
  OrderKey key;
  key.tier = -bounds.priority * kTiers;
  key.tie = bounds.rank;
  if (!fair) return key;
  const bool hungry = granted < bounds.low;
  const int64_t of = hungry ? bounds.low : bounds.weight;
  key.tier += hungry ? kHungry : of > 0 ? kFed : kWeightless;
  key.num = static_cast<uint64_t>(granted);
  key.den = static_cast<unsigned __int128>(of > 0 ? of : 1);
  return key;
}

OrderKey SessionKey(int32_t priority, int64_t granted, bool fair, uint32_t rank) {
  OrderKey key;
  key.tier = -BoundedPriority(priority);
  key.tie = rank;
  if (fair) key.num = static_cast<uint64_t>(granted);
  return key;
}

void Standing::Clear(size_t queues, bool fair) {
  fair_ = fair;
  groups_in_order_ = {};
  groups_.assign(queues, {});
  pools_.assign(queues, {});
}

void Standing::AddGroup(uint32_t queue, const Bounds& bounds, bool fair) {
  Group& group = groups_[queue];
  group.seat = groups_in_order_.Add(queue);
  group.bounds = bounds;
  group.fair = fair;
}

void Standing::AddPool(uint32_t queue, uint32_t group, const Bounds& bounds, bool fair) {
  Pool& pool = pools_[queue];
  pool.group = group;
  pool.seat = groups_[group].pools.Add(queue);
  pool.bounds = bounds;
  pool.fair = fair;
  RefreshPool(queue);
}

void Standing::Leave(uint32_t pool, uint32_t seat, const SessionState& state) {
  pools_[pool].sessions.Remove(seat);
  Count(pool, -state.granted, -state.waiting);
}

void Standing::Move(uint32_t pool, uint32_t seat, const OrderKey& key, const SessionState& old,
                    const SessionState& now) {
  Tournament& sessions = pools_[pool].sessions;
  if (sessions.classes(seat) != now.classes || !(sessions.key(seat) == key)) {
    sessions.Update(seat, key, now.classes);
  } else if (now.granted == old.granted && now.waiting == old.waiting) {
    return;
  }
  Count(pool, now.granted - old.granted, now.waiting - old.waiting);
}

void Standing::PassOver(uint32_t pool, uint32_t seat) {
  Tournament& sessions = pools_[pool].sessions;
  const OrderKey key = sessions.key(seat);
  sessions.Update(seat, key, 0);
  RefreshPool(pool);
}

void Standing::SetClosed(uint32_t pool, bool closed) {
  pools_[pool].closed = closed;
  RefreshPool(pool);
}

void Standing::Count(uint32_t pool, int64_t granted, int64_t waiting) {
  pools_[pool].granted += granted;
  pools_[pool].waiting += waiting;
  groups_[pools_[pool].group].granted += granted;
  RefreshPool(pool);
}

uint64_t Standing::Offered(const Pool& pool) const {
  return pool.closed || pool.granted >= pool.bounds.high ? 0 : pool.sessions.classes();
}

uint64_t Standing::Offered(const Group& group) const {
  return group.granted >= group.bounds.high ? 0 : group.pools.classes();
}

bool Standing::Offers(uint32_t index) const { return pools_[index].group != kNone && Offered(pools_[index]) != 0; }

/// The places of the pool in its group, and of the group.
void Standing::RefreshPool(uint32_t index) {
  const Pool& pool = pools_[index];
  Group& group = groups_[pool.group];
  const OrderKey key = PoolKey(pool.bounds, pool.granted, group.fair);
  const uint64_t classes = Offered(pool);
  if (group.pools.classes(pool.seat) != classes || !(group.pools.key(pool.seat) == key))
    group.pools.Update(pool.seat, key, classes);
  const OrderKey group_key = PoolKey(group.bounds, group.granted, fair_);
  const uint64_t below = Offered(group);
  if (groups_in_order_.classes(group.seat) != below || !(groups_in_order_.key(group.seat) == group_key))
    groups_in_order_.Update(group.seat, group_key, below);
}

uint32_t Standing::FirstPool(uint64_t classes) const {
  const uint32_t group = groups_in_order_.First(classes);
  return group == kNone ? kNone : groups_[group].pools.First(classes);
}

bool Standing::Consistent() const {
  if (!groups_in_order_.Consistent()) return false;
  for (uint32_t queue = 0; queue < pools_.size(); ++queue) {
    const Pool& pool = pools_[queue];
    if (groups_[queue].seat != kNone) {
      int64_t granted = 0;
      for (const Pool& one : pools_) granted += one.group == queue ? one.granted : 0;
      if (granted != groups_[queue].granted || !groups_[queue].pools.Consistent()) return false;
    }
    if (pool.group == kNone) continue;
    const Group& group = groups_[pool.group];
    if (!pool.sessions.Consistent() || group.pools.classes(pool.seat) != Offered(pool)) return false;
    if (groups_in_order_.classes(group.seat) != Offered(group)) return false;
    if (!(group.pools.key(pool.seat) == PoolKey(pool.bounds, pool.granted, group.fair))) return false;
    if (!(groups_in_order_.key(group.seat) == PoolKey(group.bounds, group.granted, fair_))) return false;
  }
  return true;
}

}  // namespace fairlead::scheduler::tdw
