#include <algorithm>
#include <tuple>

#include "scheduler/tdw/policy.h"

// The seats of applications, pools and groups follow the books.

namespace fairlead::scheduler::tdw {

using native::kRoot;

namespace {

/// The least weight that a queue can have stands for none: FAIR puts it after every other.
Bounds BoundsOf(const native::Queue& queue, uint32_t rank) {
  return {queue.low.vcores(), queue.high.vcores(), queue.weight > 1 ? queue.weight : 0, queue.priority, rank};
}

/// By number: the place of each queue among all by start time, then name as text.
std::vector<uint32_t> RanksOf(const native::Queues& queues) {
  std::vector<QueueId> order;
  for (const QueueId id : queues) order.push_back(id);
  std::sort(order.begin(), order.end(), [&](QueueId a, QueueId b) {
    return std::tie(queues[a].start_time, queues[a].name) < std::tie(queues[b].start_time, queues[b].name);
  });
  std::vector<uint32_t> ranks(queues.size());
  for (uint32_t i = 0; i < order.size(); ++i) ranks[order[i].value] = i;
  return ranks;
}

/// Whether what is directly below the queue is served in FAIR order.
bool IsFair(const native::Queue& queue) { return queue.policy != model::OrderPolicy::kFifo; }

void GatherLeaves(const native::Queues& queues, QueueId queue, std::vector<QueueId>& leaves) {
  if (queues[queue].leaf) leaves.push_back(queue);
  for (const QueueId child : queues[queue].children) GatherLeaves(queues, child, leaves);
}

}  // namespace

OrderKey TdwPolicy::KeyOf(const Books& books, AppSlot slot, const SessionState& state, bool fair) const {
  return SessionKey(books.apps[slot].priority, state.granted, fair, sessions_[slot.value].rank);
}

void TdwPolicy::ClosePool(QueueId pool) {
  standing_[At(TaskType::kJobtracker)].SetClosed(pool.value, true);
  closed_pools_.push_back(pool);
}

void TdwPolicy::OpenPools() {
  if (!std::exchange(masters_freed_, false)) return;
  for (const QueueId pool : closed_pools_) standing_[At(TaskType::kJobtracker)].SetClosed(pool.value, false);
  closed_pools_.clear();
}

void TdwPolicy::SeatAll(const Books& books) {
  closed_pools_.clear();
  seated_tree_ = books.queues.version();
  for (Standing& standing : standing_) standing.Clear(books.queues.size(), IsFair(books.queues[kRoot]));
  const std::vector<uint32_t> ranks = RanksOf(books.queues);
  for (const QueueId group : books.queues[kRoot].children) SeatGroup(books, group, ranks);
  sessions_.assign(books.apps.size(), {});
  ranks_.Clear();
  for (const AppSlot slot : books.apps) Seat(books, slot);
}

void TdwPolicy::SeatGroup(const Books& books, QueueId group, const std::vector<uint32_t>& ranks) {
  std::vector<QueueId> leaves;
  GatherLeaves(books.queues, group, leaves);
  for (Standing& standing : standing_) {
    standing.AddGroup(group.value, BoundsOf(books.queues[group], ranks[group.value]), IsFair(books.queues[group]));
    for (const QueueId leaf : leaves) {
      const Bounds bounds = BoundsOf(books.queues[leaf], ranks[leaf.value]);
      standing.AddPool(leaf.value, group.value, bounds, IsFair(books.queues[leaf]));
    }
  }
}

std::array<SessionState, kTaskTypes> TdwPolicy::StatesOf(const Books& books, AppSlot slot) const {
  const App& app = books.apps[slot];
  std::array<SessionState, kTaskTypes> states;
  for (size_t type = 0; slot.value < app_granted_.size() && type < kTaskTypes; ++type) {
    states[type].granted = app_granted_[slot.value][type];
  }
  if (!app.runnable || !app.active) return states;
  for (const Ask& ask : app.asks) {
    if (!ask.open()) continue;
    SessionState& state = states[At(TypeOf(app, ask.priority))];
    state.waiting += ask.count;
    state.classes |= books.shapes.ClassOf(ask.shape);
  }
  return states;
}

void TdwPolicy::Seat(const Books& books, AppSlot slot) {
  if (slot.value >= sessions_.size()) sessions_.resize(slot.value + 1);
  Session& session = sessions_[slot.value];
  const QueueId pool = books.apps[slot].leaf;
  if (session.pool != pool) {
    Unseat(books, slot);
    session.pool = pool;
    for (const TaskType type : kTypes) session.seat[At(type)] = standing_[At(type)].Sit(pool.value, slot.value);
    Rank(books, slot);
  }
  const std::array<SessionState, kTaskTypes> states = StatesOf(books, slot);
  for (const TaskType type : kTypes) {
    Standing& standing = standing_[At(type)];
    const OrderKey key = KeyOf(books, slot, states[At(type)], standing.pools()[pool.value].fair);
    standing.Move(pool.value, session.seat[At(type)], key, session.state[At(type)], states[At(type)]);
  }
  session.state = states;
}

void TdwPolicy::Rank(const Books& books, AppSlot slot) {
  const auto rank_of = [&](uint32_t i) { return ranks_.Of(manners_[i].start, books.apps[AppSlot{i}].id); };
  const bool others_changed = ranks_.Enter(manners_[slot.value].start, books.apps[slot].id);
  sessions_[slot.value].rank = rank_of(slot.value);
  if (!others_changed) return;
  for (uint32_t i = 0; i < sessions_.size(); ++i) {
    Session& other = sessions_[i];
    if (i == slot.value || !other.pool.valid()) continue;
    other.rank = rank_of(i);
    for (const TaskType type : kTypes) {
      Standing& standing = standing_[At(type)];
      const SessionState& state = other.state[At(type)];
      const OrderKey key = KeyOf(books, AppSlot{i}, state, standing.pools()[other.pool.value].fair);
      standing.Move(other.pool.value, other.seat[At(type)], key, state, state);
    }
  }
}

void TdwPolicy::Unseat(const Books& books, AppSlot slot) {
  if (slot.value >= sessions_.size() || !sessions_[slot.value].pool.valid()) return;
  const Session& session = sessions_[slot.value];
  for (const TaskType type : kTypes) {
    standing_[At(type)].Leave(session.pool.value, session.seat[At(type)], session.state[At(type)]);
  }
  ranks_.Leave(manners_[slot.value].start, books.apps[slot].id);
  sessions_[slot.value] = {};
}

void TdwPolicy::AppCame(AppSlot slot, const ev::AppAdded& event) {
  if (slot.value >= manners_.size()) manners_.resize(slot.value + 1);
  manners_[slot.value] = {event.submitted, event.session};
}

void TdwPolicy::AppChanged(const Books& books, AppSlot slot) {
  if (seated_tree_ == books.queues.version()) Seat(books, slot);
}

void TdwPolicy::AppLeaves(const Books& books, AppSlot slot) {
  if (seated_tree_ == books.queues.version()) Unseat(books, slot);
}

void TdwPolicy::PrefetchApp(const Books&, AppSlot slot) const {
  if (slot.value >= sessions_.size() || !sessions_[slot.value].pool.valid()) return;
  const Session& session = sessions_[slot.value];
  for (const TaskType type : kTypes) {
    standing_[At(type)].pools()[session.pool.value].sessions.Prefetch(session.seat[At(type)]);
  }
}

std::string TdwPolicy::SeatErrors(const Books& books) const {
  if (seated_tree_ != books.queues.version()) return "";
  for (const TaskType type : kTypes) {
    const Standing& standing = standing_[At(type)];
    if (!standing.Consistent()) return "order of pools and sessions";
    std::vector<std::pair<int64_t, int64_t>> sums(standing.pools().size());
    for (const AppSlot slot : books.apps) {
      const App& app = books.apps[slot];
      const Session& session = sessions_[slot.value];
      if (session.pool != app.leaf) return "session in another pool";
      const Standing::Pool& pool = standing.pools()[session.pool.value];
      const SessionState state = StatesOf(books, slot)[At(type)];
      sums[session.pool.value].first += state.granted;
      sums[session.pool.value].second += state.waiting;
      const uint32_t seat = session.seat[At(type)];
      if (pool.sessions.item(seat) != slot.value || pool.sessions.classes(seat) != state.classes ||
          !(pool.sessions.key(seat) == KeyOf(books, slot, state, pool.fair))) {
        return "seat of application " + std::to_string(app.index.value);
      }
    }
    for (uint32_t queue = 0; queue < sums.size(); ++queue) {
      const Standing::Pool& pool = standing.pools()[queue];
      if (pool.granted != sums[queue].first || pool.waiting != sums[queue].second) {
        return "sums of pool " + std::to_string(queue);
      }
    }
  }
  return "";
}

}  // namespace fairlead::scheduler::tdw
