#include "scheduler/yarn_capacity/from_tree.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::scheduler::yarn_capacity {
namespace {

constexpr int32_t kUnbounded = 1'000'000;

std::string PathOf(const std::string& name) {
  return name == "root" || name.starts_with("root.") ? name : "root." + name;
}

/// Names the queue, and those above it, to their parents.
void Enter(const std::string& path, model::CapacityQueues& queues) {
  queues.queues.try_emplace(path);
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return;
  Enter(path.substr(0, dot), queues);
  std::optional<std::vector<std::string>>& siblings = queues.queues[path.substr(0, dot)].own.queues;
  if (!siblings) siblings.emplace();
  const std::string name = path.substr(dot + 1);
  if (std::find(siblings->begin(), siblings->end(), name) == siblings->end()) siblings->push_back(name);
}

model::CapacityValue Weight(double weight) {
  model::CapacityValue value;
  value.weight = static_cast<float>(weight);
  value.vector.assign(model::ResourceTypes::Count(), {model::CapacityUnit::kWeight, value.weight});
  return value;
}

/// The absolute amounts of maxResources; of types that it does not name the whole. None: it names none.
std::optional<model::CapacityValue> Maximum(const model::QueueConfig& queue) {
  if (!queue.max_resources || queue.max_resources->absolute.empty()) return std::nullopt;
  model::CapacityValue value;
  value.percent = 100;
  for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
    const auto named = queue.max_resources->absolute.find(std::string(model::ResourceTypes::Name(type)));
    const bool bounded = named != queue.max_resources->absolute.end() && named->second < INT64_MAX / 4;
    value.vector.push_back(
        bounded ? model::CapacityEntry{model::CapacityUnit::kAbsolute, static_cast<double>(named->second)}
                : model::CapacityEntry{model::CapacityUnit::kPercent, 100});
  }
  return value;
}

bool IsFifo(const model::QueueTree& tree, const model::QueueConfig& queue) {
  return queue.policy.value_or(tree.default_policy.value_or("fair")) == "fifo";
}

}  // namespace

model::CapacityQueues CapacityQueuesFrom(const model::QueueTree& tree) {
  if (tree.capacity) return *tree.capacity;
  model::CapacityQueues queues;
  queues.dominant = true;
  queues.legacy_queue_mode = false;  // weights beside absolute maxima
  queues.am_percent = 1;
  queues.user_limit_factor = -1;
  queues.maximum_queue_depth = 100;
  queues.maximum_applications = queues.global_queue_max_application = kUnbounded;
  queues.offswitch_per_heartbeat = kUnbounded;
  queues.max_parallel_apps = tree.queue_max_apps_default.value_or(INT32_MAX);
  queues.user_max_parallel_apps = tree.user_max_apps_default.value_or(INT32_MAX);
  queues.max_parallel_apps_of_user = tree.user_max_apps;
  Enter("root.default", queues);
  for (const model::QueueConfig& queue : tree.queues) Enter(PathOf(queue.name), queues);
  for (auto& [path, keys] : queues.queues) {
    if (path != "root") keys.own.capacity[""] = Weight(1);
    keys.own.auto_creation = keys.own.queues.has_value();
    if (!keys.own.queues) keys.own.ordering_policy = "fair";
  }
  for (const model::QueueConfig& queue : tree.queues) {
    model::CapacityQueueSettings& own = queues.queues[PathOf(queue.name)].own;
    if (queue.weight && PathOf(queue.name) != "root") own.capacity[""] = Weight(*queue.weight);
    if (const auto maximum = Maximum(queue)) own.maximum_capacity[""] = *maximum;
    if (queue.max_running_apps) own.max_parallel_apps = *queue.max_running_apps;
    if (!own.queues && IsFifo(tree, queue)) own.ordering_policy = "fifo";
  }
  return queues;
}

}  // namespace fairlead::scheduler::yarn_capacity
