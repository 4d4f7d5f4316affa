#include "scheduler/yarn_capacity/view.h"

#include <algorithm>

#include "scheduler/yarn_capacity/activation.h"

namespace fairlead::scheduler::yarn_capacity {

std::string_view EnumName(AppStanding standing) {
  switch (standing) {
    case AppStanding::kActive:
      return "active";
    case AppStanding::kPending:
      return "pending";
    case AppStanding::kWaiting:
      return "waiting";
  }
  return "?";
}
namespace {

PartitionView PartitionOf(const Queue& queue, PartitionId id) {
  const Share& share = queue.shares[id];
  PartitionView view;
  view.absolute = queue.shares.absolute(id);
  view.absolute_maximum = share.absolute_maximum;
  view.used_share = share.used;
  view.absolute_used = share.absolute_used;
  view.effective_min = share.effective_min;
  view.effective_max = share.effective_max;
  view.used = queue.usage.used(id);
  view.pending = queue.usage.pending(id);
  view.reserved = queue.usage.reserved(id);
  view.masters_used = queue.usage.masters(id);
  view.masters_limit = queue.usage.master_limit(id);
  return view;
}

CapacityQueueView QueueOf(const Books& books, const Queue& queue) {
  CapacityQueueView view;
  view.path = queue.path;
  view.leaf = queue.leaf;
  view.state = queue.state;
  view.apps = queue.apps();
  for (const PartitionId id : LabelsOf(queue)) view.partitions[books.partitions.Name(id)] = PartitionOf(queue, id);
  for (const QueueId child : queue.children) view.children.push_back(books.queues[child].name);
  if (!queue.leaf) return view;
  view.active_apps = static_cast<int32_t>(queue.own.active.size());
  view.pending_apps = static_cast<int32_t>(queue.own.pending.size());
  view.max_apps = queue.own.max_apps;
  view.max_apps_per_user = queue.own.max_apps_per_user;
  queue.own.users.ForEach([&](const User& user) {
    view.users[user.name] = {user.usage.used(kNoLabel),
                             user.usage.masters(kNoLabel),
                             user.active_apps,
                             user.pending_apps,
                             user.limit,
                             user.weight};
  });
  return view;
}

}  // namespace

std::map<std::string, CapacityQueueView> CapacityQueuesOf(const Books& books) {
  std::map<std::string, CapacityQueueView> views;
  books.queues.ForEachDown(books.queues.root(), [&](QueueId id) {
    const Queue& queue = books.queues[id];
    views[queue.path] = QueueOf(books, queue);
  });
  return views;
}

CapacityAppView AppOf(const Books& books, model::AppIndex app) {
  const AttemptId id = books.apps.Current(app);
  if (!id.valid()) return {};
  const Attempt& attempt = books.attempts[id];
  CapacityAppView view;
  view.standing = !attempt.runnable                                ? AppStanding::kWaiting
                  : books.queues[attempt.queue].own.active.Has(id) ? AppStanding::kActive
                                                                   : AppStanding::kPending;
  view.used = attempt.usage.used(kNoLabel);
  view.reserved = attempt.usage.reserved(kNoLabel);
  view.priority = attempt.priority;
  return view;
}

View QueuesOf(const Books& books) {
  View view;
  view.cluster = books.cluster();
  books.queues.ForEachDown(books.queues.root(), [&](QueueId id) {
    const Queue& queue = books.queues[id];
    QueueView one;
    one.name = queue.path;
    if (queue.parent.valid()) one.parent = books.queues[queue.parent].path;
    one.leaf = queue.leaf;
    one.policy = !queue.leaf ? (queue.settings.by_priority ? "priority-utilization" : "utilization")
                             : (queue.own.active.kind() == AppOrder::Kind::kFair ? "fair" : "fifo");
    one.weight = static_cast<double>(queue.shares.absolute(kNoLabel));
    one.fair_share = one.steady_share = one.min_share = queue.shares[kNoLabel].effective_min;
    one.max_share = queue.shares[kNoLabel].effective_max;
    one.demand = queue.usage.used(kNoLabel) + queue.usage.pending(kNoLabel);
    one.used = queue.usage.used(kNoLabel);
    one.master_used = queue.usage.masters(kNoLabel);
    one.runnable_apps = queue.runnable_apps();
    one.waiting_apps = queue.apps() - queue.runnable_apps();
    one.max_running_apps = queue.settings.max_parallel_apps;
    one.preemptable = !queue.settings.preemption_disabled;
    view.queues.push_back(std::move(one));
  });
  return view;
}

View ViewOf(const Books& books) {
  View view = QueuesOf(books);
  for (AppIndex app{0}; app.value < books.apps.size(); ++app.value) {
    const AttemptId id = books.apps.Current(app);
    if (!id.valid()) continue;
    const Attempt& attempt = books.attempts[id];
    AppView one;
    one.app = app;
    one.queue = books.queues[attempt.queue].path;
    one.runnable = books.queues[attempt.queue].own.active.Has(id);
    for (PartitionId label{0}; label.value < attempt.usage.partitions(); ++label.value) {
      one.used += attempt.usage.used(label);
      one.reserved += attempt.usage.reserved(label);
      one.demand += attempt.usage.used(label) + attempt.usage.pending(label);
    }
    one.containers = static_cast<int32_t>(attempt.live.count());
    view.apps.push_back(std::move(one));
  }
  for (NodeIndex id{0}; id.value < books.nodes.size(); ++id.value) {
    const Node& node = books.nodes[id];
    if (!node.alive) continue;
    view.nodes.push_back({id, node.total, node.allocated, static_cast<int32_t>(node.containers.count())});
  }
  return view;
}

}  // namespace fairlead::scheduler::yarn_capacity
