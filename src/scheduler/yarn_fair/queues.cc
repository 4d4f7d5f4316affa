#include "scheduler/yarn_fair/queues.h"

#include <algorithm>
#include <utility>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/reload.h"

// QueueManager: making, finding and removing queues.

namespace fairlead::scheduler::yarn_fair {
namespace {

constexpr std::string_view kSpaces = " \t\n\v\f\r\x1c\x1d\x1e\x1f";  // Character.isWhitespace, the ASCII part

std::string WithRoot(const std::string& name) {
  return name == "root" || name.starts_with("root.") ? name : "root." + name;
}

bool ValidNode(std::string_view node) {
  if (node.empty()) return false;
  return kSpaces.find(node.front()) == kSpaces.npos && kSpaces.find(node.back()) == kSpaces.npos;
}

}  // namespace

static QueueLookup CreateQueue(Books& books, const std::string& name, QueueKind kind);
static QueueId CreateAlong(Books& books, QueueId parent, const std::vector<std::string>& names, QueueKind kind);
static void InitQueue(Books& books, QueueId id);
static bool IsEmpty(const Books& books, const Queue& queue);
static void RemoveQueue(Books& books, QueueId id);
static bool RemoveIfEmpty(Books& books, QueueId id);
static void RankChildren(Books& books, QueueId parent);

QueueId FindQueue(const Books& books, const std::string& name) {
  const auto it = books.tree.ids.find(WithRoot(name));
  return it == books.tree.ids.end() ? QueueId{} : it->second;
}

QueueLookup GetQueue(Books& books, const std::string& name, bool create, QueueKind kind, bool recompute_steady,
                     AppIndex app) {
  QueueLookup found{FindQueue(books, name), {}};
  if (!found.id.valid() && create) {
    found = CreateQueue(books, WithRoot(name), kind);
    if (found.id.valid() && recompute_steady) books.MarkSteady();
  }
  if (app.valid() && found.id.valid() && books.queues[found.id].leaf) books.queues[found.id].assigned.insert(app);
  return found;
}

QueueLookup GetLeaf(Books& books, const std::string& name, bool create, AppIndex app) {
  QueueLookup found = GetQueue(books, name, create, QueueKind::kLeaf, true, app);
  if (found.id.valid() && !books.queues[found.id].leaf) found.id = {};
  return found;
}

/// QueueManager.buildNewQueueList: the names to make, outermost first, under the nearest queue that exists.
QueueLookup CreateQueue(Books& books, const std::string& name, QueueKind kind) {
  std::vector<std::string> names = {name};
  QueueId parent;
  size_t end = name.size();
  while (true) {
    const size_t dot = end == 0 ? std::string::npos : name.rfind('.', end - 1);
    const size_t begin = dot == std::string::npos ? 0 : dot + 1;
    if (!ValidNode(std::string_view(name).substr(begin, end - begin))) {
      return {{}, "Illegal node name at offset " + std::to_string(begin) + " for queue name " + name};
    }
    if (dot == std::string::npos) break;
    const auto it = books.tree.ids.find(name.substr(0, dot));
    if (it != books.tree.ids.end()) {
      if (!books.queues[it->second].leaf) parent = it->second;
      break;
    }
    names.insert(names.begin(), name.substr(0, dot));
    end = dot;
  }
  return {!parent.valid() ? QueueId{} : CreateAlong(books, parent, names, kind), {}};
}

/// QueueManager.createNewQueues: a forbidden policy ends it; what was made before stays.
QueueId CreateAlong(Books& books, QueueId parent, const std::vector<std::string>& names, QueueKind kind) {
  QueueId made;
  for (size_t i = 0; i < names.size(); ++i) {
    const Policy policy = PolicyOf(books, names[i]);
    if (!ChildPolicyAllowed(books.queues[parent].policy, policy)) return {};
    const bool leaf = i + 1 == names.size() && kind == QueueKind::kLeaf;
    if (!leaf && policy == Policy::kFifo) return {};
    made = AddQueue(books, names[i], parent, leaf);
    parent = made;
  }
  return made;
}

QueueId AddQueue(Books& books, const std::string& name, QueueId parent, bool leaf) {
  FlushSteady(books);
  const QueueId id = books.queues.Add();
  Queue& queue = books.queues[id];
  books.keys.queues.emplace_back();
  queue.name = name;
  queue.parent = parent;
  queue.leaf = leaf;
  queue.last_at_min_share = books.now_ms;
  queue.policy = PolicyOf(books, name);
  InitQueue(books, id);
  if (leaf) books.tree.leaves.push_back(id);
  books.tree.ids[name] = id;
  if (!parent.valid()) return id;
  books.queues[parent].children.push_back(id);
  RankChildren(books, parent);
  const std::optional<Limit>& max_child = books.queues[parent].max_child_limit;
  if (!books.settings.configured.contains(name) && max_child) {
    books.queues[id].max_limit = *max_child;
    ResolveShares(books, id);
  }
  return id;
}

/// AllocationConfiguration.initFSQueue and FSQueue.updatePreemptionVariables.
void InitQueue(Books& books, QueueId id) {
  Queue& queue = books.queues[id];
  static const model::QueueConfig kNothing;
  const auto it = books.settings.queues.find(queue.name);
  const model::QueueConfig& config = it == books.settings.queues.end() ? kNothing : it->second;
  const Queue* parent = !queue.parent.valid() ? nullptr : &books.queues[queue.parent];
  const auto weight = static_cast<float>(config.weight.value_or(1.0));
  queue.weight = weight == weight ? weight : 0.0F;
  const bool ignore_percent = books.config.quirks.percent_minimum_ignored;
  const auto usable = [&](const std::optional<model::ConfiguredResources>& r) {
    return r && !(ignore_percent && !r->percent.empty());
  };
  queue.min_limit = usable(config.min_resources) ? ReadLimit(books, *config.min_resources) : Limit{};
  queue.max_limit = config.max_resources ? ReadLimit(books, *config.max_resources) : books.settings.queue_max_default;
  queue.max_child_limit.reset();
  if (config.max_child_resources) queue.max_child_limit = ReadLimit(books, *config.max_child_resources);
  queue.max_container.reset();
  if (usable(config.max_container_allocation)) {
    const Resources cap = ReadLimit(books, *config.max_container_allocation).Of(books.nodes.total());
    if (cap != Unbounded()) queue.max_container = cap;
  }
  queue.max_running = config.max_running_apps.value_or(books.settings.queue_max_apps_default);
  queue.max_am_share =
      config.max_am_share ? static_cast<float>(*config.max_am_share) : books.settings.queue_max_am_share_default;
  const auto timeout = [&](const std::optional<base::Duration>& own, int64_t root, int64_t above) {
    if (own && own->millis() != -1) return own->millis();
    return parent == nullptr ? root : above;
  };
  queue.min_share_timeout = timeout(config.min_share_preemption_timeout, books.settings.root_min_share_timeout,
                                    parent == nullptr ? kNever : parent->min_share_timeout);
  queue.fair_share_timeout = timeout(config.fair_share_preemption_timeout, books.settings.root_fair_share_timeout,
                                     parent == nullptr ? kNever : parent->fair_share_timeout);
  if (config.fair_share_preemption_threshold) {
    queue.fair_share_threshold = static_cast<float>(*config.fair_share_preemption_threshold);
  } else {
    queue.fair_share_threshold =
        parent == nullptr ? books.settings.root_fair_share_threshold : parent->fair_share_threshold;
  }
  queue.preemptable = (parent == nullptr || parent->preemptable) && config.allow_preemption_from.value_or(true);
  ResolveShares(books, id);
}

void InitQueueTree(Books& books, QueueId id) {
  InitQueue(books, id);
  for (const QueueId child : books.queues[id].children) InitQueueTree(books, child);
}

Resources Limit::Of(const Resources& cluster) const {
  if (!percent) return amount;
  Resources r;
  for (size_t i = 0; i < Resources::kMaxTypes; ++i) {
    const double part = static_cast<double>(cluster[i]) * share[i];
    r[i] = i == 1 ? java::ToInt(part) : java::ToLong(part);
  }
  return r;
}

void ResolveShares(Books& books, QueueId id) {
  Queue& queue = books.queues[id];
  queue.min_share = queue.min_limit.Of(books.nodes.total());
  queue.max_share = ComponentwiseMax(queue.max_limit.Of(books.nodes.total()), queue.min_share);
  queue.unlimited = queue.max_share == Unbounded();
  queue.demand_dirty = true;
  if (queue.parent.valid()) books.queues[queue.parent].shares_dirty = true;
}

void ResolveAllShares(Books& books) {
  for (const QueueId id : books.queues) {
    if (books.queues[id].alive && (books.queues[id].max_limit.percent || books.queues[id].min_limit.percent))
      ResolveShares(books, id);
  }
}

Policy PolicyOf(const Books& books, const std::string& queue) {
  const auto it = books.settings.queues.find(queue);
  if (it == books.settings.queues.end() || !it->second.policy) return books.settings.default_policy;
  return PolicyByName(*it->second.policy);
}

Policy PolicyByName(std::string_view name) {
  if (name == "drf") return Policy::kDrf;
  return name == "fifo" ? Policy::kFifo : Policy::kFair;
}

bool ChildPolicyAllowed(Policy parent, Policy child) {
  if (parent == Policy::kFair) return child != Policy::kDrf;
  return parent == Policy::kDrf;
}

/// Names decide the last tie among siblings; also marks their order for building again.
void RankChildren(Books& books, QueueId parent) {
  if (books.tree.unranked) return void(books.tree.unranked->insert(parent));
  std::vector<QueueId> sorted = books.queues[parent].children;
  std::sort(sorted.begin(), sorted.end(),
            [&](QueueId a, QueueId b) { return java::CompareStrings(books.queues[a].name, books.queues[b].name) < 0; });
  for (uint32_t rank = 0; rank < sorted.size(); ++rank) books.queues[sorted[rank]].name_rank = rank;
  books.queues[parent].order.built = false;
  books.queues[parent].shares_dirty = true;
}

void RankOnce(Books& books, const std::function<void()>& change) {
  books.tree.unranked.emplace();
  change();
  const std::optional<std::set<QueueId>> parents = std::exchange(books.tree.unranked, std::nullopt);
  for (const QueueId parent : *parents) RankChildren(books, parent);
}

Resources MaxContainer(const Books& books, QueueId id) {
  for (; id.valid(); id = books.queues[id].parent) {
    if (books.queues[id].max_container) return *books.queues[id].max_container;
  }
  return Unbounded();
}

bool IsEmpty(const Books& books, const Queue& queue) {
  if (queue.leaf) return queue.runnable.empty() && queue.waiting.empty() && queue.assigned.empty();
  return std::all_of(queue.children.begin(), queue.children.end(),
                     [&](QueueId id) { return IsEmpty(books, books.queues[id]); });
}

void RemoveQueue(Books& books, QueueId id) {
  FlushSteady(books);
  const std::vector<QueueId> children = books.queues[id].children;
  for (const QueueId child : children) RemoveQueue(books, child);
  Queue& queue = books.queues[id];
  if (queue.leaf) std::erase(books.tree.leaves, id);
  books.tree.ids.erase(queue.name);
  queue.alive = false;
  std::erase(books.queues[queue.parent].children, id);
  books.queues[queue.parent].demand_dirty = true;
  RankChildren(books, queue.parent);
}

bool RemoveIfEmpty(Books& books, QueueId id) {
  if (!IsEmpty(books, books.queues[id])) return false;
  RemoveQueue(books, id);
  return true;
}

std::optional<bool> RemoveIncompatible(Books& books, const std::string& name, QueueKind kind) {
  std::string at = WithRoot(name);
  if (at == "root" || at.starts_with("root.default.")) return std::nullopt;
  const QueueId id = FindQueue(books, at);
  if (id.valid()) {
    if (books.queues[id].leaf == (kind == QueueKind::kLeaf)) return std::nullopt;
    return RemoveIfEmpty(books, id);
  }
  for (size_t dot = at.rfind('.'); dot != std::string::npos; dot = at.rfind('.')) {
    at.resize(dot);
    const auto it = books.tree.ids.find(at);
    if (it != books.tree.ids.end() && books.queues[it->second].leaf) return RemoveIfEmpty(books, it->second);
  }
  return std::nullopt;
}

void RemoveEmptyDynamicQueues(Books& books) {
  std::vector<QueueId> parents;
  for (const QueueId id : books.queues) {
    Queue& queue = books.queues[id];
    if (id == kRoot || !queue.alive || !queue.dynamic || !queue.children.empty()) continue;
    const QueueId parent = queue.parent;
    if (RemoveIfEmpty(books, id) && books.queues[parent].dynamic) parents.push_back(parent);
  }
  while (!parents.empty()) {
    const QueueId id = parents.back();
    parents.pop_back();
    if (!books.queues[id].alive || !IsEmpty(books, books.queues[id])) continue;
    const QueueId parent = books.queues[id].parent;
    RemoveQueue(books, id);
    if (books.queues[parent].dynamic) parents.push_back(parent);
  }
}

void RunPendingConversions(Books& books) {
  std::vector<PendingConversion> left;
  const std::vector<PendingConversion> pending = std::move(books.tree.conversions);
  for (const PendingConversion& task : pending) {
    const std::optional<bool> removed = RemoveIncompatible(books, task.queue, task.kind);
    if (removed == true) {
      const QueueId id = GetQueue(books, task.queue, true, task.kind, false, {}).id;
      if (id.valid() && books.settings.configured.contains(task.queue)) books.queues[id].dynamic = false;
    }
    if (removed == false) left.push_back(task);
  }
  books.tree.conversions = std::move(left);
}

void FlushSteady(const Books& books) {
  if (!books.tree.steady_dirty) return;
  books.tree.steady_dirty = false;
  books.queues[kRoot].steady_share = books.nodes.total();
  ComputeSteady(books, kRoot);
}

}  // namespace fairlead::scheduler::yarn_fair
