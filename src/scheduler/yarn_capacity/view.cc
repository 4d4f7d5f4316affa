#include "scheduler/yarn_capacity/view.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "scheduler/yarn_capacity/activation.h"
#include "scheduler/yarn_capacity/setup.h"

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

/// "50.0", "0.1": the fewest digits that give the number back, with one behind the point at least (Double.toString).
std::string NumberText(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  std::string number(text.data(), end);
  if (number.find_first_of(".e") == std::string::npos) number += ".0";
  return number;
}

const char* SuffixOf(model::CapacityUnit unit) {
  return unit == model::CapacityUnit::kPercent ? "%" : unit == model::CapacityUnit::kWeight ? "w" : "";
}

/// QueueCapacityVector.toString.
void DescribeConfigured(const std::vector<model::CapacityEntry>& vector, CapacityPartition& view) {
  for (size_t type = 0; type < vector.size(); ++type) {
    view.configured_types.emplace_back(model::ResourceTypes::Name(type),
                                       NumberText(vector[type].value) + SuffixOf(vector[type].unit));
  }
  for (const auto& [type, text] : view.configured_types) {
    view.configured += (view.configured.empty() ? "[" : ",") + type + "=" + text;
  }
  view.configured += view.configured.empty() ? "[]" : "]";
}

void AddUsage(const Usage& usage, PartitionId id, CapacityPartition& view) {
  view.used = usage.used(id);
  view.pending = usage.pending(id);
  view.reserved = usage.reserved(id);
  view.masters_used = usage.masters(id);
  view.masters_limit = usage.master_limit(id);
}

CapacityPartition PartitionOf(const Queue& queue, PartitionId id) {
  const Share& share = queue.shares[id];
  CapacityPartition view;
  const auto configured = queue.settings.minimum.find(id);
  DescribeConfigured(
      configured == queue.settings.minimum.end() ? std::vector<model::CapacityEntry>{} : configured->second, view);
  view.share = queue.shares.capacity(id);
  view.maximum = share.maximum;
  view.absolute = queue.shares.absolute(id);
  view.absolute_maximum = share.absolute_maximum;
  view.used_share = share.used;
  view.absolute_used = share.absolute_used;
  view.masters_share = share.master_percent;
  view.weight = share.weight;
  view.normalized_weight = share.normalized_weight;
  view.configured_min = share.configured_min;
  view.configured_max = share.configured_max;
  view.effective_min = share.effective_min;
  view.effective_max = share.effective_max;
  AddUsage(queue.usage, id, view);
  return view;
}

/// CapacitySchedulerInfoHelper.getMode.
std::string ModeOf(const Books& books, const Queue& queue) {
  if (books.file.legacy_queue_mode) {
    if (queue.settings.absolute) return "absolute";
    return queue.shares[kNoLabel].weight == -1 ? "percentage" : "weight";
  }
  std::set<model::CapacityUnit> units;
  const auto vector = queue.settings.minimum.find(kNoLabel);
  if (vector != queue.settings.minimum.end()) {
    for (const model::CapacityEntry& entry : vector->second) units.insert(entry.unit);
  }
  if (units.size() > 1) return "mixed";
  if (units.contains(model::CapacityUnit::kPercent)) return "percentage";
  if (units.contains(model::CapacityUnit::kWeight)) return "weight";
  return units.empty() ? "unknown" : "absolute";
}

CapacityUser UserOf(const Books& books, const Queue& leaf, const User& user) {
  CapacityUser view;
  for (PartitionId id{0}; id.value < user.usage.partitions(); ++id.value) {
    if (!user.usage.Exists(id)) continue;
    CapacityPartition& partition = view.partitions[books.partitions.Name(id)];
    AddUsage(user.usage, id, partition);
    partition.masters_limit = UserMasterLimit(books, leaf, id, user.name);
  }
  view.used = user.usage.used(kNoLabel);
  view.masters_used = user.usage.masters(kNoLabel);
  view.active_apps = user.active_apps;
  view.pending_apps = user.pending_apps;
  view.limit = user.limit;
  view.weight = user.weight;
  return view;
}

void AddLeaf(const Books& books, const Queue& queue, CapacityView& view) {
  const Leaf& leaf = queue.own;
  view.active_apps = static_cast<int32_t>(leaf.active.size());
  view.pending_apps = static_cast<int32_t>(leaf.pending.size());
  view.max_apps = leaf.max_apps;
  view.max_apps_per_user = leaf.max_apps_per_user;
  view.user_limit = leaf.users.percent();
  view.user_limit_factor = leaf.users.factor();
  view.masters_share = queue.settings.master_percent;
  view.default_priority = queue.settings.default_application_priority;
  for (const PartitionId id : LabelsOf(queue)) {
    view.partitions[books.partitions.Name(id)].user_masters_limit = UserMasterLimit(books, queue, id, "");
  }
  leaf.users.ForEach([&](const User& user) {
    view.users[user.name] = UserOf(books, queue, user);
    view.users[user.name].active = leaf.users.IsActive(user.name);
  });
}

CapacityView CapacityOf(const Books& books, const Queue& queue) {
  CapacityView view;
  view.state = queue.state;
  view.apps = queue.apps();
  for (const PartitionId id : LabelsOf(queue)) view.partitions[books.partitions.Name(id)] = PartitionOf(queue, id);
  for (const QueueId child : queue.children) view.children.push_back(books.queues[child].name);
  view.mode = ModeOf(books, queue);
  view.absolute = queue.settings.absolute;
  view.dynamic = queue.dynamic;
  view.makes_queues = !queue.leaf && MayMakeQueues(books, queue);
  if (queue.settings.any_label) {
    view.labels = {"*"};
  } else {
    for (const PartitionId id : queue.settings.accessible) view.labels.push_back(books.partitions.Name(id));
  }
  view.default_label = queue.settings.default_label;
  view.priority = queue.settings.priority;
  view.max_parallel_apps = queue.settings.max_parallel_apps;
  view.maximum_allocation = queue.settings.maximum_allocation;
  view.preemption_disabled = queue.settings.preemption_disabled;
  view.intra_queue_preemption_disabled = queue.settings.intra_queue_disabled();
  if (queue.leaf) AddLeaf(books, queue, view);
  return view;
}

}  // namespace

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

namespace {

QueueView QueueOf(const Books& books, const Queue& queue) {
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
  one.capacity = CapacityOf(books, queue);
  return one;
}

/// The queue, then those below it, siblings by name.
void AddQueues(const Books& books, QueueId id, View& view) {
  const Queue& queue = books.queues[id];
  view.queues.push_back(QueueOf(books, queue));
  std::vector<QueueId> children = queue.children;
  std::sort(children.begin(), children.end(),
            [&](QueueId a, QueueId b) { return books.queues[a].name < books.queues[b].name; });
  for (const QueueId child : children) AddQueues(books, child, view);
}

}  // namespace

View QueuesOf(const Books& books) {
  View view;
  view.cluster = books.cluster();
  AddQueues(books, books.queues.root(), view);
  view.queues.front().capacity->health = ShownOf(books.health);
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
