#include <algorithm>
#include <cmath>

#include "scheduler/fairlead/core.h"
#include "scheduler/fairlead/keys.h"
#include "scheduler/fairlead/queue_names.h"

// The queue tree: settings, usage, order among siblings, limits.

namespace fairlead::scheduler::native {
namespace {

using Wide = unsigned __int128;

int64_t Millionths(double value) { return std::llround(value * 1e6); }

}  // namespace

void Core::BuildQueues(const model::QueueTree& tree) {
  AddQueue("root", kNone, false);
  ApplyConfig(tree);
  LeafFor("root.default");
}

uint32_t Core::FindQueue(std::string_view name) const {
  const auto it = queue_by_name_.find(name);
  return it == queue_by_name_.end() ? kNone : it->second;
}

uint32_t Core::AddQueue(const std::string& name, uint32_t parent, bool leaf) {
  uint32_t index;
  if (spare_queues_.empty()) {
    index = static_cast<uint32_t>(queues_.size());
    queues_.emplace_back();
  } else {
    index = spare_queues_.back();
    spare_queues_.pop_back();
    queues_[index] = Queue{};
  }
  ++tree_version_;
  Queue& queue = queues_[index];
  queue.name = name;
  queue.parent = parent;
  queue.leaf = leaf;
  for (int64_t& amount : queue.high.amount) amount = kUnlimited;
  queue_by_name_.emplace(name, index);
  if (parent != kNone) {
    queues_[parent].leaf = false;
    queues_[parent].children.push_back(index);
    queue.slot = queues_[parent].order.Add(index);
    ApplyQueueConfig(index, nullptr);
    RefreshQueue(index);
  }
  return index;
}

uint32_t Core::LeafFor(const std::string& name) {
  if (const uint32_t known = FindQueue(name); known != kNone) return queues_[known].leaf ? known : kNone;
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return kNone;
  const std::string above = name.substr(0, dot);
  uint32_t parent = FindQueue(above);
  if (parent == kNone) {
    parent = LeafFor(above);
    if (parent == kNone) return kNone;
  } else if (queues_[parent].leaf && (queues_[parent].applications > 0 || queues_[parent].configured)) {
    return kNone;  // a leaf that is declared or in use stays one
  }
  return AddQueue(name, parent, true);
}

void Core::DropQueueIfUnused(uint32_t index) {
  Queue& queue = queues_[index];
  if (queue.configured || index == kRoot || queue.name == "root.default") return;
  if (queue.applications > 0 || !queue.children.empty() || !queue.used.IsZero()) return;
  ++tree_version_;
  const uint32_t parent = queue.parent;
  queues_[parent].order.Remove(queue.slot);
  std::erase(queues_[parent].children, index);
  queue_by_name_.erase(queue.name);
  queue = Queue{};
  queue.alive = false;
  spare_queues_.push_back(index);
  DropQueueIfUnused(parent);
}

Resources Core::Resolve(const model::ConfiguredResources& configured) const {
  Resources amounts;
  for (size_t t = 0; t < types_; ++t) {
    const std::string name(t < model::ResourceTypes::Count() ? model::ResourceTypes::Name(t) : "");
    int64_t amount = configured.unnamed;
    auto percent = configured.percent.find(name);
    if (percent == configured.percent.end()) percent = configured.percent.find("*");
    if (const auto absolute = configured.absolute.find(name); absolute != configured.absolute.end()) {
      amount = absolute->second;
    } else if (percent != configured.percent.end()) {
      const int64_t part = std::clamp<int64_t>(Millionths(percent->second), 0, 100'000'000);
      amount = static_cast<int64_t>(Wide(total_[t]) * Wide(part) / 100'000'000);
    }
    amounts[t] = std::clamp<int64_t>(amount, 0, kUnlimited);
  }
  return amounts;
}

void Core::ApplyQueueConfig(uint32_t index, const model::QueueConfig* config) {
  const model::QueueTree& tree = config_.queues;
  Queue& queue = queues_[index];
  queue.configured = config != nullptr;
  queue.weight = kWeightOne;
  queue.min_setting.reset();
  queue.max_setting = tree.queue_max_resources_default;
  queue.max_running = tree.queue_max_apps_default.value_or(INT32_MAX);
  queue.master_share = Millionths(std::min(tree.queue_max_am_share_default.value_or(0.5), 1.0));
  queue.policy = PolicyByName(tree.default_policy.value_or("drf")).value_or(model::OrderPolicy::kDrf);
  queue.preemptable = true;
  if (config) {
    if (config->weight) queue.weight = WeightUnits(*config->weight);
    queue.min_setting = config->min_resources;
    if (config->max_resources) queue.max_setting = config->max_resources;
    if (config->max_running_apps) queue.max_running = *config->max_running_apps;
    if (config->max_am_share) queue.master_share = Millionths(std::min(*config->max_am_share, 1.0));
    if (config->policy) queue.policy = PolicyByName(*config->policy).value_or(queue.policy);
    if (config->allow_preemption_from) queue.preemptable = *config->allow_preemption_from;
    queue.child_max_setting = config->max_child_resources;
  } else if (queue.parent != kNone && queues_[queue.parent].child_max_setting) {
    queue.max_setting = queues_[queue.parent].child_max_setting;
  }
  if (index == kRoot && !(config && config->max_running_apps)) queue.max_running = INT32_MAX;
  ResolveQueue(queue);
}

void Core::ApplyConfig(const model::QueueTree& tree) {
  config_.queues = tree;
  std::vector<const model::QueueConfig*> ordered;
  for (const model::QueueConfig& queue : tree.queues) ordered.push_back(&queue);
  // Names sort parents before their children.
  std::sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  std::map<uint32_t, const model::QueueConfig*> configs;
  for (const model::QueueConfig* config : ordered) {
    uint32_t index = FindQueue(config->name);
    if (index == kNone) index = DeclareQueue(config->name);
    if (config->parent_type && queues_[index].applications == 0) queues_[index].leaf = false;
    configs.emplace(index, config);
  }
  for (uint32_t index = 0; index < queues_.size(); ++index) {
    if (!queues_[index].alive) continue;
    const auto it = configs.find(index);
    ApplyQueueConfig(index, it == configs.end() ? nullptr : it->second);
  }
  for (uint32_t index = 0; index < queues_.size(); ++index) {
    if (queues_[index].alive && queues_[index].children.empty()) DropQueueIfUnused(index);
  }
  RecountActiveWeights();
  for (size_t user = 0; user < users_.size(); ++user)
    users_[user].max_running = UserLimit(users_by_name_.Name(static_cast<uint32_t>(user)));
  keys_stale_ = true;
  ++tree_version_;
}

uint32_t Core::DeclareQueue(const std::string& name) {
  if (const uint32_t known = FindQueue(name); known != kNone) return known;
  return AddQueue(name, DeclareQueue(name.substr(0, name.rfind('.'))), true);
}

void Core::ResolveQueue(Queue& queue) {
  for (int64_t& amount : queue.high.amount) amount = kUnlimited;
  queue.low = queue.min_setting ? Resolve(*queue.min_setting) : Resources{};
  if (queue.max_setting) {
    const Resources high = Resolve(*queue.max_setting);
    for (size_t t = 0; t < types_; ++t) queue.high[t] = high[t];
  }
  for (size_t t = 0; t < types_; ++t) queue.low[t] = std::min(queue.low[t], queue.high[t]);
  queue.blocked = 0;
  queue.has_low = !queue.low.IsZero();
}

void Core::ResolveLimits() {
  ++tree_version_;
  for (Queue& queue : queues_) {
    if (queue.alive && (queue.min_setting || queue.max_setting)) ResolveQueue(queue);
  }
}

Core::Share Core::ShareOf(model::OrderPolicy policy, const Resources& used) const {
  if (policy == model::OrderPolicy::kFifo) return {0, 1};
  if (policy == model::OrderPolicy::kFair) return {static_cast<uint64_t>(used[0]), 1};
  size_t dominant = 0;
  for (size_t t = 1; t < types_; ++t) {
    if (total_[t] == 0) continue;
    if (total_[dominant] == 0 || Wide(used[t]) * Wide(total_[dominant]) > Wide(used[dominant]) * Wide(total_[t])) {
      dominant = t;
    }
  }
  return {static_cast<uint64_t>(used[dominant]), static_cast<uint64_t>(std::max<int64_t>(total_[dominant], 1))};
}

Core::Share Core::ShareOfMinimum(const Queue& queue) const {
  Share nearest{0, 1};
  bool needy = false;
  for (size_t t = 0; t < types_; ++t) {
    const auto low = static_cast<uint64_t>(queue.low[t]);
    if (low == 0) continue;
    const auto used = static_cast<uint64_t>(queue.used[t]);
    needy = needy || queue.used[t] < std::min(queue.low[t], queue.demand[t]);
    if (nearest.used == 0 || Wide(used) * nearest.of > Wide(nearest.used) * low) nearest = {used, low};
  }
  return needy ? nearest : Share{};
}

uint64_t Core::OpenClasses(const Queue& queue) const {
  uint64_t classes = queue.order.classes();
  if (queue.leaf && !queue.masters_full) classes |= queue.starting.classes();
  return classes & ~queue.blocked;
}

bool Core::RefreshQueue(uint32_t index) {
  const Queue& queue = queues_[index];
  if (queue.parent == kNone || !in_order_) return false;
  Tournament& order = queues_[queue.parent].order;
  const OrderKey key = QueueKey(queue);
  const uint64_t classes = OpenClasses(queue);
  if (order.classes(queue.slot) == classes && order.key(queue.slot) == key) return false;
  order.Update(queue.slot, key, classes);
  return true;
}

void Core::RefreshPath(uint32_t index) {
  while (RefreshQueue(index)) index = queues_[index].parent;
}

void Core::RebuildKeys() {
  keys_stale_ = false;
  ResolveLimits();
  ReopenMasters();
  ++room_version_;
  for (uint32_t slot = 0; slot < apps_.size(); ++slot) {
    if (apps_[slot].used_slot) RefreshApp(slot);
  }
  RebuildBelow(kRoot);
}

void Core::RebuildBelow(uint32_t index) {
  for (const uint32_t child : queues_[index].children) RebuildBelow(child);
  RefreshQueue(index);
}

void Core::AddUsage(uint32_t leaf, const Resources& size) {
  cluster_used_ += size;
  for (uint32_t q = leaf; q != kNone; q = queues_[q].parent) {
    queues_[q].used += size;
    RefreshQueue(q);
  }
}

void Core::RemoveUsage(uint32_t leaf, const Resources& size) {
  cluster_used_ -= size;
  for (uint32_t q = leaf; q != kNone; q = queues_[q].parent) {
    queues_[q].used -= size;
    queues_[q].blocked = 0;
    RefreshQueue(q);
  }
}

void Core::AddDemand(uint32_t leaf, const Resources& size) {
  bool ordered = false;
  for (uint32_t q = leaf; q != kNone; q = queues_[q].parent) {
    queues_[q].demand += size;
    ordered = ordered || queues_[q].has_low;
    if (ordered) RefreshQueue(q);
  }
}

void Core::RemoveDemand(uint32_t leaf, const Resources& size) { AddDemand(leaf, Resources{} - size); }

int64_t Core::MasterLimit(uint32_t leaf, size_t type) const {
  std::vector<uint32_t> path;
  for (uint32_t q = leaf; q != kRoot; q = queues_[q].parent) path.push_back(q);
  int64_t base = total_[type];
  for (auto it = path.rbegin(); it != path.rend(); ++it) {
    const Queue& queue = queues_[*it];
    const int64_t all = queues_[queue.parent].active_weight + (queue.running == 0 ? queue.weight : 0);
    base = std::min(static_cast<int64_t>(Wide(base) * Wide(queue.weight) / Wide(all)), queue.high[type]);
  }
  return static_cast<int64_t>((Wide(base) * Wide(queues_[leaf].master_share) + 999'999) / 1'000'000);
}

Limit Core::FindLimit(uint32_t leaf_index, const Resources& size, bool master) const {
  for (uint32_t q = leaf_index; q != kNone; q = queues_[q].parent) {
    for (size_t t = 0; t < types_; ++t) {
      if (queues_[q].used[t] + size[t] > queues_[q].high[t]) return {Limit::Kind::kQueueMaximum, q};
    }
  }
  if (master && LeafMastersExceed(leaf_index, size)) return {Limit::Kind::kLeafMasters, leaf_index};
  if (master && ClusterMastersExceed(size)) return {Limit::Kind::kClusterMasters, kRoot};
  return {};
}

/// One more master of that size is above the leaf's share for masters; the first one never is.
bool Core::LeafMastersExceed(uint32_t leaf_index, const Resources& size) const {
  const Queue& leaf = queues_[leaf_index];
  if (leaf.masters == 0 || leaf.master_share < 0) return false;
  for (size_t t = 0; t < types_; ++t) {
    if (size[t] > 0 && leaf.master_used[t] + size[t] > MasterLimit(leaf_index, t)) return true;
  }
  return false;
}

bool Core::ClusterMastersExceed(const Resources& size) const {
  const Queue& root = queues_[kRoot];
  if (root.masters == 0) return false;
  for (size_t t = 0; t < types_; ++t) {
    const auto limit = static_cast<int64_t>(Wide(total_[t]) * Wide(config_.cluster_master_share) / 1000);
    if (size[t] > 0 && root.master_used[t] + size[t] > limit) return true;
  }
  return false;
}

void Core::CloseMasters(uint32_t leaf) {
  queues_[leaf].masters_full = true;
  full_leaves_.push_back(leaf);
  RefreshPath(leaf);
}

void Core::ReopenMasters() {
  for (const uint32_t leaf : full_leaves_) {
    if (!queues_[leaf].masters_full) continue;
    queues_[leaf].masters_full = false;
    RefreshPath(leaf);
  }
  full_leaves_.clear();
}

void Core::RecountActiveWeights() {
  for (Queue& queue : queues_) queue.active_weight = 0;
  for (const Queue& queue : queues_) {
    if (queue.alive && queue.parent != kNone && queue.running > 0) queues_[queue.parent].active_weight += queue.weight;
  }
}

}  // namespace fairlead::scheduler::native
