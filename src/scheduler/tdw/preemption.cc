#include <algorithm>

#include "scheduler/shared/water_fill.h"
#include "scheduler/tdw/policy.h"

// Taking back in a full cluster: hungry pools get what the share equation gives them, from the young grants of those
// whom FAIR would serve last.

namespace fairlead::scheduler::tdw {
namespace {

std::vector<int64_t> Shares(const std::vector<Entry>& entries, int64_t total) {
  std::vector<FillItem> items;
  for (const Entry& entry : entries) {
    items.push_back(
        {entry.bounds.weight, entry.bounds.low, std::min(entry.bounds.high, entry.granted + entry.waiting)});
  }
  return WaterFill(items, total, WhenLowsExceed::kKeep);
}

/// Shares that do not divide evenly are rounded up in FAIR order; whom it serves last gives first.
void SortFair(std::vector<Entry>& entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
}

}  // namespace

/// Without one the share equation has nothing to say. O(pools).
bool TdwPolicy::AnyHungry(TaskType type) const {
  const auto hungry = [](const Standing::Pool& pool) { return pool.waiting > 0 && pool.granted < pool.bounds.low; };
  const std::vector<Standing::Pool>& pools = standing_[At(type)].pools();
  return std::any_of(pools.begin(), pools.end(), hungry);
}

/// Pools of all groups side by side (the group level has no part in shares), not preemptable where their group is not.
std::vector<Entry> TdwPolicy::Pools(const Books& books, TaskType type) const {
  const Standing& standing = standing_[At(type)];
  std::vector<Entry> pools;
  for (uint32_t queue = 0; queue < standing.pools().size(); ++queue) {
    const Standing::Pool& pool = standing.pools()[queue];
    if (pool.granted == 0 && pool.waiting == 0) continue;
    const bool preemptable = books.queues[QueueId{queue}].preemptable && books.queues[QueueId{pool.group}].preemptable;
    pools.push_back(
        {queue, pool.granted, pool.waiting, pool.bounds, preemptable, PoolKey(pool.bounds, pool.granted, true, queue)});
  }
  SortFair(pools);
  return pools;
}

std::vector<Entry> TdwPolicy::Sessions(const Books& books, QueueId pool, TaskType type) const {
  const Tournament& seats = standing_[At(type)].pools()[pool.value].sessions;
  std::vector<Entry> sessions;
  for (uint32_t seat = 0; seat < seats.slots(); ++seat) {
    const AppSlot slot{seats.item(seat)};
    if (!slot.valid()) continue;
    const SessionState& state = sessions_[slot.value].state[At(type)];
    if (state.granted == 0 && state.waiting == 0) continue;
    sessions.push_back({slot.value,
                        state.granted,
                        state.waiting,
                        {0, native::kUnlimited, native::kWeightOne},
                        true,
                        SessionKeyOf(books.apps[slot], state, true)});
  }
  SortFair(sessions);
  return sessions;
}

void TdwPolicy::Preempt(Core& core, TaskType type) {
  if (!AnyHungry(type)) return;
  const std::vector<Entry> pools = Pools(core.books(), type);
  int64_t total = 0;
  for (const Entry& pool : pools) total += pool.granted;
  // What ended holds its node until the node says so; then it is there for the same pools, and need not be taken again.
  const int64_t leaving = all_granted_[At(type)] - total;
  const std::vector<int64_t> shares = Shares(pools, total + leaving);
  int64_t need = -leaving;
  for (size_t i = 0; i < pools.size(); ++i) {
    if (pools[i].granted >= pools[i].bounds.low) continue;
    need += std::max<int64_t>(0, std::min(pools[i].waiting, shares[i] - pools[i].granted));
  }
  for (size_t i = pools.size(); i-- > 0 && need > 0;) {
    const int64_t surplus = pools[i].granted - shares[i];
    if (!pools[i].preemptable || surplus <= 0) continue;
    need -= TakeFromPool(core, QueueId{pools[i].id}, type, shares[i], surplus, need);
  }
}

/// Takes from the pool's sessions, whom FAIR serves last first, until `need` is met or the pool is at its share; each
/// gives what it can: its surplus, or its young grants. Gives how many.
int64_t TdwPolicy::TakeFromPool(Core& core, QueueId pool, TaskType type, int64_t share, int64_t surplus, int64_t need) {
  const std::vector<Entry> sessions = Sessions(core.books(), pool, type);
  const std::vector<int64_t> shares = Shares(sessions, share);
  int64_t taken = 0;
  for (size_t i = sessions.size(); i-- > 0 && taken < need && taken < surplus;) {
    const int64_t most = sessions[i].granted - shares[i];
    if (most <= 0) continue;
    taken += TakeFrom(core, AppSlot{sessions[i].id}, type, settings_.over_kill ? most : std::min(most, need - taken));
  }
  return taken;
}

/// Ends the newest grants of the session that are young enough, at most `most`; gives how many.
int64_t TdwPolicy::TakeFrom(Core& core, AppSlot slot, TaskType type, int64_t most) {
  const Books& books = core.books();
  const native::Containers& all = books.containers;
  std::vector<ContainerSlot> young;
  for (ContainerSlot c = books.apps[slot].containers.first(); c.valid(); c = all[c].app_next) {
    if (TypeOf(all[c]) == type && books.now - all[c].granted <= settings_.victim_age) young.push_back(c);
  }
  std::sort(young.begin(), young.end(), [&](ContainerSlot a, ContainerSlot b) {
    if (all[a].granted != all[b].granted) return all[a].granted > all[b].granted;
    return all[a].id() > all[b].id();
  });
  const auto count = std::min<int64_t>(most, static_cast<int64_t>(young.size()));
  for (int64_t i = 0; i < count; ++i) {
    core.Finish(young[static_cast<size_t>(i)], model::kExitPreempted, "Container preempted by scheduler");
  }
  if (count > 0) round_due_ = true;  // what is free now goes out with the next round
  return count;
}

}  // namespace fairlead::scheduler::tdw
