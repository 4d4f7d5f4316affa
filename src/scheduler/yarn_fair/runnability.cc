#include "scheduler/yarn_fair/runnability.h"

#include <algorithm>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/applications.h"
#include "scheduler/yarn_fair/update.h"

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

static void GatherWaiting(const Books& books, QueueId queue, std::vector<std::vector<AttemptId>>& lists);
static void StartFrom(Books& books, const std::vector<std::vector<AttemptId>>& lists, size_t most);

int32_t UserMaxApps(const Books& books, const std::string& user) {
  const auto it = books.settings.user_max_apps.find(user);
  return it == books.settings.user_max_apps.end() ? books.settings.user_max_apps_default : it->second;
}

bool CanRun(const Books& books, QueueId queue, const std::string& user) {
  if (books.users.Running(user) >= UserMaxApps(books, user)) return false;
  for (; queue.valid(); queue = books.queues[queue].parent) {
    if (books.queues[queue].NumRunnable() >= books.queues[queue].max_running) return false;
  }
  return true;
}

void TrackRunnable(Books& books, AttemptId id) {
  books.ForEachUp(books.queues[books.attempts[id].queue].parent, [](Queue& queue) { ++queue.runnable_below; });
  books.users.Run(books.apps[books.attempts[id].app].user);
}

void UntrackRunnable(Books& books, AttemptId id) {
  books.users.StopRunning(books.apps[books.attempts[id].app].user);
  books.ForEachUp(books.queues[books.attempts[id].queue].parent, [](Queue& queue) { --queue.runnable_below; });
}

void UntrackWaiting(Books& books, AttemptId id) {
  books.users.StopWaiting(books.apps[books.attempts[id].app].user, id);
}

void StartWaitingAfterRemoval(Books& books, AttemptId gone, QueueId queue) {
  QueueId highest;
  for (QueueId at = queue; at.valid(); at = books.queues[at].parent) {
    if (books.queues[at].NumRunnable() == int64_t{books.queues[at].max_running} - 1) highest = at;
  }
  std::vector<std::vector<AttemptId>> lists;
  if (highest.valid()) GatherWaiting(books, highest, lists);
  const std::string& user = books.apps[books.attempts[gone].app].user;
  if (books.users.Running(user) == int64_t{UserMaxApps(books, user)} - 1) lists.push_back(books.users.Waiting(user));
  StartFrom(books, lists, books.config.quirks.runnability_stops_early ? lists.size() : SIZE_MAX);
}

void StartWaitingAfterReload(Books& books) {
  std::vector<std::vector<AttemptId>> lists;
  GatherWaiting(books, kRoot, lists);
  StartFrom(books, lists, INT32_MAX);
}

void GatherWaiting(const Books& books, QueueId id, std::vector<std::vector<AttemptId>>& lists) {
  const Queue& queue = books.queues[id];
  if (queue.NumRunnable() >= queue.max_running) return;
  if (queue.leaf) lists.push_back(queue.waiting);
  for (const QueueId child : queue.children) GatherWaiting(books, child, lists);
}

/// updateAppsRunnability: the lists merged by start time, each application tried once, until `most` have started.
void StartFrom(Books& books, const std::vector<std::vector<AttemptId>>& lists, size_t most) {
  java::PriorityQueue<ListTime> heads;
  std::vector<size_t> next(lists.size(), 0);
  const auto time_of = [&](size_t list) {
    return next[list] < lists[list].size() ? books.attempts[lists[list][next[list]]].start_ms : INT64_MAX;
  };
  for (size_t i = 0; i < lists.size(); ++i) heads.Add({i, time_of(i)}, CompareTimes);
  std::vector<AttemptId> started;
  AttemptId previous;
  while (!heads.empty() && heads.items().front().time != INT64_MAX) {
    const size_t list = heads.Poll(CompareTimes).list;
    const AttemptId id = lists[list][next[list]++];
    heads.Add({list, time_of(list)}, CompareTimes);
    if (id == previous) continue;
    if (CanRun(books, books.attempts[id].queue, books.apps[books.attempts[id].app].user)) {
      TrackRunnable(books, id);
      AddToLeaf(
          books, id, true,
          books.config.quirks.start_counts_usage_twice);  // leaves the waiting list only after all have been tried
      started.push_back(id);
      if (started.size() >= most) break;
    }
    previous = id;
  }
  for (const AttemptId id : started) {
    std::erase(books.queues[books.attempts[id].queue].waiting, id);
    CountDemand(books, books.queues[books.attempts[id].queue], books.attempts[id].demand,
                {});  // of the two lists it stood in
    UntrackWaiting(books, id);
  }
}

}  // namespace fairlead::scheduler::yarn_fair
