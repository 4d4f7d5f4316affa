#include "scheduler/yarn_capacity/runnability.h"

#include <algorithm>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/applications.h"

namespace fairlead::scheduler::yarn_capacity {
namespace {

int32_t LimitOf(const Books& books, const std::string& user) {
  const auto it = books.file.max_parallel_apps_of_user.find(user);
  return it == books.file.max_parallel_apps_of_user.end() ? books.file.user_max_parallel_apps : it->second;
}

/// trackRunnableApp, untrackRunnableApp: the queues above the leaf, and the user.
void CountRunning(Books& books, AttemptId id, int32_t by) {
  const Attempt& attempt = books.attempts[id];
  books.queues.ForEachUp(books.queues[attempt.queue].parent, [&](Queue& queue) { queue.runnable_below += by; });
  if (by > 0) {
    books.parallel.Start(attempt.user);
  } else {
    books.parallel.End(attempt.user);
  }
}

using List = std::vector<AttemptId>;

void Gather(const Books& books, QueueId id, std::vector<List>& lists) {
  const Queue& queue = books.queues[id];
  if (queue.runnable_apps() >= queue.settings.max_parallel_apps) return;
  if (queue.leaf) {
    lists.push_back(queue.own.waiting);
  } else {
    for (const QueueId child : queue.children) Gather(books, child, lists);
  }
}

/// MultiListStartTimeIterator.
class ByStart {
 public:
  ByStart(const Books& books, const std::vector<List>& lists) : books_(books), lists_(lists), at_(lists.size()) {
    for (uint32_t i = 0; i < lists.size(); ++i) heap_.Add({i, StartOf(i)}, Compare);
  }
  bool HasNext() const { return !heap_.empty() && heap_.items().front().start != INT64_MAX; }
  AttemptId Next() {
    Head head = heap_.Poll(Compare);
    const AttemptId next = lists_[head.list][at_[head.list]++];
    head.start = StartOf(head.list);
    heap_.Add(head, Compare);
    return next;
  }

 private:
  struct Head {
    uint32_t list;
    int64_t start;
  };
  static int Compare(const Head& a, const Head& b) { return a.start < b.start ? -1 : a.start > b.start ? 1 : 0; }
  int64_t StartOf(uint32_t list) const {
    return at_[list] < lists_[list].size() ? books_.attempts[lists_[list][at_[list]]].start : INT64_MAX;
  }
  const Books& books_;
  const std::vector<List>& lists_;
  std::vector<size_t> at_;
  hadoop::java::PriorityQueue<Head> heap_;
};

/// updateAppsRunnability.
void StartSome(Books& books, const std::vector<List>& lists, size_t most) {
  ByStart next(books, lists);
  AttemptId before;
  List started;
  while (next.HasNext()) {
    const AttemptId id = next.Next();
    if (id == before) continue;
    if (DecideRunnable(books, id)) {
      CountRunning(books, id, 1);
      SubmitAttempt(books, id, books.attempts[id].queue);
      started.push_back(id);
      if (started.size() >= most) break;
    }
    before = id;
  }
  for (const AttemptId id : started) {
    List& waiting = books.queues[books.attempts[id].queue].own.waiting;
    if (const auto it = std::find(waiting.begin(), waiting.end(), id); it != waiting.end()) waiting.erase(it);
    books.parallel.StopWaiting(books.attempts[id].user, id);
  }
}

}  // namespace

bool DecideRunnable(Books& books, AttemptId id) {
  Attempt& attempt = books.attempts[id];
  bool runs = books.parallel.Running(attempt.user) < LimitOf(books, attempt.user);
  books.queues.ForEachUp(attempt.queue,
                         [&](const Queue& queue) { runs &= queue.runnable_apps() < queue.settings.max_parallel_apps; });
  attempt.runnable = runs;
  return runs;
}

void Track(Books& books, AttemptId id) {
  const Attempt& attempt = books.attempts[id];
  if (attempt.runnable) {
    CountRunning(books, id, 1);
  } else {
    books.parallel.Wait(attempt.user, id);
  }
}

void Untrack(Books& books, AttemptId id) {
  const Attempt& attempt = books.attempts[id];
  if (attempt.runnable) {
    CountRunning(books, id, -1);
  } else {
    books.parallel.StopWaiting(attempt.user, id);
  }
}

void UpdateRunnability(Books& books, AttemptId gone) {
  const Attempt& attempt = books.attempts[gone];
  QueueId highest;
  for (QueueId id = attempt.queue; id.valid(); id = books.queues[id].parent) {
    const Queue& queue = books.queues[id];
    if (queue.runnable_apps() == queue.settings.max_parallel_apps - 1) highest = id;
  }
  std::vector<List> lists;
  if (highest.valid()) Gather(books, highest, lists);
  if (books.parallel.Running(attempt.user) == LimitOf(books, attempt.user) - 1) {
    lists.push_back(books.parallel.Waiting(attempt.user));
  }
  StartSome(books, lists, lists.size());
}

void UpdateRunnability(Books& books) {
  std::vector<List> lists;
  Gather(books, books.queues.root(), lists);
  StartSome(books, lists, INT32_MAX);
}

}  // namespace fairlead::scheduler::yarn_capacity
