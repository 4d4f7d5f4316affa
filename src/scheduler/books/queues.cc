#include "scheduler/books/queues.h"

#include <algorithm>
#include <cmath>

#include "scheduler/books/queue_names.h"

namespace fairlead::scheduler::native {
namespace {

using model::Resources;
using Wide = unsigned __int128;

int64_t Millionths(double value) { return std::llround(value * 1e6); }

}  // namespace

Queues::Queues(size_t types, int32_t cluster_master_share, const model::QueueTree& tree)
    : types_(types), cluster_master_share_(cluster_master_share) {
  Add("root", QueueId{}, false);
  ApplyTree(CheckQueueTree(tree) ? tree : model::QueueTree{});
  LeafFor("root.default");
}

QueueId Queues::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? QueueId{} : it->second;
}

QueueId Queues::Add(const std::string& name, QueueId parent, bool leaf) {
  const QueueId id = queues_.Add();
  ++version_;
  Queue& queue = queues_[id];
  queue.name = name;
  queue.parent = parent;
  queue.leaf = leaf;
  for (int64_t& amount : queue.high.amount) amount = kUnlimited;
  by_name_.emplace(name, id);
  changes_.push_back({id, parent, true});
  if (parent.valid()) {
    queues_[parent].leaf = false;
    queues_[parent].children.push_back(id);
    Apply(id, nullptr);
  }
  return id;
}

QueueId Queues::LeafFor(const std::string& name) {
  if (const QueueId known = Find(name); known.valid()) return queues_[known].leaf ? known : QueueId{};
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {};
  const std::string above = name.substr(0, dot);
  QueueId parent = Find(above);
  if (!parent.valid()) {
    parent = LeafFor(above);
    if (!parent.valid()) return {};
  } else if (queues_[parent].leaf && (queues_[parent].applications > 0 || queues_[parent].configured)) {
    return {};  // a leaf that is declared or in use stays one
  }
  return Add(name, parent, true);
}

void Queues::DropIfUnused(QueueId id) {
  const Queue& queue = queues_[id];
  if (queue.configured || id == kRoot || queue.name == "root.default") return;
  if (queue.applications > 0 || !queue.children.empty() || !queue.used.IsZero()) return;
  ++version_;
  const QueueId parent = queue.parent;
  changes_.push_back({id, parent, false});
  std::erase(queues_[parent].children, id);
  std::erase(reopened_, id);
  by_name_.erase(queue.name);
  queues_.Remove(id);
  DropIfUnused(parent);
}

Resources Queues::Resolve(const model::ConfiguredResources& configured) const {
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

void Queues::Apply(QueueId id, const model::QueueConfig* config) {
  Queue& queue = queues_[id];
  queue.configured = config != nullptr;
  queue.weight = kWeightOne;
  queue.min_setting.reset();
  queue.max_setting = tree_.queue_max_resources_default;
  queue.container_setting.reset();
  queue.max_running = tree_.queue_max_apps_default.value_or(INT32_MAX);
  queue.master_share = Millionths(std::min(tree_.queue_max_am_share_default.value_or(0.5), 1.0));
  queue.policy = PolicyByName(tree_.default_policy.value_or("drf")).value_or(model::OrderPolicy::kDrf);
  queue.preemptable = true;
  queue.priority = 0;
  queue.start_time = 0;
  if (config) {
    queue.priority = config->priority.value_or(0);
    queue.start_time = config->start_time.value_or(0);
    if (config->weight) queue.weight = WeightUnits(*config->weight);
    queue.min_setting = config->min_resources;
    if (config->max_resources) queue.max_setting = config->max_resources;
    if (config->max_running_apps) queue.max_running = *config->max_running_apps;
    if (config->max_am_share) queue.master_share = Millionths(std::min(*config->max_am_share, 1.0));
    if (config->policy) queue.policy = PolicyByName(*config->policy).value_or(queue.policy);
    if (config->allow_preemption_from) queue.preemptable = *config->allow_preemption_from;
    queue.child_max_setting = config->max_child_resources;
    queue.container_setting = config->max_container_allocation;
  } else if (queue.parent.valid() && queues_[queue.parent].child_max_setting) {
    queue.max_setting = queues_[queue.parent].child_max_setting;
  }
  if (id == kRoot && !(config && config->max_running_apps)) queue.max_running = INT32_MAX;
  ResolveQueue(queue);
}

void Queues::ApplyTree(const model::QueueTree& tree) {
  tree_ = tree;
  std::vector<const model::QueueConfig*> ordered;
  for (const model::QueueConfig& queue : tree_.queues) ordered.push_back(&queue);
  // Names sort parents before their children.
  std::sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  std::map<QueueId, const model::QueueConfig*> configs;
  for (const model::QueueConfig* config : ordered) {
    const QueueId id = Declare(config->name);
    if (config->parent_type && queues_[id].applications == 0) queues_[id].leaf = false;
    configs.emplace(id, config);
  }
  for (const QueueId id : queues_) {
    const auto it = configs.find(id);
    Apply(id, it == configs.end() ? nullptr : it->second);
  }
  for (const QueueId id : queues_) {
    if (queues_[id].children.empty()) DropIfUnused(id);
  }
  for (const QueueId id : queues_) queues_[id].active_weight = 0;
  for (const QueueId id : queues_) {
    const Queue& queue = queues_[id];
    if (queue.parent.valid() && queue.running > 0) queues_[queue.parent].active_weight += queue.weight;
  }
  ++version_;
}

QueueId Queues::Declare(const std::string& name) {
  if (const QueueId known = Find(name); known.valid()) return known;
  return Add(name, Declare(name.substr(0, name.rfind('.'))), true);
}

int32_t Queues::UserLimit(const UserName& user) const {
  const std::map<std::string, int32_t>& limits = user.group ? tree_.group_max_apps : tree_.user_max_apps;
  if (const auto it = limits.find(user.name); it != limits.end()) return it->second;
  return user.group ? INT32_MAX : tree_.user_max_apps_default.value_or(INT32_MAX);
}

std::optional<Resources> Queues::UserMaximum(const UserName& user) const {
  const auto& maxima = user.group ? tree_.group_max_resources : tree_.user_max_resources;
  const auto named = maxima.find(user.name);
  if (named == maxima.end() && (user.group || !tree_.user_max_resources_default)) return std::nullopt;
  return Resolve(named != maxima.end() ? named->second : *tree_.user_max_resources_default);
}

std::optional<Resources> Queues::ContainerMaximum(QueueId leaf) const {
  for (QueueId id = leaf; id.valid(); id = queues_[id].parent) {
    if (queues_[id].container_setting) return Resolve(*queues_[id].container_setting);
  }
  return std::nullopt;
}

base::Status Queues::CheckReload(const model::QueueTree& tree) const {
  if (base::Status status = CheckQueueTree(tree); !status) return status;
  for (const model::QueueConfig& queue : tree.queues) {
    // Every queue above it is a parent, and it is one itself if it says so.
    const size_t last_dot = queue.name.rfind('.');
    std::string above =
        queue.parent_type || last_dot == std::string::npos ? queue.name : queue.name.substr(0, last_dot);
    for (;;) {
      const QueueId known = Find(above);
      if (known.valid() && queues_[known].leaf && queues_[known].applications > 0) {
        return base::Error{"queue " + queue.name + ": " + above + " has applications and cannot become a parent queue"};
      }
      const size_t dot = above.rfind('.');
      if (dot == std::string::npos) break;
      above.resize(dot);
    }
  }
  return {};
}

void Queues::ResolveQueue(Queue& queue) {
  for (int64_t& amount : queue.high.amount) amount = kUnlimited;
  queue.low = queue.min_setting ? Resolve(*queue.min_setting) : Resources{};
  if (queue.max_setting) {
    const Resources high = Resolve(*queue.max_setting);
    for (size_t t = 0; t < types_; ++t) queue.high[t] = high[t];
  }
  for (size_t t = 0; t < types_; ++t) queue.low[t] = std::min(queue.low[t], queue.high[t]);
  queue.has_low = !queue.low.IsZero();
}

void Queues::ResolveLimits() {
  ++version_;
  for (const QueueId id : queues_) {
    if (queues_[id].min_setting || queues_[id].max_setting) ResolveQueue(queues_[id]);
  }
}

void Queues::AddUsage(QueueId leaf, const Resources& size) {
  for (QueueId q = leaf; q.valid(); q = queues_[q].parent) queues_[q].used += size;
}

void Queues::AddDemand(QueueId leaf, const Resources& size) {
  for (QueueId q = leaf; q.valid(); q = queues_[q].parent) queues_[q].demand += size;
}

void Queues::AddMasters(QueueId leaf, const Resources& size, int32_t count) {
  for (QueueId q = leaf; q.valid(); q = queues_[q].parent) {
    queues_[q].masters += count;
    queues_[q].master_used += size;
  }
}

bool Queues::MayRun(QueueId leaf) const {
  for (QueueId q = leaf; q.valid(); q = queues_[q].parent) {
    if (queues_[q].running >= queues_[q].max_running) return false;
  }
  return true;
}

void Queues::Start(QueueId leaf) {
  for (QueueId q = leaf; q.valid(); q = queues_[q].parent) {
    if (queues_[q].running++ == 0 && q != kRoot) queues_[queues_[q].parent].active_weight += queues_[q].weight;
  }
}

bool Queues::Stop(QueueId leaf) {
  QueueId reopened;
  bool emptied = false;
  for (QueueId q = leaf; q.valid(); q = queues_[q].parent) {
    if (queues_[q].running-- == queues_[q].max_running) reopened = q;
    if (queues_[q].running == 0 && q != kRoot) {
      queues_[queues_[q].parent].active_weight -= queues_[q].weight;
      emptied = true;
    }
  }
  if (reopened.valid()) reopened_.push_back(reopened);
  return emptied;
}

void Queues::GatherWaiting(QueueId id, std::vector<const std::set<AppIndex>*>& lists) const {
  if (queues_[id].leaf && !queues_[id].waiting.empty()) lists.push_back(&queues_[id].waiting);
  for (const QueueId child : queues_[id].children) GatherWaiting(child, lists);
}

std::vector<const std::set<AppIndex>*> Queues::TakeReopened() {
  std::vector<const std::set<AppIndex>*> lists;
  for (const QueueId id : reopened_) GatherWaiting(id, lists);
  reopened_.clear();
  return lists;
}

Resources Queues::MasterLimits(QueueId id) const {
  Resources limits;
  for (size_t t = 0; t < types_; ++t) limits[t] = MasterLimit(id, t);
  return limits;
}

int64_t Queues::MasterLimit(QueueId leaf, size_t type) const {
  if (leaf == kRoot) return static_cast<int64_t>(Wide(total_[type]) * Wide(cluster_master_share_) / 1000);
  std::vector<QueueId> path;
  for (QueueId q = leaf; q != kRoot; q = queues_[q].parent) path.push_back(q);
  int64_t base = total_[type];
  for (auto it = path.rbegin(); it != path.rend(); ++it) {
    const Queue& queue = queues_[*it];
    const int64_t all = queues_[queue.parent].active_weight + (queue.running == 0 ? queue.weight : 0);
    base = std::min(static_cast<int64_t>(Wide(base) * Wide(queue.weight) / Wide(all)), queue.high[type]);
  }
  return static_cast<int64_t>((Wide(base) * Wide(queues_[leaf].master_share) + 999'999) / 1'000'000);
}

Limit Queues::FindLimit(QueueId leaf, const Resources& size, bool master) const {
  for (QueueId q = leaf; q.valid(); q = queues_[q].parent) {
    for (size_t t = 0; t < types_; ++t) {
      if (queues_[q].used[t] + size[t] > queues_[q].high[t]) return {Limit::Kind::kQueueMaximum, q};
    }
  }
  if (master && LeafMastersExceed(leaf, size)) return {Limit::Kind::kLeafMasters, leaf};
  if (master && ClusterMastersExceed(size)) return {Limit::Kind::kClusterMasters, kRoot};
  return {};
}

bool Queues::LeafMastersExceed(QueueId id, const Resources& size) const {
  const Queue& leaf = queues_[id];
  if (leaf.masters == 0 || leaf.master_share < 0) return false;
  for (size_t t = 0; t < types_; ++t) {
    if (size[t] > 0 && leaf.master_used[t] + size[t] > MasterLimit(id, t)) return true;
  }
  return false;
}

bool Queues::ClusterMastersExceed(const Resources& size) const {
  const Queue& root = queues_[kRoot];
  if (root.masters == 0) return false;
  for (size_t t = 0; t < types_; ++t) {
    if (size[t] > 0 && root.master_used[t] + size[t] > MasterLimit(kRoot, t)) return true;
  }
  return false;
}

Resources Queues::Headroom(QueueId leaf, Resources room) const {
  for (QueueId q = leaf; q.valid(); q = queues_[q].parent) {
    for (size_t t = 0; t < types_; ++t) room[t] = std::min(room[t], queues_[q].high[t] - queues_[q].used[t]);
  }
  for (int64_t& amount : room.amount) amount = std::max<int64_t>(amount, 0);
  return room;
}

Share Queues::ShareOf(model::OrderPolicy policy, const Resources& used) const {
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

Share Queues::ShareOfMinimum(const Queue& queue) const {
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

std::string Queues::Check() const {
  if (by_name_.size() != queues_.count()) return "queues by name";
  for (const QueueId id : queues_) {
    const Queue& queue = queues_[id];
    int64_t active = 0;
    for (const QueueId child : queue.children) {
      if (queues_[child].parent != id) return queue.name + ": a child of another queue";
      active += queues_[child].running > 0 ? queues_[child].weight : 0;
    }
    if (active != queue.active_weight) return queue.name + ": weight of active children";
    if (queue.leaf && !queue.children.empty()) return queue.name + ": a leaf with children";
  }
  return "";
}

void Queues::Mix(base::StateHasher& hash) const {
  const auto mix = [&](const Resources& amounts) {
    for (const int64_t amount : amounts.amount) hash.Mix(static_cast<uint64_t>(amount));
  };
  mix(total_);
  for (const QueueId id : queues_) {
    const Queue& queue = queues_[id];
    hash.Mix(id.value);
    hash.Mix(queue.name);
    hash.Mix(uint64_t{queue.leaf} * 4 + uint64_t{queue.configured} * 2 + uint64_t{queue.preemptable});
    hash.Mix(static_cast<uint64_t>(queue.policy));
    hash.Mix(static_cast<uint64_t>(queue.weight));
    hash.Mix(static_cast<uint64_t>(queue.priority));
    hash.Mix(static_cast<uint64_t>(queue.start_time));
    mix(queue.used);
    mix(queue.demand);
    mix(queue.high);
    mix(queue.low);
    for (const QueueId child : queue.children) hash.Mix(child.value);
    hash.Mix(static_cast<uint64_t>(queue.max_running));
    hash.Mix(static_cast<uint64_t>(queue.master_share));
    mix(queue.master_used);
    hash.Mix(static_cast<uint64_t>(queue.masters));
    hash.Mix(static_cast<uint64_t>(queue.running));
    for (const AppIndex app : queue.waiting) hash.Mix(app.value);
    hash.Mix(static_cast<uint64_t>(queue.applications));
    hash.Mix(static_cast<uint64_t>(queue.active_weight));
  }
  for (const QueueId queue : reopened_) hash.Mix(queue.value);
  for (const uint32_t spare : queues_.numbers().spare()) hash.Mix(spare);
}

}  // namespace fairlead::scheduler::native
