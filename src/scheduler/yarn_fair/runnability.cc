#include <algorithm>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/core.h"

// MaxRunningAppsEnforcer: which applications may run, and which waiting ones start when one leaves.

namespace fairlead::scheduler::yarn_fair {
namespace {

/// MultiListStartTimeIterator's entry: a list, and the start of its next application.
struct ListTime {
  size_t list;
  int64_t time;
};

int CompareTimes(const ListTime& a, const ListTime& b) { return a.time < b.time ? -1 : a.time > b.time; }

}  // namespace

int32_t Core::UserMaxApps(const std::string& user) const {
  const auto it = settings_.user_max_apps.find(user);
  return it == settings_.user_max_apps.end() ? settings_.user_max_apps_default : it->second;
}

bool Core::CanRun(QueueId queue, const std::string& user) const {
  const auto it = user_runnable_.find(user);
  if ((it == user_runnable_.end() ? 0 : it->second) >= UserMaxApps(user)) return false;
  for (; queue.valid(); queue = queues_[queue].parent) {
    if (queues_[queue].NumRunnable() >= queues_[queue].max_running) return false;
  }
  return true;
}

void Core::TrackRunnable(AttemptId id) {
  ForEachUp(queues_[attempts_[id].queue].parent, [](Queue& queue) { ++queue.runnable_below; });
  ++user_runnable_[apps_[attempts_[id].app].user];
}

void Core::UntrackRunnable(AttemptId id) {
  const auto it = user_runnable_.find(apps_[attempts_[id].app].user);
  if (--it->second == 0) user_runnable_.erase(it);
  ForEachUp(queues_[attempts_[id].queue].parent, [](Queue& queue) { --queue.runnable_below; });
}

void Core::UntrackWaiting(AttemptId id) {
  const auto it = user_waiting_.find(apps_[attempts_[id].app].user);
  if (it == user_waiting_.end()) return;
  const auto place = std::find(it->second.begin(), it->second.end(), id);
  if (place != it->second.end()) it->second.erase(place);
  if (it->second.empty()) user_waiting_.erase(it);
}

/// updateRunnabilityOnAppRemoval: below the highest queue that was full before, and of the user if it was at its limit.
void Core::StartWaitingAfterRemoval(AttemptId gone, QueueId queue) {
  QueueId highest;
  for (QueueId at = queue; at.valid(); at = queues_[at].parent) {
    if (queues_[at].NumRunnable() == int64_t{queues_[at].max_running} - 1) highest = at;
  }
  std::vector<std::vector<AttemptId>> lists;
  if (highest.valid()) GatherWaiting(highest, lists);
  const std::string& user = apps_[attempts_[gone].app].user;
  const auto running = user_runnable_.find(user);
  if ((running == user_runnable_.end() ? 0 : running->second) == int64_t{UserMaxApps(user)} - 1) {
    const auto waiting = user_waiting_.find(user);
    lists.push_back(waiting == user_waiting_.end() ? std::vector<AttemptId>{} : waiting->second);
  }
  StartFrom(lists, config_.quirks.runnability_stops_early ? lists.size() : SIZE_MAX);
}

void Core::StartWaitingAfterReload() {
  std::vector<std::vector<AttemptId>> lists;
  GatherWaiting(kRoot, lists);
  StartFrom(lists, INT32_MAX);
}

void Core::GatherWaiting(QueueId id, std::vector<std::vector<AttemptId>>& lists) const {
  const Queue& queue = queues_[id];
  if (queue.NumRunnable() >= queue.max_running) return;
  if (queue.leaf) lists.push_back(queue.waiting);
  for (const QueueId child : queue.children) GatherWaiting(child, lists);
}

/// updateAppsRunnability: the lists merged by start time, each application tried once, until `most` have started.
void Core::StartFrom(const std::vector<std::vector<AttemptId>>& lists, size_t most) {
  java::PriorityQueue<ListTime> heads;
  std::vector<size_t> next(lists.size(), 0);
  const auto time_of = [&](size_t list) {
    return next[list] < lists[list].size() ? attempts_[lists[list][next[list]]].start_ms : INT64_MAX;
  };
  for (size_t i = 0; i < lists.size(); ++i) heads.Add({i, time_of(i)}, CompareTimes);
  std::vector<AttemptId> started;
  AttemptId previous;
  while (!heads.empty() && heads.items().front().time != INT64_MAX) {
    const size_t list = heads.Poll(CompareTimes).list;
    const AttemptId id = lists[list][next[list]++];
    heads.Add({list, time_of(list)}, CompareTimes);
    if (id == previous) continue;
    if (CanRun(attempts_[id].queue, apps_[attempts_[id].app].user)) {
      TrackRunnable(id);
      AddToLeaf(id, true,
                config_.quirks.start_counts_usage_twice);  // leaves the waiting list only after all have been tried
      started.push_back(id);
      if (started.size() >= most) break;
    }
    previous = id;
  }
  for (const AttemptId id : started) {
    std::erase(queues_[attempts_[id].queue].waiting, id);
    CountDemand(queues_[attempts_[id].queue], attempts_[id].demand, {});  // of the two lists it stood in
    UntrackWaiting(id);
  }
}

}  // namespace fairlead::scheduler::yarn_fair
