#include "scheduler/books/queue_names.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "scheduler/books/limits.h"

namespace fairlead::scheduler {
namespace native {
namespace {

constexpr size_t kDeepest = 32;

bool Space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

std::optional<model::OrderPolicy> PolicyByName(std::string_view name) {
  if (const size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (lower == "fair" || lower == "fairsharepolicy") return model::OrderPolicy::kFair;
  if (lower == "drf" || lower == "dominantresourcefairnesspolicy") return model::OrderPolicy::kDrf;
  if (lower == "fifo" || lower == "fifopolicy") return model::OrderPolicy::kFifo;
  return std::nullopt;
}

int64_t WeightUnits(double weight) {
  constexpr double kLargest = 262'144.0;  // 2^18, in units of 2^-16: 2^34
  if (!(weight > 0)) return 1;            // zero: after everybody with a weight
  return std::max<int64_t>(1, std::llround(std::min(weight, kLargest) * 65'536.0));
}

base::Result<std::string> FullQueueName(std::string_view name) {
  std::string full(name);
  if (full != "root" && !full.starts_with("root.")) full = "root." + full;
  if (full.size() > kLongestName) return base::Error{"queue name longer than 1024 bytes"};
  size_t depth = 0;
  for (size_t begin = 0; begin <= full.size(); ++depth) {
    const size_t end = std::min(full.find('.', begin), full.size());
    const std::string_view part = std::string_view(full).substr(begin, end - begin);
    if (part.empty()) return base::Error{"queue name '" + full + "' has an empty part"};
    if (Space(part.front()) || Space(part.back()))
      return base::Error{"queue name '" + full + "' has a space at an end"};
    if (std::any_of(part.begin(), part.end(),
                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
      return base::Error{"queue name has a control character"};
    }
    begin = end + 1;
  }
  if (depth > kDeepest) return base::Error{"queue name '" + full + "' is deeper than 32 levels"};
  return full;
}

std::string AsQueuePart(std::string_view name) {
  std::string part;
  for (const char c : name) {
    if (c == '.') {
      part += "_dot_";
    } else {
      part += c;
    }
  }
  return part;
}

namespace {

base::Status CheckQueue(const model::QueueConfig& queue) {
  const auto fail = [&](const std::string& what) { return base::Error{"queue " + queue.name + ": " + what}; };
  if (queue.weight && !(*queue.weight >= 0 && *queue.weight <= 262'144.0)) {
    return fail("weight must be a number from 0 to 262144");
  }
  if (queue.max_am_share && std::isnan(*queue.max_am_share)) return fail("maxAMShare is not a number");
  if (queue.max_running_apps && *queue.max_running_apps < 0) return fail("maxRunningApps is negative");
  if (queue.priority && (*queue.priority < -kLargestPriority || *queue.priority > kLargestPriority)) {
    return fail("priority must be a whole number from -1000000 to 1000000");
  }
  if (queue.policy && !PolicyByName(*queue.policy)) return fail("unknown schedulingPolicy '" + *queue.policy + "'");
  for (const auto* setting :
       {&queue.min_resources, &queue.max_resources, &queue.max_child_resources, &queue.max_container_allocation}) {
    if (!*setting) continue;
    for (const auto& [type, amount] : (*setting)->absolute) {
      if (amount < 0) return fail("negative amount of " + type);
    }
    for (const auto& [type, percent] : (*setting)->percent) {
      if (!(percent >= 0 && percent <= 1e6)) return fail("percentage of " + type + " is not a number from 0");
    }
  }
  if (queue.min_resources && queue.max_resources) {
    for (const auto& [type, low] : queue.min_resources->absolute) {
      const auto high = queue.max_resources->absolute.find(type);
      if (high != queue.max_resources->absolute.end() && low > high->second) {
        return fail("minResources of " + type + " (" + std::to_string(low) + ") above maxResources (" +
                    std::to_string(high->second) + ")");
      }
    }
  }
  return {};
}

base::Status CheckRules(const std::vector<model::PlacementRule>& rules, int depth) {
  static const std::set<std::string, std::less<>> kKnown = {
      "specified", "user", "primaryGroup", "secondaryGroupExistingQueue", "nestedUserQueue", "default", "reject"};
  if (depth > 8) return base::Error{"queuePlacementPolicy: rules nested deeper than 8"};
  for (const model::PlacementRule& rule : rules) {
    if (!kKnown.contains(rule.name)) return base::Error{"queuePlacementPolicy: unknown rule '" + rule.name + "'"};
    if (rule.parent.size() > 1) return base::Error{"queuePlacementPolicy: rule '" + rule.name + "' has two parents"};
    if (!rule.queue.empty()) {
      if (auto full = FullQueueName(rule.queue); !full)
        return base::Error{"queuePlacementPolicy: " + full.error().message};
    }
    if (base::Status nested = CheckRules(rule.parent, depth + 1); !nested) return nested;
  }
  return {};
}

}  // namespace
}  // namespace native

base::Status CheckQueueTree(const model::QueueTree& tree) {
  std::set<std::string> names;
  for (const model::QueueConfig& queue : tree.queues) {
    const auto full = native::FullQueueName(queue.name);
    if (!full) return full.error();
    if (full.value() != queue.name) return base::Error{"queue " + queue.name + ": the name does not begin with root"};
    if (!names.insert(queue.name).second) return base::Error{"queue " + queue.name + " is declared twice"};
    if (base::Status status = native::CheckQueue(queue); !status) return status;
  }
  if (tree.default_policy && !native::PolicyByName(*tree.default_policy)) {
    return base::Error{"defaultQueueSchedulingPolicy: unknown policy '" + *tree.default_policy + "'"};
  }
  if (tree.queue_max_am_share_default && std::isnan(*tree.queue_max_am_share_default)) {
    return base::Error{"queueMaxAMShareDefault is not a number"};
  }
  return tree.placement ? native::CheckRules(*tree.placement, 0) : base::Status{};
}

}  // namespace fairlead::scheduler
