#include <algorithm>

#include "scheduler/tdw/policy.h"

// Why a task waits: the checks of a round, run dry.

namespace fairlead::scheduler::tdw {

using Reason = model::scheduler::PendingReason;

ev::Pending TdwPolicy::AtMaximum(const Books& books, const App& app, TaskType type, int64_t more) const {
  const native::Queues& queues = books.queues;
  for (QueueId q = app.leaf; q != native::kRoot; q = queues[q].parent) {
    const bool pool_or_group = q == app.leaf || queues[q].parent == native::kRoot;
    if (!pool_or_group) continue;
    int64_t granted = 0;
    for (const AppSlot slot : books.apps) {
      if (slot.value >= app_granted_.size()) continue;
      QueueId above = books.apps[slot].leaf;
      while (above != native::kRoot && above != q) above = queues[above].parent;
      if (above == q) granted += app_granted_[slot.value][At(type)];
    }
    const int64_t most = queues[q].high.vcores();
    if (granted + more <= most) continue;
    ev::Pending out;
    out.reason = Reason::kQueueMaximum;
    out.detail =
        queues[q].name + " has " + std::to_string(granted) + " tasks of this type of at most " + std::to_string(most);
    out.remedy = "raise maxResources of " + queues[q].name + ", or wait for its tasks to end";
    return out;
  }
  return {};
}

TaskCounts TdwPolicy::TasksOf(const Books& books, QueueId queue, TaskType type) const {
  TaskCounts counts{EnumName(type)};
  if (books.queues[queue].leaf) {
    const Standing::Pool& pool = standing_[At(type)].pools()[queue.value];
    counts.granted = pool.granted;
    counts.waiting = pool.waiting;
    counts.missing = std::clamp<int64_t>(pool.bounds.low - pool.granted, 0, pool.waiting);
  }
  for (const QueueId child : books.queues[queue].children) {
    const TaskCounts below = TasksOf(books, child, type);
    counts.granted += below.granted;
    counts.waiting += below.waiting;
    counts.missing += below.missing;
  }
  return counts;
}

std::vector<TaskCounts> TdwPolicy::TasksOf(const Books& books, QueueId queue) const {
  std::vector<TaskCounts> tasks;
  if (seated_tree_ != books.queues.version()) return tasks;  // no round yet since the queues are as they are
  for (const TaskType type : kTypes) tasks.push_back(TasksOf(books, queue, type));
  return tasks;
}

std::string TdwPolicy::BelowMinimum(const Books& books, QueueId pool, TaskType type) const {
  if (seated_tree_ != books.queues.version()) return "";
  const TaskCounts counts = TasksOf(books, pool, type);
  if (counts.missing == 0) return "";
  return books.queues[pool].name + " has " + std::to_string(counts.granted) + " of its minimum of " +
         std::to_string(books.queues[pool].low.vcores()) + " tasks of this type";
}

bool TdwPolicy::IsNext(const Books& books, AppSlot slot, TaskType type) const {
  if (seated_tree_ != books.queues.version()) return true;  // the first round has not come yet
  const Standing& standing = standing_[At(type)];
  const uint32_t pool = standing.FirstPool(UINT64_MAX);
  return pool == books.apps[slot].leaf.value && standing.FirstSession(pool, UINT64_MAX) == slot.value;
}

ev::Pending TdwPolicy::GangLimit(const Books& books, AppSlot slot, int64_t gang) const {
  Counts members{};
  const App& app = books.apps[slot];
  for (const Ask& ask : app.asks) {
    if (ask.gang == gang) members[At(TypeOf(app, ask.priority))] += ask.count;
  }
  for (const TaskType type : kTypes) {
    if (members[At(type)] == 0) continue;
    ev::Pending limit = AtMaximum(books, app, type, members[At(type)]);
    if (limit.reason != Reason::kNone) return limit;
  }
  return {};
}

ev::Pending TdwPolicy::Why(const Books& books, AppSlot slot, const Ask& ask, Instant) const {
  const App& app = books.apps[slot];
  const Shape& shape = books.shapes[ask.shape];
  std::vector<Blocker> blockers;
  native::FindRunningLimits(books, app, blockers);
  if (!blockers.empty()) return native::Joined(blockers);
  const TaskType type = TypeOf(app, ask.priority);
  if (ev::Pending maximum = AtMaximum(books, app, type, 1); maximum.reason != Reason::kNone) return maximum;
  native::FindMasterLimits(books, app, shape.size, false, blockers);
  if (!blockers.empty()) return native::Joined(blockers);
  if (!FindNode(books, app, ask, type).node.valid()) {
    switch (FindObstacle(books, app, ask)) {
      case Obstacle::kNoRoom: {
        Blocker room = native::NoRoom(books, shape);
        if (const std::string below = BelowMinimum(books, app.leaf, type); !below.empty()) room.detail += "; " + below;
        return native::Joined({std::move(room)});
      }
      case Obstacle::kExclusion:
        return native::Joined({native::AllExcluded(app, shape, ask.excluded.size())});
      case Obstacle::kStrictPlaces:
        return native::Joined(
            {{Reason::kStrictLocality, "",
              "none of the named places has room for " + model::InWords(shape.size) + ", and relaxLocality is off",
              "allow other places (relaxLocality), or wait"}});
    }
  }
  ev::Pending out;
  if (IsNext(books, slot, type)) {
    out.reason = Reason::kNextRound;
    out.detail = "there is room, and nobody who waits is known to come before it; a round is at most every " +
                 std::to_string(settings_.round_interval.millis()) + " ms";
    out.remedy = "wait for the next round";
    return out;
  }
  out.reason = Reason::kFairShare;
  out.detail = "there is room; it is served in a round, after those who are further below their share";
  out.remedy = "wait for the next rounds, or raise the weight or the minimum of its pool";
  return out;
}

}  // namespace fairlead::scheduler::tdw
