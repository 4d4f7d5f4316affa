#include "sim/traces/queue_settings.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "model/resources.h"

namespace fairlead::sim {
namespace {

using model::CapacityQueues;
using model::CapacityQueueSettings;
using model::CapacityValue;
using model::QueueConfig;
using model::QueueTree;

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string Percent(double part) { return Number(part * 100) + " %"; }

std::string ParentOf(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

std::string AmountText(std::string_view type, int64_t amount) {
  const std::string number = std::to_string(amount);
  if (type == "memory-mb") return number + " MiB";
  return number + (type == "vcores" ? " cores" : " " + std::string(type));
}

/// Types without a bound (or, of minima, of nothing) are left out.
std::string AmountsText(const model::ConfiguredResources& resources) {
  std::vector<std::string> parts;
  for (const auto& [type, amount] : resources.absolute) {
    if (amount > 0 && amount < INT64_MAX / 4) parts.push_back(AmountText(type, amount));
  }
  for (const auto& [type, percent] : resources.percent) {
    if (resources.unnamed == 0 || percent < 100)
      parts.push_back(Percent(percent / 100) + (type == "*" ? "" : " of " + type));
  }
  return parts.empty() ? "" : base::Joined(parts, ", ") + (resources.percent.empty() ? "" : " of the cluster");
}

std::string UnitText(std::string_view type, const model::CapacityEntry& entry) {
  switch (entry.unit) {
    case model::CapacityUnit::kAbsolute:
      return AmountText(type, static_cast<int64_t>(entry.value));
    case model::CapacityUnit::kWeight:
      return "weight " + Number(entry.value) + " of " + std::string(type);
    default:
      return Percent(entry.value / 100) + " of " + std::string(type);
  }
}

/// All types are alike percentages, or alike weights.
bool IsPlain(const CapacityValue& value) {
  return !value.absolute &&
         (value.vector.empty() || std::all_of(value.vector.begin(), value.vector.end(), [&](const auto& entry) {
            return entry.unit == value.vector[0].unit && entry.value == value.vector[0].value;
          }));
}

std::string VectorText(const CapacityValue& value) {
  std::vector<std::string> parts;
  for (size_t type = 0; type < value.vector.size(); ++type) {
    if (value.vector[type].unit != model::CapacityUnit::kNone)
      parts.push_back(UnitText(model::ResourceTypes::Name(type), value.vector[type]));
  }
  return base::Joined(parts, ", ");
}

std::string ListText(const model::AccessList& list) {
  if (list.everybody) return "everybody";
  std::vector<std::string> parts = list.users;
  for (const std::string& group : list.groups) parts.push_back("group " + group);
  return parts.empty() ? "nobody" : base::Joined(parts, ", ");
}

const CapacityValue* CapacityOf(const CapacityQueues& queues, const std::string& path, bool maximum) {
  const auto queue = queues.queues.find(path);
  if (queue == queues.queues.end()) return nullptr;
  const auto& values = maximum ? queue->second.own.maximum_capacity : queue->second.own.capacity;
  const auto value = values.find("");
  return value == values.end() ? nullptr : &value->second;
}

/// What it weighs among those beside it.
double WeightOf(const QueueTree& tree, const std::string& path, const QueueConfig* own) {
  if (!tree.capacity) return own != nullptr ? own->weight.value_or(1) : 1;
  const CapacityValue* value = CapacityOf(*tree.capacity, path, false);
  if (value == nullptr) return 0;
  if (value->weight >= 0) return value->weight;
  if (value->absolute) return static_cast<double>(value->amount.memory_mib());
  return IsPlain(*value) && !value->vector.empty() ? value->vector[0].value : value->percent;
}

void Set(QueueSettings& settings, const char* name, const std::string& value) {
  if (!value.empty()) settings[name] = value;
}

/// What both kinds of files say alike.
void AddCommon(const QueueConfig& queue, QueueSettings& to) {
  if (queue.max_container_allocation) Set(to, "largest container", AmountsText(*queue.max_container_allocation));
  if (queue.submit_acl) Set(to, "who may submit", ListText(*queue.submit_acl));
  if (queue.administer_acl) Set(to, "who may administer", ListText(*queue.administer_acl));
  if (queue.priority) Set(to, "priority", std::to_string(*queue.priority));
  if (queue.reservable) Set(to, "reservations", "yes");
}

std::string Seconds(base::Duration time) { return Number(static_cast<double>(time.millis()) / 1000) + " s"; }

void AddFair(const QueueTree& tree, const QueueConfig& queue, bool leaf, QueueSettings& to) {
  const auto& maximum = queue.max_resources ? queue.max_resources : tree.queue_max_resources_default;
  if (queue.min_resources) Set(to, "minimum", AmountsText(*queue.min_resources));
  if (maximum) Set(to, "maximum", AmountsText(*maximum));
  const auto running = queue.max_running_apps ? queue.max_running_apps : tree.queue_max_apps_default;
  if (running && *running < INT32_MAX) Set(to, "running applications at most", std::to_string(*running));
  if (queue.max_child_resources) Set(to, "maximum of queues made below", AmountsText(*queue.max_child_resources));
  if (leaf) {
    const double masters = queue.max_am_share.value_or(tree.queue_max_am_share_default.value_or(0.5));
    Set(to, "masters' part", Percent(masters < 0 ? 1 : masters));
    const std::string policy = queue.policy.value_or(tree.default_policy.value_or("fair"));
    Set(to, "order of applications", policy == "fifo" ? "fifo" : "fair");
  }
  if (queue.min_share_preemption_timeout)
    Set(to, "preemption below the minimum after", Seconds(*queue.min_share_preemption_timeout));
  if (queue.fair_share_preemption_timeout)
    Set(to, "preemption below the fair share after", Seconds(*queue.fair_share_preemption_timeout));
  if (queue.fair_share_preemption_threshold)
    Set(to, "preemption below a part of the fair share", Percent(*queue.fair_share_preemption_threshold));
  if (queue.allow_preemption_from == false) Set(to, "gives back", "no");
}

std::string UserLimitText(const CapacityQueues& queues, const CapacityQueueSettings& own) {
  const auto least = static_cast<double>(own.user_limit.value_or(queues.user_limit));
  const auto factor = static_cast<double>(own.user_limit_factor.value_or(queues.user_limit_factor));
  const std::string most = factor < 0 ? "no bound" : "at most " + Number(factor) + " times the queue's capacity";
  if (least >= 100) return factor < 0 ? "" : most;
  return most + ", at least " + Percent(least / 100) + " of it each while several want more";
}

void AddCapacity(const CapacityQueues& queues, const std::string& path, bool leaf, QueueSettings& to) {
  static const CapacityQueueSettings kNothing;
  const auto found = queues.queues.find(path);
  const CapacityQueueSettings& own = found == queues.queues.end() ? kNothing : found->second.own;
  if (const CapacityValue* maximum = CapacityOf(queues, path, true)) {
    const double percent = maximum->vector.empty() ? maximum->percent : maximum->vector[0].value;
    if (!IsPlain(*maximum)) Set(to, "maximum", VectorText(*maximum));
    if (IsPlain(*maximum) && percent < 100 && percent >= 0) {
      Set(to, "maximum", Percent(percent / 100) + (ParentOf(path) == "root" ? " of the cluster" : " of the parent's"));
    }
  }
  const int32_t running = own.max_parallel_apps.value_or(queues.max_parallel_apps);
  if (running < INT32_MAX) Set(to, "running applications at most", std::to_string(running));
  if (leaf) {
    const auto masters = own.am_percent.find("");
    Set(to, "masters' part",
        Percent(static_cast<double>(masters == own.am_percent.end() ? queues.am_percent : masters->second)));
    Set(to, "order of applications", own.ordering_policy.value_or("fifo"));
    Set(to, "a user", UserLimitText(queues, own));
  }
  if (own.maximum_applications) Set(to, "applications at most", std::to_string(*own.maximum_applications));
  if (own.maximum_application_lifetime.value_or(0) > 0)
    Set(to, "lifetime of applications", std::to_string(*own.maximum_application_lifetime) + " s");
  if (own.priority.value_or(0) != 0) Set(to, "priority", std::to_string(*own.priority));
  if (own.disable_preemption == true) Set(to, "gives back", "no");
  if (own.reservable == true) Set(to, "reservations", "yes");
  if (own.state == model::CapacityQueueState::kStopped) Set(to, "state", "stopped");
}

/// What holds for all queues.
void AddWhole(const QueueTree& tree, QueueSettings& to) {
  const auto is_drf = [](const QueueConfig& queue) { return queue.policy == "drf"; };
  const bool dominant = tree.capacity ? tree.capacity->dominant
                                      : tree.default_policy == "drf" || std::ranges::any_of(tree.queues, is_drf);
  Set(to, "resources that count", dominant ? "the dominant one" : "memory");
  const auto& users = tree.capacity ? tree.capacity->max_parallel_apps_of_user : tree.user_max_apps;
  for (const auto& [user, most] : users)
    Set(to, ("running applications of user " + user + " at most").c_str(), std::to_string(most));
  const int32_t each =
      tree.capacity ? tree.capacity->user_max_parallel_apps : tree.user_max_apps_default.value_or(INT32_MAX);
  if (each < INT32_MAX) Set(to, "running applications of a user at most", std::to_string(each));
  if (tree.default_min_share_preemption_timeout)
    Set(to, "preemption below the minimum after", Seconds(*tree.default_min_share_preemption_timeout));
  if (tree.default_fair_share_preemption_timeout)
    Set(to, "preemption below the fair share after", Seconds(*tree.default_fair_share_preemption_timeout));
  if (tree.default_fair_share_preemption_threshold)
    Set(to, "preemption below a part of the fair share", Percent(*tree.default_fair_share_preemption_threshold));
}

/// All queues of a tree, those that are only named as parents, too.
struct Names {
  explicit Names(const QueueTree& tree) {
    for (const QueueConfig& queue : tree.queues) {
      for (std::string name = queue.name; !name.empty(); name = ParentOf(name)) {
        if (!own.try_emplace(name, nullptr).second) break;
        children[ParentOf(name)].push_back(name);
      }
      own[queue.name] = &queue;
    }
    own.try_emplace("root", nullptr);
  }
  bool IsLeaf(const std::string& name) const {
    const auto queue = own.find(name);
    return !children.contains(name) && !(queue->second != nullptr && queue->second->parent_type);
  }
  std::map<std::string, const QueueConfig*> own;
  std::map<std::string, std::vector<std::string>> children;  // by parent
};

/// Its part of what its parent has.
std::string ShareText(const QueueTree& tree, const Names& names, const std::string& name, double weights) {
  const CapacityValue* value = tree.capacity ? CapacityOf(*tree.capacity, name, false) : nullptr;
  if (value != nullptr && !IsPlain(*value)) return VectorText(*value);
  const double weight = WeightOf(tree, name, names.own.at(name));
  return weights > 0 ? Percent(weight / weights) : Percent(0);
}

/// The part of the cluster that a maximum is, the maxima above it included; 1: none.
double MaximumPart(const CapacityQueues& queues, std::string path) {
  double part = 1;
  for (; !path.empty(); path = ParentOf(path)) {
    const CapacityValue* value = CapacityOf(queues, path, true);
    if (value == nullptr || !IsPlain(*value)) continue;
    const double percent = value->vector.empty() ? value->percent : value->vector[0].value;
    if (percent >= 0 && percent < 100) part *= percent / 100;
  }
  return part;
}

std::optional<model::ConfiguredResources> MaximumOf(const CapacityQueues& queues, const std::string& path) {
  model::ConfiguredResources most;
  most.unnamed = INT64_MAX;
  const CapacityValue* value = CapacityOf(queues, path, true);
  if (value != nullptr && !IsPlain(*value)) {
    for (size_t type = 0; type < value->vector.size(); ++type) {
      const model::CapacityEntry& entry = value->vector[type];
      const std::string name(model::ResourceTypes::Name(type));
      if (entry.unit == model::CapacityUnit::kAbsolute) most.absolute[name] = static_cast<int64_t>(entry.value);
      if (entry.unit == model::CapacityUnit::kPercent) most.percent[name] = entry.value;
    }
  } else if (const double part = MaximumPart(queues, path); value != nullptr && part < 1) {
    most.percent["*"] = part * 100;
  }
  if (most.absolute.empty() && most.percent.empty()) return std::nullopt;
  return most;
}

}  // namespace

std::map<std::string, QueueSettings> SettingsOf(const QueueTree& tree) {
  std::map<std::string, QueueSettings> all;
  const Names names(tree);
  std::map<std::string, double> weights;  // of the queues below it
  for (const auto& [name, own] : names.own) weights[ParentOf(name)] += WeightOf(tree, name, own);
  for (const auto& [name, own] : names.own) {
    QueueSettings& settings = all[name];
    const QueueConfig unnamed;
    const QueueConfig& queue = own != nullptr ? *own : unnamed;
    if (name != "root") settings["share of its parent"] = ShareText(tree, names, name, weights[ParentOf(name)]);
    AddCommon(queue, settings);
    if (tree.capacity) {
      AddCapacity(*tree.capacity, name, names.IsLeaf(name), settings);
    } else {
      AddFair(tree, queue, names.IsLeaf(name), settings);
    }
  }
  AddWhole(tree, all[""]);
  return all;
}

std::vector<SettingDifference> DifferencesOf(const QueueTree& from, const QueueTree& to) {
  std::vector<SettingDifference> out;
  auto before = SettingsOf(from);
  auto after = SettingsOf(to);
  std::set<std::string> queues;
  for (const auto& [queue, settings] : before) queues.insert(queue);
  for (const auto& [queue, settings] : after) queues.insert(queue);
  for (const std::string& queue : queues) {
    const bool was = before.contains(queue);
    if (was != after.contains(queue)) {
      out.push_back({queue, "queue", was ? "is there" : "", was ? "" : "is there"});
      continue;
    }
    std::set<std::string> settings;
    for (const auto& [setting, value] : before[queue]) settings.insert(setting);
    for (const auto& [setting, value] : after[queue]) settings.insert(setting);
    for (const std::string& setting : settings) {
      const std::string& old_value = before[queue][setting];
      const std::string& new_value = after[queue][setting];
      if (old_value != new_value) out.push_back({queue, setting, old_value, new_value});
    }
  }
  return out;
}

QueueTree FairTreeOf(const QueueTree& tree) {
  if (!tree.capacity) return tree;
  QueueTree out = tree;
  const CapacityQueues& queues = *tree.capacity;
  for (QueueConfig& queue : out.queues) {
    queue.labels.clear();
    queue.default_label.clear();
    const double weight = WeightOf(tree, queue.name, nullptr);
    if (queue.name != "root" && weight > 0) queue.weight = weight;
    queue.max_resources = MaximumOf(queues, queue.name);
    const auto found = queues.queues.find(queue.name);
    if (found == queues.queues.end()) continue;
    queue.max_running_apps = found->second.own.max_parallel_apps;
    const auto masters = found->second.own.am_percent.find("");
    if (masters != found->second.own.am_percent.end()) queue.max_am_share = masters->second;
  }
  out.queue_max_am_share_default = queues.am_percent;
  if (queues.max_parallel_apps < INT32_MAX) out.queue_max_apps_default = queues.max_parallel_apps;
  if (queues.user_max_parallel_apps < INT32_MAX) out.user_max_apps_default = queues.user_max_parallel_apps;
  out.user_max_apps = queues.max_parallel_apps_of_user;
  out.capacity.reset();
  return out;
}

std::map<std::string, std::string> PlacesFor(const QueueTree& tree, const std::set<std::string>& asked) {
  const Names names(tree);
  std::map<std::string, std::vector<std::string>> leaves;  // by last name
  for (const auto& [name, own] : names.own) {
    if (names.IsLeaf(name)) leaves[name.substr(name.rfind('.') + 1)].push_back(name);
  }
  std::map<std::string, std::string> places;
  for (const std::string& name : asked) {
    if (names.own.contains(name)) continue;
    const auto found = leaves.find(name.substr(name.rfind('.') + 1));
    if (found != leaves.end() && found->second.size() == 1) places[name] = found->second[0];
  }
  return places;
}

}  // namespace fairlead::sim
