#include "scheduler/tdw/rounds.h"

// The seats of applications, pools and groups follow the books.

namespace fairlead::scheduler::tdw {

using native::App;
using native::kRoot;
using native::Want;

Bounds TdwCore::BoundsOf(uint32_t queue) const {
  return {queues_[queue].low.vcores(), queues_[queue].high.vcores(), queues_[queue].weight};
}

void TdwCore::GatherLeaves(uint32_t queue, std::vector<uint32_t>& leaves) const {
  if (queues_[queue].leaf) leaves.push_back(queue);
  for (const uint32_t child : queues_[queue].children) GatherLeaves(child, leaves);
}

void TdwCore::ClosePool(uint32_t pool) {
  CloseMasters(pool);
  standing_[At(TaskType::kJobtracker)].SetClosed(pool, true);
  closed_pools_.push_back(pool);
}

void TdwCore::OpenPools() {
  std::erase_if(closed_pools_, [this](uint32_t pool) {
    if (queues_[pool].masters_full) return false;
    standing_[At(TaskType::kJobtracker)].SetClosed(pool, false);
    return true;
  });
}

void TdwCore::SeatAll() {
  closed_pools_.clear();
  seated_tree_ = tree_version_;
  for (Standing& standing : standing_) standing.Clear(queues_.size(), IsFair(kRoot));
  for (const uint32_t group : queues_[kRoot].children) SeatGroup(group);
  sessions_.assign(apps_.size(), {});
  for (uint32_t slot = 0; slot < apps_.size(); ++slot) {
    if (apps_[slot].used_slot) Seat(slot);
  }
}

void TdwCore::SeatGroup(uint32_t group) {
  std::vector<uint32_t> leaves;
  GatherLeaves(group, leaves);
  for (Standing& standing : standing_) {
    standing.AddGroup(group, BoundsOf(group), IsFair(group));
    for (const uint32_t leaf : leaves) standing.AddPool(leaf, group, BoundsOf(leaf), IsFair(leaf));
  }
}

std::array<SessionState, kTaskTypes> TdwCore::StatesOf(uint32_t slot) const {
  const App& app = apps_[slot];
  std::array<SessionState, kTaskTypes> states;
  for (size_t type = 0; slot < app_granted_.size() && type < kTaskTypes; ++type) {
    states[type].granted = app_granted_[slot][type];
  }
  if (!app.runnable || !app.active) return states;
  for (const Want& want : app.wants) {
    if (want.count == 0) continue;
    SessionState& state = states[At(TypeOf(app, want))];
    state.waiting += want.count;
    state.classes |= uint64_t{1} << shapes_[want.shape].shape_class;
  }
  return states;
}

OrderKey TdwCore::KeyOf(uint32_t slot, const SessionState& state, bool fair) const {
  return SessionKey(apps_[slot].priority, state.granted, fair, apps_[slot].index.value);
}

void TdwCore::Seat(uint32_t slot) {
  if (slot >= sessions_.size()) sessions_.resize(slot + 1);
  Session& session = sessions_[slot];
  const uint32_t pool = apps_[slot].leaf;
  if (session.pool != pool) {
    Unseat(slot);
    session.pool = pool;
    for (const TaskType type : kTypes) session.seat[At(type)] = standing_[At(type)].Sit(pool, slot);
  }
  const std::array<SessionState, kTaskTypes> states = StatesOf(slot);
  for (const TaskType type : kTypes) {
    Standing& standing = standing_[At(type)];
    const OrderKey key = KeyOf(slot, states[At(type)], standing.pools()[pool].fair);
    standing.Move(pool, session.seat[At(type)], key, session.state[At(type)], states[At(type)]);
  }
  session.state = states;
}

void TdwCore::Unseat(uint32_t slot) {
  if (slot >= sessions_.size() || sessions_[slot].pool == kNone) return;
  for (const TaskType type : kTypes) {
    standing_[At(type)].Leave(sessions_[slot].pool, sessions_[slot].seat[At(type)], sessions_[slot].state[At(type)]);
  }
  sessions_[slot] = {};
}

void TdwCore::Refreshed(uint32_t slot) {
  if (seated_tree_ == tree_version_) Seat(slot);
}

void TdwCore::Removed(uint32_t slot) {
  if (seated_tree_ == tree_version_) Unseat(slot);
}

std::string TdwCore::SeatErrors() const {
  if (seated_tree_ != tree_version_) return "";
  for (const TaskType type : kTypes) {
    const Standing& standing = standing_[At(type)];
    if (!standing.Consistent()) return "order of pools and sessions";
    std::vector<std::pair<int64_t, int64_t>> sums(standing.pools().size());
    for (uint32_t slot = 0; slot < apps_.size(); ++slot) {
      if (!apps_[slot].used_slot) continue;
      const Session& session = sessions_[slot];
      if (session.pool != apps_[slot].leaf) return "session in another pool";
      const Standing::Pool& pool = standing.pools()[session.pool];
      const SessionState state = StatesOf(slot)[At(type)];
      sums[session.pool].first += state.granted;
      sums[session.pool].second += state.waiting;
      const uint32_t seat = session.seat[At(type)];
      if (pool.sessions.item(seat) != slot || pool.sessions.classes(seat) != state.classes ||
          !(pool.sessions.key(seat) == KeyOf(slot, state, pool.fair))) {
        return "seat of application " + std::to_string(apps_[slot].index.value);
      }
    }
    for (uint32_t queue = 0; queue < sums.size(); ++queue) {
      if (standing.pools()[queue].granted != sums[queue].first || standing.pools()[queue].waiting != sums[queue].second)
        return "sums of pool " + queues_[queue].name;
    }
  }
  return "";
}

}  // namespace fairlead::scheduler::tdw
