#include <algorithm>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/core.h"

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

QueueId Core::FindQueue(const std::string& name) const {
  const auto it = queue_ids_.find(WithRoot(name));
  return it == queue_ids_.end() ? QueueId{} : it->second;
}

/// QueueManager.getQueue; `app`: {}, or the application that is promised the leaf.
Core::QueueLookup Core::GetQueue(const std::string& name, bool create, QueueKind kind, bool recompute_steady,
                                 AppIndex app) {
  QueueLookup found{FindQueue(name), {}};
  if (!found.id.valid() && create) {
    found = CreateQueue(WithRoot(name), kind);
    if (found.id.valid() && recompute_steady) MarkSteady();
  }
  if (app.valid() && found.id.valid() && queues_[found.id].leaf) queues_[found.id].assigned.insert(app);
  return found;
}

Core::QueueLookup Core::GetLeaf(const std::string& name, bool create, AppIndex app) {
  QueueLookup found = GetQueue(name, create, QueueKind::kLeaf, true, app);
  if (found.id.valid() && !queues_[found.id].leaf) found.id = {};
  return found;
}

/// QueueManager.buildNewQueueList: the names to make, outermost first, under the nearest queue that exists.
Core::QueueLookup Core::CreateQueue(const std::string& name, QueueKind kind) {
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
    const auto it = queue_ids_.find(name.substr(0, dot));
    if (it != queue_ids_.end()) {
      if (!queues_[it->second].leaf) parent = it->second;
      break;
    }
    names.insert(names.begin(), name.substr(0, dot));
    end = dot;
  }
  return {!parent.valid() ? QueueId{} : CreateAlong(parent, names, kind), {}};
}

/// QueueManager.createNewQueues: a forbidden policy ends it; what was made before stays.
QueueId Core::CreateAlong(QueueId parent, const std::vector<std::string>& names, QueueKind kind) {
  QueueId made;
  for (size_t i = 0; i < names.size(); ++i) {
    const Policy policy = PolicyOf(names[i]);
    if (!ChildPolicyAllowed(queues_[parent].policy, policy)) return {};
    const bool leaf = i + 1 == names.size() && kind == QueueKind::kLeaf;
    if (!leaf && policy == Policy::kFifo) return {};
    made = AddQueue(names[i], parent, leaf);
    parent = made;
  }
  return made;
}

QueueId Core::AddQueue(const std::string& name, QueueId parent, bool leaf) {
  FlushSteady();
  const QueueId id = queues_.Add();
  Queue& queue = queues_[id];
  queue_keys_.emplace_back();
  queue.name = name;
  queue.parent = parent;
  queue.leaf = leaf;
  queue.last_at_min_share = now_ms_;
  queue.policy = PolicyOf(name);
  InitQueue(id);
  if (leaf) leaf_order_.push_back(id);
  queue_ids_[name] = id;
  if (!parent.valid()) return id;
  queues_[parent].children.push_back(id);
  RankChildren(parent);
  const std::optional<Limit>& max_child = queues_[parent].max_child_limit;
  if (!settings_.configured.contains(name) && max_child) {
    queues_[id].max_limit = *max_child;
    ResolveShares(id);
  }
  return id;
}

/// AllocationConfiguration.initFSQueue and FSQueue.updatePreemptionVariables.
void Core::InitQueue(QueueId id) {
  Queue& queue = queues_[id];
  static const model::QueueConfig kNothing;
  const auto it = settings_.queues.find(queue.name);
  const model::QueueConfig& config = it == settings_.queues.end() ? kNothing : it->second;
  const Queue* parent = !queue.parent.valid() ? nullptr : &queues_[queue.parent];
  const auto weight = static_cast<float>(config.weight.value_or(1.0));
  queue.weight = weight == weight ? weight : 0.0F;
  const bool ignore_percent = config_.quirks.percent_minimum_ignored;
  const auto usable = [&](const std::optional<model::ConfiguredResources>& r) {
    return r && !(ignore_percent && !r->percent.empty());
  };
  queue.min_limit = usable(config.min_resources) ? ReadLimit(*config.min_resources) : Limit{};
  queue.max_limit = config.max_resources ? ReadLimit(*config.max_resources) : settings_.queue_max_default;
  queue.max_child_limit.reset();
  if (config.max_child_resources) queue.max_child_limit = ReadLimit(*config.max_child_resources);
  queue.max_container.reset();
  if (usable(config.max_container_allocation)) {
    const Resources cap = ReadLimit(*config.max_container_allocation).Of(nodes_.total());
    if (cap != Unbounded()) queue.max_container = cap;
  }
  queue.max_running = config.max_running_apps.value_or(settings_.queue_max_apps_default);
  queue.max_am_share =
      config.max_am_share ? static_cast<float>(*config.max_am_share) : settings_.queue_max_am_share_default;
  const auto timeout = [&](const std::optional<base::Duration>& own, int64_t root, int64_t above) {
    if (own && own->millis() != -1) return own->millis();
    return parent == nullptr ? root : above;
  };
  queue.min_share_timeout = timeout(config.min_share_preemption_timeout, settings_.root_min_share_timeout,
                                    parent == nullptr ? kNever : parent->min_share_timeout);
  queue.fair_share_timeout = timeout(config.fair_share_preemption_timeout, settings_.root_fair_share_timeout,
                                     parent == nullptr ? kNever : parent->fair_share_timeout);
  if (config.fair_share_preemption_threshold) {
    queue.fair_share_threshold = static_cast<float>(*config.fair_share_preemption_threshold);
  } else {
    queue.fair_share_threshold = parent == nullptr ? settings_.root_fair_share_threshold : parent->fair_share_threshold;
  }
  queue.preemptable = (parent == nullptr || parent->preemptable) && config.allow_preemption_from.value_or(true);
  ResolveShares(id);
}

void Core::InitQueueTree(QueueId id) {
  InitQueue(id);
  for (const QueueId child : queues_[id].children) InitQueueTree(child);
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

/// FSQueue.getMaxShare: never below the min share.
void Core::ResolveShares(QueueId id) {
  Queue& queue = queues_[id];
  queue.min_share = queue.min_limit.Of(nodes_.total());
  queue.max_share = ComponentwiseMax(queue.max_limit.Of(nodes_.total()), queue.min_share);
  queue.unlimited = queue.max_share == Unbounded();
  queue.demand_dirty = true;
  if (queue.parent.valid()) queues_[queue.parent].shares_dirty = true;
}

void Core::ResolveAllShares() {
  for (const QueueId id : queues_) {
    if (queues_[id].alive && (queues_[id].max_limit.percent || queues_[id].min_limit.percent)) ResolveShares(id);
  }
}

Policy Core::PolicyOf(const std::string& queue) const {
  const auto it = settings_.queues.find(queue);
  if (it == settings_.queues.end() || !it->second.policy) return settings_.default_policy;
  if (*it->second.policy == "drf") return Policy::kDrf;
  return *it->second.policy == "fifo" ? Policy::kFifo : Policy::kFair;
}

bool Core::ChildPolicyAllowed(Policy parent, Policy child) {
  if (parent == Policy::kFair) return child != Policy::kDrf;
  return parent == Policy::kDrf;
}

/// Names decide the last tie among siblings; also marks their order for building anew.
void Core::RankChildren(QueueId parent) {
  std::vector<QueueId> sorted = queues_[parent].children;
  std::sort(sorted.begin(), sorted.end(),
            [&](QueueId a, QueueId b) { return java::CompareStrings(queues_[a].name, queues_[b].name) < 0; });
  for (uint32_t rank = 0; rank < sorted.size(); ++rank) queues_[sorted[rank]].name_rank = rank;
  queues_[parent].order.built = false;
  queues_[parent].shares_dirty = true;
}

Resources Core::MaxContainer(QueueId id) const {
  for (; id.valid(); id = queues_[id].parent) {
    if (queues_[id].max_container) return *queues_[id].max_container;
  }
  return Unbounded();
}

bool Core::IsEmpty(const Queue& queue) const {
  if (queue.leaf) return queue.runnable.empty() && queue.waiting.empty() && queue.assigned.empty();
  return std::all_of(queue.children.begin(), queue.children.end(), [&](QueueId id) { return IsEmpty(queues_[id]); });
}

void Core::RemoveQueue(QueueId id) {
  FlushSteady();
  const std::vector<QueueId> children = queues_[id].children;
  for (const QueueId child : children) RemoveQueue(child);
  Queue& queue = queues_[id];
  if (queue.leaf) std::erase(leaf_order_, id);
  queue_ids_.erase(queue.name);
  queue.alive = false;
  std::erase(queues_[queue.parent].children, id);
  queues_[queue.parent].demand_dirty = true;
  RankChildren(queue.parent);
}

bool Core::RemoveIfEmpty(QueueId id) {
  if (!IsEmpty(queues_[id])) return false;
  RemoveQueue(id);
  return true;
}

/// QueueManager.removeEmptyIncompatibleQueues: nullopt when nothing stood in the way.
std::optional<bool> Core::RemoveIncompatible(const std::string& name, QueueKind kind) {
  std::string at = WithRoot(name);
  if (at == "root" || at.starts_with("root.default.")) return std::nullopt;
  const QueueId id = FindQueue(at);
  if (id.valid()) {
    if (queues_[id].leaf == (kind == QueueKind::kLeaf)) return std::nullopt;
    return RemoveIfEmpty(id);
  }
  for (size_t dot = at.rfind('.'); dot != std::string::npos; dot = at.rfind('.')) {
    at.resize(dot);
    const auto it = queue_ids_.find(at);
    if (it != queue_ids_.end() && queues_[it->second].leaf) return RemoveIfEmpty(it->second);
  }
  return std::nullopt;
}

/// QueueManager.removeEmptyDynamicQueues: leaves first, then dynamic parents that became empty, upwards.
void Core::RemoveEmptyDynamicQueues() {
  std::vector<QueueId> parents;
  for (const QueueId id : queues_) {
    Queue& queue = queues_[id];
    if (id == kRoot || !queue.alive || !queue.dynamic || !queue.children.empty()) continue;
    const QueueId parent = queue.parent;
    if (RemoveIfEmpty(id) && queues_[parent].dynamic) parents.push_back(parent);
  }
  while (!parents.empty()) {
    const QueueId id = parents.back();
    parents.pop_back();
    if (!queues_[id].alive || !IsEmpty(queues_[id])) continue;
    const QueueId parent = queues_[id].parent;
    RemoveQueue(id);
    if (queues_[parent].dynamic) parents.push_back(parent);
  }
}

/// QueueManager.removePendingIncompatibleQueues: configured queues that another kind of queue with applications kept
/// from being made.
void Core::RunPendingConversions() {
  std::vector<PendingConversion> left;
  const std::vector<PendingConversion> pending = std::move(conversions_);
  for (const PendingConversion& task : pending) {
    const std::optional<bool> removed = RemoveIncompatible(task.queue, task.kind);
    if (removed == true) {
      const QueueId id = GetQueue(task.queue, true, task.kind, false, {}).id;
      if (id.valid() && settings_.configured.contains(task.queue)) queues_[id].dynamic = false;
    }
    if (removed == false) left.push_back(task);
  }
  conversions_ = std::move(left);
}

/// FSParentQueue.recomputeSteadyShares, put off until somebody looks: decisions never do.
void Core::FlushSteady() const {
  if (!steady_dirty_) return;
  steady_dirty_ = false;
  queues_[kRoot].steady_share = nodes_.total();
  ComputeSteady(kRoot);
}

}  // namespace fairlead::scheduler::yarn_fair
