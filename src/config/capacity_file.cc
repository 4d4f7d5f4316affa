#include "config/capacity_file.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <utility>

#include "base/text.h"
#include "config/allocation_file.h"
#include "config/capacity_ignored.h"
#include "config/capacity_mapping.h"
#include "config/capacity_priorities.h"
#include "config/java_numbers.h"

namespace fairlead::config {
namespace {

using model::CapacityFault;
using model::CapacityProblem;
using model::CapacityQueueKeys;
using model::CapacityQueues;
using model::CapacityQueueSettings;

using Keys = std::map<std::string, std::string>;

constexpr std::string_view kPrefix = "yarn.scheduler.capacity.";
constexpr std::string_view kPreemption = "yarn.resourcemanager.monitor.capacity.preemption.";
constexpr std::string_view kLabels = "accessible-node-labels";
constexpr int64_t kDeepest = 100;  // beyond Hadoop, which has no bound

/// StringUtils.equalsIgnoreCase with "true" and "false": anything else leaves what is there.
template <class Flag>
void ReadBool(std::string_view text, Flag& flag) {
  std::string word(base::Trimmed(text));
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  if (word == "true") flag = true;
  if (word == "false") flag = false;
}

void Fail(CapacityProblem& problem, CapacityFault fault, const std::string& message) {
  if (!problem) problem = {fault, message};
}

/// Reads one value into its field; keeps the first problem.
class ValueReader {
 public:
  ValueReader(const std::string& key, const std::string& text, CapacityProblem& problem)
      : key_(key), text_(text), problem_(problem) {}

  template <class Field>
  void Int(Field& field) {
    Whole(field, java::ConfiguredInteger<int32_t>(text_), base::Trimmed(text_));
  }
  template <class Field>
  void Long(Field& field) {
    Whole(field, java::ConfiguredInteger<int64_t>(text_), base::Trimmed(text_));
  }
  /// Integer.valueOf: no white space, no hexadecimal.
  template <class Field>
  void PlainInt(Field& field) {
    Whole(field, java::ParseInteger<int32_t>(text_), text_);
  }
  template <class Field>
  void Float(Field& field) {
    Number(field, java::ParseReal<float>(text_), java::NoReal(text_), "a number");
  }
  template <class Field>
  void Double(Field& field) {
    Number(field, java::ParseReal<double>(text_), java::NoReal(text_), "a number");
  }
  template <class Field>
  void Bool(Field& field) {
    ReadBool(text_, field);
  }

 private:
  template <class Field, class T>
  void Whole(Field& field, const std::optional<T>& number, std::string_view read) {
    Number(field, number, java::NoInteger(read), "a whole number");
  }
  template <class Field, class T>
  void Number(Field& field, const std::optional<T>& number, const std::string& hadoop, const char* want) {
    if (number) {
      field = *number;
    } else {
      Fail(problem_, CapacityFault::kNumber, ValueRefusal(hadoop, key_, text_, want));
    }
  }
  const std::string& key_;
  const std::string& text_;
  CapacityProblem& problem_;
};

std::vector<std::string> SplitTrimmed(std::string_view text, bool keep_empty) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(',');
    const std::string_view part = base::Trimmed(text.substr(0, end));
    if (keep_empty ? end != 0 && !text.substr(0, end).empty() : !part.empty()) parts.emplace_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// CapacitySchedulerConfiguration.getAccessibleNodeLabels.
std::vector<std::string> ReadAccessibleLabels(std::string_view text) {
  std::vector<std::string> labels = SplitTrimmed(text, false);
  if (std::find(labels.begin(), labels.end(), "*") != labels.end()) labels = {"*"};
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

/// QueueState.valueOf: DRAINING is a state that may not be written.
void ReadState(const std::string& key, const std::string& text, CapacityQueueSettings& queue) {
  std::string state = text;
  std::transform(state.begin(), state.end(), state.begin(), [](unsigned char c) { return std::toupper(c); });
  if (state == "RUNNING") {
    queue.state = model::CapacityQueueState::kRunning;
  } else if (state == "STOPPED") {
    queue.state = model::CapacityQueueState::kStopped;
  } else {
    Fail(queue.problem, CapacityFault::kArgument,
         ValueRefusal("Invalid queue state configuration. We can only use RUNNING or STOPPED.", key, text,
                      "RUNNING or STOPPED"));
  }
}

/// ResourceUtils.createResourceFromString: "memory-mb=4096,vcores=4"; types not named are 0.
void ReadMaximumAllocation(const std::string& key, const std::string& text, CapacityQueueSettings& queue) {
  if (text.empty()) return;
  model::Resources amount;
  for (const std::string& pair : SplitTrimmed(text, false)) {
    const size_t sign = pair.find('=');
    const std::string name(base::Trimmed(std::string_view(pair).substr(0, sign)));
    const int type = name == "memory" ? 0 : model::ResourceTypes::Find(name);
    const auto number = sign == std::string::npos
                            ? std::nullopt
                            : java::ParseInteger<int64_t>(base::Trimmed(std::string_view(pair).substr(sign + 1)));
    if (type < 0 || !number) {
      const std::string hadoop = "\"" + pair +
                                 "\" is not a valid resource type/amount pair. Please provide key=amount pairs "
                                 "separated by commas.";
      return Fail(queue.problem, CapacityFault::kArgument,
                  ValueRefusal(hadoop, key, text, "amounts such as memory-mb=4096,vcores=4"));
    }
    amount[static_cast<size_t>(type)] = *number;
  }
  queue.maximum_allocation = amount;
}

/// The keys below accessible-node-labels.LABEL, and those of the default partition (`label` empty).
bool ReadOfLabel(const std::string& key, std::string_view name, const std::string& label, const std::string& text,
                 CapacityQueueSettings& queue) {
  if (name == "capacity") {
    queue.capacity[label] = ReadCapacity(key, text);
  } else if (name == "maximum-capacity") {
    queue.maximum_capacity[label] = ReadMaximumCapacity(key, text);
  } else if (name == "maximum-am-resource-percent") {
    ValueReader(key, text, queue.problem).Float(queue.am_percent[label]);
  } else {
    return false;
  }
  return true;
}

/// Keys of numbers and switches.
bool ReadPlain(const std::string& key, std::string_view name, const std::string& text, CapacityQueueSettings& queue) {
  ValueReader read(key, text, queue.problem);
  if (name == "minimum-user-limit-percent") return read.Float(queue.user_limit), true;
  if (name == "user-limit-factor") return read.Float(queue.user_limit_factor), true;
  if (name == "maximum-applications") return read.Int(queue.maximum_applications), true;
  if (name == "max-parallel-apps") return read.PlainInt(queue.max_parallel_apps), true;
  if (name == "maximum-allocation-mb") return read.Int(queue.maximum_allocation_mb), true;
  if (name == "maximum-allocation-vcores") return read.Int(queue.maximum_allocation_vcores), true;
  if (name == "priority") return read.Int(queue.priority), true;
  if (name == "default-application-priority") return read.Int(queue.default_application_priority), true;
  if (name == "disable_preemption") return read.Bool(queue.disable_preemption), true;
  if (name == "intra-queue-preemption.disable_preemption") return read.Bool(queue.intra_queue_disable_preemption), true;
  if (name == "ordering-policy.fair.enable-size-based-weight") {
    // Boolean.parseBoolean
    bool on = false;
    return ReadBool(text, on), queue.size_based_weight = on, true;
  }
  if (name == "auto-queue-creation-v2.enabled") return read.Bool(queue.auto_creation), true;
  if (name == "auto-queue-creation-v2.max-queues") return read.Int(queue.max_queues), true;
  if (name == "auto-queue-creation-v2.maximum-queue-depth") return read.Int(queue.maximum_queue_depth), true;
  if (name == "auto-queue-creation-v2.queue-auto-removal.enable") return read.Bool(queue.auto_removal), true;
  if (name == "auto-create-child-queue.enabled") return read.Bool(queue.auto_creation_legacy), true;
  if (name == "auto-create-child-queue.max-queues") return read.Int(queue.max_queues), true;
  if (name == "allow-zero-capacity-sum") return read.Bool(queue.allow_zero_capacity_sum), true;
  if (name == "reservable") return read.Bool(queue.reservable), true;
  if (name == "maximum-application-lifetime") return read.Long(queue.maximum_application_lifetime), true;
  if (name == "default-application-lifetime") return read.Long(queue.default_application_lifetime), true;
  return false;
}

/// What the older way of making queues is told besides: what is not done is refused by its name.
bool ReadManagement(const std::string& key, std::string_view name, const std::string& text,
                    CapacityQueueSettings& queue) {
  if (name == "auto-create-child-queue.management-policy") {
    if (!base::Trimmed(text).ends_with(".GuaranteedOrZeroCapacityOverTimePolicy")) {
      Fail(queue.problem, CapacityFault::kRuntime,
           key + " is '" + text + "', which is not known; take the key out for GuaranteedOrZeroCapacityOverTimePolicy");
    }
    return true;
  }
  if (name != "auto-create-child-queue.fail-on-exceeding-parent-capacity") return false;
  bool fails = false;
  ReadBool(text, fails);
  if (fails) Fail(queue.problem, CapacityFault::kArgument, key + " is not supported; take the key out");
  return true;
}

/// One key of a queue or a template, by what follows its path; false: not known.
bool ReadOfQueue(const std::string& key, std::string_view name, const std::string& text, CapacityQueueSettings& queue) {
  if (ReadPlain(key, name, text, queue) || ReadOfLabel(key, name, "", text, queue)) return true;
  if (ReadManagement(key, name, text, queue)) return true;
  if (name == "queues") {
    queue.queues = SplitTrimmed(text, true);
  } else if (name == "state") {
    ReadState(key, text, queue);
  } else if (name == "ordering-policy") {
    queue.ordering_policy = std::string(base::Trimmed(text));
  } else if (name == "maximum-allocation") {
    ReadMaximumAllocation(key, text, queue);
  } else if (name == kLabels) {
    queue.accessible_labels = ReadAccessibleLabels(text);
  } else if (name == "default-node-label-expression") {
    queue.default_label_expression = std::string(base::Trimmed(text));
  } else if (name.starts_with("acl_")) {
    queue.acls[std::string(name)] = text;
    if (name == "acl_application_max_priority") return queue.priority_access = ReadPriorityAccess(key, text), true;
    return name == "acl_submit_applications" || name == "acl_administer_queue";
  } else if (name.starts_with("user-settings.") && name.ends_with(".weight")) {
    name.remove_prefix(std::string_view("user-settings.").size());
    name.remove_suffix(std::string_view(".weight").size());
    if (!name.empty()) ValueReader(key, text, queue.problem).Float(queue.user_weights[std::string(name)]);
  } else if (name.starts_with(kLabels)) {
    name.remove_prefix(kLabels.size() + 1);
    const size_t dot = name.find('.');
    return dot != std::string_view::npos &&
           ReadOfLabel(key, name.substr(dot + 1), std::string(name.substr(0, dot)), text, queue);
  } else {
    return false;
  }
  return true;
}

/// Where the name of a setting begins in "root.a.b.NAME": names of several words by their first one.
size_t NameBegin(std::string_view path) {
  static constexpr std::string_view kLong[] = {
      ".accessible-node-labels.", ".auto-queue-creation-v2.",  ".ordering-policy.",    ".user-settings.",
      ".intra-queue-preemption.", ".auto-create-child-queue.", ".leaf-queue-template."};
  size_t begin = path.rfind('.') + 1;
  for (const std::string_view word : kLong) {
    const size_t at = path.find(word);
    if (at != std::string_view::npos) begin = std::min(begin, at + 1);
  }
  return begin;
}

bool ReadQueueKey(const std::string& key, const std::string& text, CapacityQueues& queues) {
  const std::string_view path = std::string_view(key).substr(kPrefix.size());
  const size_t begin = NameBegin(path);
  if (begin < 2) return false;
  std::string_view name = path.substr(begin);
  CapacityQueueKeys& queue = queues.queues[std::string(path.substr(0, begin - 1))];
  const std::pair<std::string_view, CapacityQueueSettings*> templates[] = {
      {"leaf-queue-template.", &queue.leaves},
      {"auto-queue-creation-v2.template.", &queue.children},
      {"auto-queue-creation-v2.leaf-template.", &queue.leaves},
      {"auto-queue-creation-v2.parent-template.", &queue.parents}};
  for (const auto& [prefix, settings] : templates) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    return ReadOfQueue(key, name, text, *settings);
  }
  return ReadOfQueue(key, name, text, queue.own);
}

/// CapacitySchedulerConfiguration.getConfiguredNodeLabelsByQueue.
void NoteLabel(const std::string& key, CapacityQueues& queues) {
  const std::string_view path = std::string_view(key).substr(kPrefix.size());
  const size_t at = path.find(kLabels);
  if (at == std::string_view::npos || at == 0) return;
  const size_t begin = at + kLabels.size() + 1;
  if (begin >= path.size() || path[begin - 1] != '.') return;
  const size_t end = path.find('.', begin);
  if (end == std::string_view::npos) return;
  std::set<std::string>& labels = queues.configured_labels[std::string(path.substr(0, at - 1))];
  labels.insert("");
  labels.insert(std::string(path.substr(begin, end - begin)));
}

/// With it Hadoop sorts all nodes for each ask; without it the keys of its policies have no effect.
void RefuseMultiNode(const std::string& key, const std::string& text, CapacityQueues& queues) {
  bool on = false;
  ReadBool(text, on);
  if (on) Fail(queues.problem, CapacityFault::kArgument, key + " is not supported; write false");
}

bool ReadPriorityPreemptionKey(std::string_view name, ValueReader& read, model::CapacityPriorityPreemption& to) {
  if (name == "enabled") return read.Bool(to.enabled), true;
  if (name == "reserved-container-delay-ms") return read.Long(to.reserved_delay_ms), true;
  if (name == "allow-move-reservation") return read.Bool(to.move_reservations), true;
  return false;
}

/// Keys of the whole scheduler below yarn.scheduler.capacity.
bool ReadGlobalKey(const std::string& key, const std::string& text, CapacityQueues& queues) {
  const std::string_view name = std::string_view(key).substr(kPrefix.size());
  ValueReader read(key, text, queues.problem);
  if (name == "maximum-applications") return read.Int(queues.maximum_applications), true;
  if (name == "global-queue-max-application") return read.Int(queues.global_queue_max_application), true;
  if (name == "maximum-am-resource-percent") return read.Float(queues.am_percent), true;
  if (name == "minimum-user-limit-percent") return read.Float(queues.user_limit), true;
  if (name == "user-limit-factor") return read.Float(queues.user_limit_factor), true;
  if (name == "max-parallel-apps") return read.Int(queues.max_parallel_apps), true;
  if (name == "user.max-parallel-apps") return read.Int(queues.user_max_parallel_apps), true;
  if (name == "node-locality-delay") return read.Int(queues.node_locality_delay), true;
  if (name == "rack-locality-additional-delay") return read.Int(queues.rack_locality_additional_delay), true;
  if (name == "rack-locality-full-reset") return read.Bool(queues.rack_locality_full_reset), true;
  if (name == "per-node-heartbeat.multiple-assignments-enabled") return read.Bool(queues.assign_multiple), true;
  if (name == "per-node-heartbeat.maximum-container-assignments")
    return read.Int(queues.max_assign_per_heartbeat), true;
  if (name == "per-node-heartbeat.maximum-offswitch-assignments") return read.Int(queues.offswitch_per_heartbeat), true;
  if (name == "reservations-continue-look-all-nodes") return read.Bool(queues.continue_looking), true;
  if (name == "schedule-asynchronously.enable") return read.Bool(queues.asynchronous), true;
  if (name == "multi-node-placement-enabled") return RefuseMultiNode(key, text, queues), true;
  if (name == "legacy-queue-mode.enabled") return read.Bool(queues.legacy_queue_mode), true;
  if (name == "lazy-preemption-enabled") return read.Bool(queues.preemption.lazy), true;
  if (name == "user-metrics.enable") return read.Bool(queues.user_metrics), true;
  if (name == "queue-mappings-override.enable") return read.Bool(queues.mapping_override), true;
  if (name == "workflow-priority-mappings-override.enable") return read.Bool(queues.workflow_override), true;
  if (name == "workflow-priority-mappings") {
    if (const CapacityProblem problem = ReadWorkflowPriorities(text, queues)) {
      Fail(queues.problem, problem.fault, problem.message);
    }
    return true;
  }
  if (name == "auto-queue-creation-v2.maximum-queue-depth") return read.Int(queues.maximum_queue_depth), true;
  if (name == "auto-queue-creation-v2.queue-expiration-time") return read.Long(queues.queue_expiration_seconds), true;
  constexpr std::string_view kForPriority = "ordering-policy.priority-utilization.underutilized-preemption.";
  if (name.starts_with(kForPriority)) {
    return ReadPriorityPreemptionKey(name.substr(kForPriority.size()), read, queues.preemption.for_priority);
  }
  if (name.starts_with("user.") && name.ends_with(".max-parallel-apps")) {
    const std::string user(name.substr(5, name.size() - 5 - std::string_view(".max-parallel-apps").size()));
    return read.PlainInt(queues.max_parallel_apps_of_user[user]), true;
  }
  return false;
}

bool ReadPreemptionKey(const std::string& key, const std::string& text, CapacityQueues& queues) {
  const std::string_view name = std::string_view(key).substr(kPreemption.size());
  model::CapacityPreemption& to = queues.preemption;
  ValueReader read(key, text, queues.problem);
  if (name == "observe_only") return read.Bool(to.observe_only), true;
  if (name == "monitoring_interval") return read.Long(to.monitoring_interval_ms), true;
  if (name == "max_wait_before_kill") return read.Long(to.wait_before_kill_ms), true;
  if (name == "total_preemption_per_round") return read.Float(to.total_per_round), true;
  if (name == "max_ignored_over_capacity") return read.Double(to.max_ignored_over_capacity), true;
  if (name == "natural_termination_factor") return read.Double(to.natural_termination_factor), true;
  if (name == "additional_res_balance_based_on_reserved_containers") return read.Bool(to.count_reserved), true;
  if (name == "select_based_on_reserved_containers") return read.Bool(to.select_for_reserved), true;
  if (name == "conservative-drf") return read.Bool(to.conservative_drf), true;
  if (name == "preemption-to-balance-queue-after-satisfied.enabled") return read.Bool(to.balance), true;
  if (name == "preemption-to-balance-queue-after-satisfied.max-wait-before-kill") {
    return read.Long(to.balance_wait_before_kill_ms), true;
  }
  if (name == "intra-queue-preemption.enabled") return read.Bool(to.intra_queue), true;
  if (name == "intra-queue-preemption.minimum-threshold") return read.Float(to.intra_queue_minimum_threshold), true;
  if (name == "intra-queue-preemption.max-allowable-limit") return read.Float(to.intra_queue_max_allowable_limit), true;
  if (name == "intra-queue-preemption.conservative-drf") return read.Bool(to.intra_queue_conservative_drf), true;
  if (name == "intra-queue-preemption.preemption-order-policy") {
    std::string policy = text;
    std::transform(policy.begin(), policy.end(), policy.begin(), [](unsigned char c) { return std::tolower(c); });
    if (policy != "priority_first" && policy != "userlimit_first") {
      Fail(queues.problem, CapacityFault::kArgument,
           key + " is '" + text + "'; write priority_first or userlimit_first");
    }
    to.intra_queue_priority_first = policy == "priority_first";
    return true;
  }
  return false;
}

std::string Value(const Keys& keys, const std::string& key, const std::string& fallback = "") {
  const auto it = keys.find(key);
  return it == keys.end() ? fallback : it->second;
}

/// ResourceUtils.fetchMaximumAllocationFromConfig.
void ReadMaximumAllocation(const Keys& keys, CapacityQueues& queues) {
  const auto number = [&](const std::string& key, int64_t& amount) {
    const auto it = keys.find(key);
    if (it != keys.end()) ValueReader(key, it->second, queues.problem).Long(amount);
  };
  number("yarn.scheduler.maximum-allocation-mb", queues.maximum_allocation[0]);
  number("yarn.scheduler.maximum-allocation-vcores", queues.maximum_allocation[1]);
  for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
    if (type >= 2) queues.maximum_allocation[type] = INT64_MAX;
    number("yarn.resource-types." + std::string(model::ResourceTypes::Name(type)) + ".maximum-allocation",
           queues.maximum_allocation[type]);
  }
}

void ReadCalculator(const Keys& keys, CapacityQueues& queues) {
  const std::string name(base::Trimmed(Value(keys, "yarn.scheduler.capacity.resource-calculator")));
  if (name.empty() || name.ends_with(".DefaultResourceCalculator")) return;
  if (name.ends_with(".DominantResourceCalculator")) {
    queues.dominant = true;
  } else {
    Fail(queues.problem, CapacityFault::kRuntime,
         "yarn.scheduler.capacity.resource-calculator is '" + name +
             "'; write org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator or "
             "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator");
  }
}

constexpr char kMonitor[] = "yarn.resourcemanager.scheduler.monitor.enable";
constexpr char kMonitorPolicies[] = "yarn.resourcemanager.scheduler.monitor.policies";
constexpr std::string_view kPreemptionPolicy =
    "org.apache.hadoop.yarn.server.resourcemanager.monitor.capacity.ProportionalCapacityPreemptionPolicy";

/// SchedulingMonitorManager. A list that is written and does not name preemption leaves what it is for to see (queues
/// show whether they may be preempted), and takes nothing back.
void ReadMonitor(const Keys& keys, CapacityQueues& queues) {
  ReadBool(Value(keys, kMonitor), queues.preemption.enabled);
  const std::vector<std::string> policies = SplitTrimmed(Value(keys, kMonitorPolicies), false);
  const bool named = std::find(policies.begin(), policies.end(), kPreemptionPolicy) != policies.end();
  if (keys.contains(kMonitorPolicies) && !named) queues.preemption.observe_only = true;
}

/// Policies that are run, or whose work is done without them.
bool IsMonitorDone(std::string_view policy) {
  static constexpr std::string_view kOthers[] = {
      "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.QueueManagementDynamicEditPolicy",
      "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.AutoCreatedQueueDeletionPolicy"};
  return policy == kPreemptionPolicy || std::find(std::begin(kOthers), std::end(kOthers), policy) != std::end(kOthers);
}

/// CapacitySchedulerConfiguration.getMappingRules.
void ReadMapping(const Keys& keys, CapacityQueues& queues) {
  const std::string prefix(kPrefix);
  const std::string format = Value(keys, prefix + "mapping-rule-format", "legacy");
  for (const std::string& rule : SplitTrimmed(Value(keys, "yarn.scheduler.queue-placement-rules"), false)) {
    queues.application_mapping_chosen |= rule == "app-name";
  }
  CapacityProblem problem =
      ReadLegacyMapping(Value(keys, prefix + "queue-mappings"),
                        Value(keys, "yarn.scheduler.queue-placement-rules.app-name"), queues.mapping);
  if (format == "json") {
    problem = {};
    queues.json_mapping_chosen = true;
    const std::string json = Value(keys, prefix + "mapping-rule-json");
    if (!json.empty()) {
      problem = ReadJsonMapping(json, queues.json_mapping);
    } else if (keys.contains(kMappingRuleFile)) {  // IncludeMappingRules was not asked: it is no file of this machine
      problem = {CapacityFault::kArgument, std::string(kMappingRuleFile) + " is not read here; write the rules into " +
                                               prefix + "mapping-rule-json"};
    }
  } else if (format != "legacy") {
    problem = {CapacityFault::kArgument, "Illegal queue mapping format '" + format + "' please use 'legacy' or 'json'"};
  }
  if (problem) Fail(queues.problem, problem.fault, problem.message);
}

}  // namespace

CapacityQueues ReadCapacityQueues(const Keys& keys, std::vector<std::string>* unknown) {
  CapacityQueues queues;
  for (const auto& [key, text] : keys) {
    bool known = true;
    if (key.starts_with(kPreemption)) {
      known = ReadPreemptionKey(key, text, queues);
    } else if (key.starts_with(kPrefix)) {
      NoteLabel(key, queues);
      known = key.compare(kPrefix.size(), 5, "root.") == 0 ? ReadQueueKey(key, text, queues)
                                                           : ReadGlobalKey(key, text, queues);
    }
    if (!known && unknown != nullptr) unknown->push_back(key);
  }
  for (const auto& [path, queue] : queues.queues) {
    if (std::count(path.begin(), path.end(), '.') <= kDeepest) continue;
    Fail(queues.problem, CapacityFault::kArgument,
         "queues are nested deeper than " + std::to_string(kDeepest) + ": " + path.substr(0, 200) + "...");
  }
  queues.offswitch_per_heartbeat = std::max(queues.offswitch_per_heartbeat, 1);
  ReadMonitor(keys, queues);
  ReadMaximumAllocation(keys, queues);
  ReadCalculator(keys, queues);
  ReadMapping(keys, queues);
  return queues;
}

namespace {

/// Keys that ReadCapacityQueues takes by name, outside the loop over all.
bool IsReadByName(std::string_view name) {
  static constexpr std::string_view kNames[] = {"resource-calculator", "mapping-rule-format", "queue-mappings",
                                                "mapping-rule-json", "mapping-rule-json-file"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

bool IsOfCapacity(std::string_view key) {
  return key.starts_with(kPrefix) || key.starts_with(kPreemption) ||
         key.starts_with("yarn.scheduler.queue-placement-rules") || key == kMonitor || key == kMonitorPolicies;
}

/// CapacitySchedulerConfiguration.getQueueMaximumAllocation; types that are not named have no maximum of their own.
std::optional<model::ConfiguredResources> LargestContainer(const CapacityQueueSettings& queue) {
  model::ConfiguredResources largest;
  largest.unnamed = INT64_MAX;
  if (queue.maximum_allocation) {
    for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
      largest.absolute[std::string(model::ResourceTypes::Name(type))] = (*queue.maximum_allocation)[type];
    }
  } else {
    if (queue.maximum_allocation_mb) largest.absolute["memory-mb"] = *queue.maximum_allocation_mb;
    if (queue.maximum_allocation_vcores) largest.absolute["vcores"] = *queue.maximum_allocation_vcores;
  }
  if (largest.absolute.empty()) return std::nullopt;
  return largest;
}

std::optional<model::AccessList> ListOf(const CapacityQueueSettings& queue, const std::string& name) {
  const auto found = queue.acls.find(name);
  if (found == queue.acls.end()) return std::nullopt;
  return ParseAccessList(found->second);
}

/// The queue and those below it, parents first. Labels are those of the queue above where it names none
/// (QueueNodeLabelsSettings).
void AddQueues(const CapacityQueues& from, const std::string& path, const model::QueueConfig& above,
               std::set<std::string>& seen, model::QueueTree& tree) {
  if (!seen.insert(path).second) return;
  static const CapacityQueueSettings kNothing;
  const auto found = from.queues.find(path);
  const CapacityQueueSettings& own = found == from.queues.end() ? kNothing : found->second.own;
  model::QueueConfig queue;
  queue.name = path;
  queue.parent_type = own.queues && !own.queues->empty();
  queue.submit_acl = ListOf(own, "acl_submit_applications");
  queue.administer_acl = ListOf(own, "acl_administer_queue");
  queue.max_container_allocation = LargestContainer(own);
  queue.labels = own.accessible_labels.value_or(above.labels);
  queue.default_label = own.default_label_expression.value_or(above.default_label);
  tree.queues.push_back(queue);
  if (!own.queues) return;
  for (const std::string& child : *own.queues) AddQueues(from, path + "." + child, queue, seen, tree);
}

}  // namespace

model::QueueTree CapacityTree(const Keys& keys, std::vector<std::string>* unknown) {
  model::QueueTree tree;
  tree.capacity = ReadCapacityQueues(keys, unknown);
  if (tree.capacity->problem) return tree;  // the scheduler refuses it
  std::set<std::string> seen;
  model::QueueConfig above;
  above.labels = {"*"};
  AddQueues(*tree.capacity, "root", above, seen, tree);
  return tree;
}

namespace {

base::Result<HadoopConf> Over(HadoopConf conf, const std::string& file, std::string_view text) {
  const FileReader none = [](const std::string& path) -> base::Result<std::string> {
    return base::Error{path + " is named by an XInclude, which is not read here; write its properties into the file"};
  };
  if (const base::Status read = conf.AddXml(file, text, none); !read.ok()) return read.error();
  return conf;
}

Keys KeysOf(const HadoopConf& conf) {
  Keys keys;
  for (const auto& [key, raw] : conf.Explicit()) keys[key] = conf.Find(key).value_or(raw);
  return keys;
}

/// `conf`: the keys of a file over those of `site`.
model::QueueTree TreeOf(const HadoopConf& conf, const HadoopConf& site, std::vector<std::string>& warnings) {
  for (const auto& [key, raw] : site.Explicit()) {
    if (IsOfCapacity(key)) (void)site.Find(key);  // it has an effect: no key without one is told then
  }
  const Keys keys = KeysOf(conf);
  std::vector<std::string> unknown;
  model::QueueTree tree = CapacityTree(keys, &unknown);
  // Where it is not written 3.5.0 schedules asynchronously, releases before it do not.
  if (!keys.contains(std::string(kPrefix) + "schedule-asynchronously.enable")) {
    tree.capacity->asynchronous = site.String("fairlead.scheduler.hadoop-version").starts_with("3.5.");
  }
  for (const std::string& policy : SplitTrimmed(Value(keys, kMonitorPolicies), false)) {
    if (IsMonitorDone(policy)) continue;
    warnings.push_back(conf.OriginOf(kMonitorPolicies).file + ": " + kMonitorPolicies + " names " + policy +
                       ", which is not known, and has no effect");
  }
  for (const std::string& key : unknown) {
    if (IsReadByName(std::string_view(key).substr(std::min(key.size(), kPrefix.size())))) continue;
    const IgnoredCapacityKey* ignored = FindIgnored(key);
    if (ignored != nullptr && base::Trimmed(keys.at(key)) == ignored->neutral) continue;
    warnings.push_back(
        conf.OriginOf(key).file + ": " + key +
        (ignored == nullptr ? " is not known, and has no effect" : " is ignored: " + std::string(ignored->why)));
  }
  return tree;
}

constexpr size_t kFaultsTold = 200;

std::string FaultOf(const CapacityQueueSettings& settings) {
  for (const auto* values : {&settings.capacity, &settings.maximum_capacity}) {
    for (const auto& [label, value] : *values) {
      if (value.problem) return value.problem.message;
    }
  }
  if (settings.priority_access && settings.priority_access->problem) return settings.priority_access->problem.message;
  return settings.problem.message;
}

/// What is wrong with a value by itself; "": nothing.
std::string FaultOf(const std::string& key, const std::string& value) {
  const CapacityQueues alone = ReadCapacityQueues({{key, value}});
  if (alone.problem) return alone.problem.message;
  for (const auto& [path, queue] : alone.queues) {
    for (const CapacityQueueSettings* settings : {&queue.own, &queue.leaves, &queue.children, &queue.parents}) {
      if (std::string fault = FaultOf(*settings); !fault.empty()) return fault;
    }
  }
  return "";
}

/// Every queue of the path is listed by the one above it.
bool IsListed(const CapacityQueues& queues, std::string_view path) {
  for (size_t dot = path.rfind('.'); dot != std::string_view::npos; dot = path.rfind('.')) {
    const auto above = queues.queues.find(std::string(path.substr(0, dot)));
    if (above == queues.queues.end() || !above->second.own.queues) return false;
    const std::vector<std::string>& children = *above->second.own.queues;
    if (std::find(children.begin(), children.end(), path.substr(dot + 1)) == children.end()) return false;
    path = path.substr(0, dot);
  }
  return true;
}

bool IsRead(const CapacityQueues& queues, const std::string& key) {
  if (!key.starts_with(std::string(kPrefix) + "root.")) return IsOfCapacity(key);
  const std::string_view path = std::string_view(key).substr(kPrefix.size());
  return IsListed(queues, path.substr(0, std::max<size_t>(NameBegin(path), 1) - 1));
}

}  // namespace

std::vector<std::string> CapacityFaults(std::string_view text, const std::string& file, const HadoopConf& site) {
  const base::Result<HadoopConf> conf = Over(site, file, text);
  if (!conf.ok()) return {};
  const Keys keys = KeysOf(*conf);
  const CapacityQueues whole = ReadCapacityQueues(keys);
  std::vector<std::string> faults;
  for (const auto& [key, value] : keys) {
    if (faults.size() == kFaultsTold) break;
    if (!IsRead(whole, key)) continue;
    const std::string fault = FaultOf(key, value);
    if (fault.empty()) continue;
    const HadoopConf::Origin at = conf->OriginOf(key);
    faults.push_back(at.file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + fault);
  }
  return faults;
}

base::Result<model::QueueTree> ParseCapacityFile(std::string_view text, const std::string& file, const HadoopConf& site,
                                                 std::vector<std::string>& warnings) {
  const base::Result<HadoopConf> conf = Over(site, file, text);
  if (!conf.ok()) return conf.error();
  return TreeOf(*conf, site, warnings);
}

base::Result<Properties> CapacityProperties(std::string_view text, const std::string& file) {
  const base::Result<HadoopConf> conf = Over(HadoopConf(), file, text);
  if (!conf.ok()) return conf.error();
  return conf->Explicit();
}

model::QueueTree CapacityTreeOf(const Properties& properties, const std::string& origin, const HadoopConf& site,
                                std::vector<std::string>& warnings) {
  HadoopConf conf = site;
  for (const auto& [key, value] : properties) conf.Set(key, value, {origin, 0, 0});
  return TreeOf(conf, site, warnings);
}

base::Status IncludeMappingRules(Properties& keys, const HadoopConf& site, const FileReader& read) {
  HadoopConf conf = site;
  for (const auto& [key, value] : keys) conf.Set(key, value);
  const std::string inline_rules = std::string(kPrefix) + "mapping-rule-json";
  const std::string path = conf.String(kMappingRuleFile);
  if (path.empty() || conf.String(std::string(kPrefix) + "mapping-rule-format") != "json" ||
      !conf.String(inline_rules).empty()) {
    return {};
  }
  const base::Result<std::string> rules = read(path);
  const bool none = rules.ok() && base::Trimmed(*rules).empty();
  if (!rules.ok() || none) {
    return base::Error{std::string(kMappingRuleFile) + " is '" + path +
                       "': " + (none ? "the file is empty" : rules.error().message) +
                       "; write the path of a file with rules, or the rules into " + inline_rules};
  }
  keys[inline_rules] = *rules;
  keys.erase(kMappingRuleFile);
  return {};
}

}  // namespace fairlead::config
