#include <algorithm>
#include <map>

#include "model/taken_back.h"
#include "scheduler/shared/water_fill.h"
#include "scheduler/tdw/policy.h"

// Taking back in a full cluster: hungry pools get what the share equation gives them, from the young grants of those
// whom FAIR would serve last.

namespace fairlead::scheduler::tdw {
namespace {

/// Shares that do not divide evenly are rounded up in FAIR order.
void ShareOut(std::vector<Entry>& entries, int64_t total) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.key() < b.key(); });
  std::vector<FillItem> items;
  for (const Entry& entry : entries) {
    items.push_back(
        {entry.bounds.weight, entry.bounds.low, std::min(entry.bounds.high, entry.granted + entry.waiting)});
  }
  const std::vector<int64_t> shares = WaterFill(items, total, WhenLowsExceed::kKeep);
  for (size_t i = 0; i < entries.size(); ++i) entries[i].share = shares[i];
}

/// Those who may give something back. On top: whom FAIR would serve last.
class Givers {
 public:
  void Add(Entry entry) {
    entries_.push_back(std::move(entry));
    std::push_heap(entries_.begin(), entries_.end(), FairEarlier);
  }
  bool empty() const { return entries_.empty(); }
  Entry Take() {
    std::pop_heap(entries_.begin(), entries_.end(), FairEarlier);
    Entry last = entries_.back();
    entries_.pop_back();
    return last;
  }

 private:
  static bool FairEarlier(const Entry& a, const Entry& b) { return a.key() < b.key(); }
  std::vector<Entry> entries_;
};

}  // namespace

bool TdwPolicy::Hungry(TaskType type, uint32_t pool) const {
  const Standing& standing = standing_[At(type)];
  const Standing::Pool& own = standing.pools()[pool];
  return own.waiting > 0 && own.granted < own.bounds.low && standing.Offers(pool);
}

std::set<ShapeId> TdwPolicy::HungryShapes(const Books& books, TaskType type) const {
  std::set<ShapeId> shapes;
  const std::vector<Standing::Pool>& pools = standing_[At(type)].pools();
  for (uint32_t pool = 0; pool < pools.size(); ++pool) {
    if (!Hungry(type, pool)) continue;
    const Tournament& seats = pools[pool].sessions;
    for (uint32_t seat = 0; seat < seats.slots(); ++seat) {
      const AppSlot slot{seats.item(seat)};
      if (!slot.valid()) continue;
      for (const Ask& ask : books.apps[slot].asks) {
        if (ask.open() && TypeOf(books.apps[slot], ask.priority) == type) shapes.insert(ask.shape);
      }
    }
  }
  return shapes;
}

/// Pools of all groups side by side (the group level has no part in shares), not preemptable where their group is not.
/// `need`: what hungry ones are to get.
std::vector<Entry> TdwPolicy::Pools(const Books& books, TaskType type, int64_t& need) const {
  const Standing& standing = standing_[At(type)];
  std::vector<Entry> pools;
  int64_t total = 0;
  for (uint32_t queue = 0; queue < standing.pools().size(); ++queue) {
    const Standing::Pool& pool = standing.pools()[queue];
    if (pool.granted == 0 && pool.waiting == 0) continue;
    const bool preemptable = books.queues[QueueId{queue}].preemptable && books.queues[QueueId{pool.group}].preemptable;
    pools.push_back({queue, pool.granted, pool.waiting, pool.bounds, preemptable});
    total += pool.granted;
  }
  // What ended holds its node until the node says so; then it is there for the same pools, and need not be taken again.
  const int64_t leaving = all_granted_[At(type)] - total;
  ShareOut(pools, total + leaving);
  need = -leaving;
  for (const Entry& pool : pools) {
    if (!Hungry(type, pool.id)) continue;
    need += std::max<int64_t>(0, std::min(pool.waiting, pool.share - pool.granted));
  }
  return pools;
}

std::vector<Entry> TdwPolicy::Sessions(const Books& books, const Entry& pool, TaskType type) const {
  const Tournament& seats = standing_[At(type)].pools()[pool.id].sessions;
  std::vector<Entry> sessions;
  for (uint32_t seat = 0; seat < seats.slots(); ++seat) {
    const AppSlot slot{seats.item(seat)};
    if (!slot.valid()) continue;
    const Session& session = sessions_[slot.value];
    const SessionState& state = session.state[At(type)];
    if (state.granted == 0 && state.waiting == 0) continue;
    const Bounds bounds{0, native::kUnlimited, native::kWeightOne, BoundedPriority(books.apps[slot].priority),
                        session.rank};
    sessions.push_back({slot.value, state.granted, state.waiting, bounds, manners_[slot.value].traits.preemptable});
  }
  ShareOut(sessions, pool.share);
  return sessions;
}

/// Step by step, the last pool and its last session as FAIR has them after the step before: the session gives what it
/// can, its surplus or its young grants.
void TdwPolicy::Preempt(Core& core, TaskType type) {
  const std::set<ShapeId> wanted = HungryShapes(core.books(), type);
  const bool of_use = std::any_of(wanted.begin(), wanted.end(), [&](ShapeId shape) {
    return native::FitsSomeNode(core.books(), core.books().shapes[shape]);
  });
  if (!of_use) return;  // the share equation has nothing to say, or none of what waits could ever be placed
  int64_t need = 0;
  Givers pools;
  for (const Entry& pool : Pools(core.books(), type, need)) {
    if (pool.preemptable && pool.granted > pool.share) pools.Add(pool);
  }
  std::map<uint32_t, Givers> sessions;  // of pools that were looked at
  while (need > 0 && !pools.empty()) {
    Entry pool = pools.Take();
    if (pool.granted <= pool.share) continue;
    const auto [at, fresh] = sessions.try_emplace(pool.id);
    Givers& givers = at->second;
    if (fresh) {
      for (const Entry& session : Sessions(core.books(), pool, type)) {
        if (session.preemptable && session.granted > session.share) givers.Add(session);
      }
    }
    if (givers.empty()) continue;
    Entry session = givers.Take();
    const int64_t surplus = session.granted - session.share;
    const int64_t taken =
        TakeFrom(core, AppSlot{session.id}, type, settings_.over_kill ? surplus : std::min(surplus, need));
    need -= taken;
    pool.granted -= taken;
    session.granted -= taken;
    if (taken > 0 && session.granted > session.share) givers.Add(session);
    pools.Add(pool);
  }
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
    core.Finish(young[static_cast<size_t>(i)], model::kExitPreempted,
                model::DiagnosticsOf(model::TakenBackFor::kQueue));
  }
  if (count > 0) round_due_ = true;  // what is free now goes out with the next round
  return count;
}

}  // namespace fairlead::scheduler::tdw
