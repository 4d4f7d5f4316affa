#include "scheduler/yarn_fair/view.h"

#include <algorithm>

#include "base/codec.h"
#include "scheduler/yarn_fair/queues.h"

// What others see of the state: views, the hash, the copy.

namespace fairlead::scheduler::yarn_fair {
namespace {

const char* NameOfPolicy(Policy policy) {
  switch (policy) {
    case Policy::kFair:
      return "fair";
    case Policy::kDrf:
      return "DRF";
    case Policy::kFifo:
      return "FIFO";
  }
  return "?";
}

using hadoop::Mix;

template <class... T>
void MixAll(base::StateHasher& hasher, T... values) {
  (hasher.Mix(static_cast<uint64_t>(values)), ...);
}

void MixQueue(base::StateHasher& hasher, const Queue& q) {
  hasher.Mix(std::string_view(q.name));
  MixAll(hasher, q.parent.value, q.leaf, q.alive, q.dynamic, q.runnable_below, q.max_running, q.last_at_min_share,
         q.policy);
  const auto list = [&](const auto& ids) {
    hasher.Mix(ids.size());
    for (const auto id : ids) hasher.Mix(id.value);
  };
  list(q.children);
  list(q.runnable);
  list(q.waiting);
  list(q.assigned);
  for (const Resources* r : {&q.used, &q.demand, &q.fair_share, &q.am_used, &q.min_share, &q.max_share}) {
    Mix(hasher, *r);
  }
}

void MixAttempt(base::StateHasher& hasher, const Attempt& a, const Resources& fair_share, const Names& names) {
  MixAll(hasher, a.app.value, a.number, a.queue.value, a.runnable, a.stopped, a.start_ms, a.live.count(),
         a.last_at_fair_share, a.next_starvation_check, a.in_starved_queue, a.pins);
  for (const Resources* r :
       {&a.demand, &a.used, &fair_share, &a.reserved, &a.fair_starvation, &a.min_starvation, &a.to_be_preempted}) {
    Mix(hasher, *r);
  }
  a.master.Mix(hasher);
  a.numbers.Mix(hasher);
  a.asks.Mix(hasher, names);
  a.blacklist.Mix(hasher);
  for (const KeyState& s : a.key_states) {
    MixAll(hasher, s.key.priority, s.key.id, s.opportunities, s.last_ms, s.has_last, s.has_allowed, s.allowed);
  }
}

}  // namespace

static QueueView ViewOf(const Books& books, const Queue& queue) {
  QueueView view;
  view.name = queue.name;
  if (queue.parent.valid()) view.parent = books.queues[queue.parent].name;
  view.leaf = queue.leaf;
  view.policy = NameOfPolicy(queue.policy);
  view.weight = queue.weight;
  view.fair_share = queue.fair_share;
  view.steady_share = queue.steady_share;
  view.min_share = queue.min_share;
  view.max_share = queue.max_share;
  view.demand = queue.demand;
  if (!queue.leaf && books.config.quirks.parent_demand_drops_types) {
    view.demand = Resources::Of(queue.demand[0], queue.demand[1]);
  }
  view.used = queue.used;
  view.master_used = queue.am_used;
  view.runnable_apps = queue.NumRunnable();
  view.waiting_apps = static_cast<int32_t>(queue.waiting.size());
  view.max_running_apps = queue.max_running;
  view.preemptable = queue.preemptable;
  return view;
}

View QueuesOf(const Books& books) {
  FlushSteady(books);
  View view;
  view.cluster = books.nodes.total();
  for (const auto& [name, id] : books.tree.ids) view.queues.push_back(ViewOf(books, books.queues[id]));
  std::stable_sort(view.queues.begin(), view.queues.end(), [](const QueueView& a, const QueueView& b) {
    const auto depth = [](const std::string& s) { return std::count(s.begin(), s.end(), '.'); };
    return depth(a.name) < depth(b.name);
  });
  return view;
}

View ViewOf(const Books& books) {
  View view = QueuesOf(books);
  for (AppIndex app{0}; app.value < books.apps.size(); ++app.value) {
    if (!books.apps.Current(app).valid()) continue;
    const Attempt& attempt = books.attempts[books.apps.Current(app)];
    view.apps.push_back({app, books.queues[attempt.queue].name, attempt.runnable, books.FairShareOf(attempt),
                         attempt.demand, attempt.used, attempt.reserved, static_cast<int32_t>(attempt.live.count())});
  }
  for (NodeIndex id{0}; id.value < books.nodes.size(); ++id.value) {
    const Node& node = books.nodes[id];
    if (!node.alive) continue;
    view.nodes.push_back({id, node.total, node.allocated, static_cast<int32_t>(node.containers.count())});
  }
  return view;
}

uint64_t HashOf(const Books& books) {
  base::StateHasher hasher;
  for (const QueueId id : books.queues) MixQueue(hasher, books.queues[id]);
  for (const QueueId id : books.tree.leaves) hasher.Mix(id.value);
  for (const AttemptId id : books.attempts) {
    hasher.Mix(id.value);
    MixAttempt(hasher, books.attempts[id], books.FairShareOf(books.attempts[id]), books.names);
  }
  books.apps.Mix(hasher);
  books.containers.Mix(hasher);
  books.nodes.Mix(hasher);
  books.promises.Mix(hasher);
  Mix(hasher, books.totals.allocated);
  Mix(hasher, books.totals.available);
  for (const AttemptId id : books.preemption.starved.items()) hasher.Mix(id.value);
  for (const KillTask& kill : books.preemption.kills) {
    hasher.Mix(static_cast<uint64_t>(kill.at_ms));
    for (const model::ContainerId& id : kill.victims) hasher.Mix(static_cast<uint64_t>(id.value));
  }
  books.users.Mix(hasher);
  for (const PendingConversion& task : books.tree.conversions) hasher.Mix(std::string_view(task.queue));
  MixAll(hasher, books.due.update_ms, books.due.continuous_ms, books.due.queue_check_ms);
  return hasher.value();
}

}  // namespace fairlead::scheduler::yarn_fair
