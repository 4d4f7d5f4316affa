#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "model/access_list.h"
#include "model/resources.h"

// The configuration of Hadoop's CapacityScheduler: what capacity-scheduler.xml says, typed (config/capacity_file.h), by
// queue path, before anything is inherited. Names of settings are Hadoop's (CapacitySchedulerConfiguration).

namespace fairlead::model {

/// What Hadoop would throw over a value or a tree of queues, by the class of its root cause.
enum class CapacityFault : uint8_t { kNone, kNumber, kArgument, kState, kIo, kYarn, kRuntime };

/// A fault and the sentence that explains it.
struct CapacityProblem {
  CapacityFault fault = CapacityFault::kNone;
  std::string message;
  explicit operator bool() const { return fault != CapacityFault::kNone; }
  FL_FIELDS(fault, message)
};

enum class CapacityUnit : uint8_t { kNone, kPercent, kAbsolute, kWeight };
/// One type of a capacity vector ("[memory=50%,vcores=2w]").
struct CapacityEntry {
  CapacityUnit unit = CapacityUnit::kNone;
  double value = 0;
  FL_FIELDS(unit, value)
};

/// One value of `capacity` or `maximum-capacity`, read in all the ways in which Hadoop reads it.
struct CapacityValue {
  float percent = 0;                  // 0..100; 0 where it is no percentage (a maximum: 100)
  float weight = -1;                  // -1: none
  bool absolute = false;              // "[memory=...]" without units other than amounts
  Resources amount;                   // of an absolute value; nothing without memory
  std::vector<CapacityEntry> vector;  // by resource type; empty: none could be read
  CapacityProblem problem;
  FL_FIELDS(percent, weight, absolute, amount, vector, problem)
};

/// One "[user=... group=... max_priority=... default_priority=...]" of acl_application_max_priority.
struct CapacityPriorityGroup {
  AccessList who;
  int32_t most = 0;
  std::optional<int32_t> otherwise;  // of a submission that says none
  FL_FIELDS(who, most, otherwise)
};
/// The whole of acl_application_max_priority, in the order of the file; no group: every priority is everybody's.
struct CapacityPriorityAccess {
  std::vector<CapacityPriorityGroup> groups;
  CapacityProblem problem;
  FL_FIELDS(groups, problem)
};

enum class CapacityQueueState : uint8_t { kRunning, kStopped, kDraining };
std::string_view EnumName(CapacityQueueState state);

/// What is written below one queue's path, or below a template of it. What is not set is inherited or defaulted by the
/// scheduler. Maps are by node label ("": the default partition) or by user.
// Large on purpose: one field for each key of a queue.
struct CapacityQueueSettings {
  std::optional<std::vector<std::string>> queues;
  std::map<std::string, CapacityValue> capacity;
  std::map<std::string, CapacityValue> maximum_capacity;
  std::map<std::string, float> am_percent;  // maximum-am-resource-percent
  std::optional<float> user_limit;          // minimum-user-limit-percent
  std::optional<float> user_limit_factor;
  std::optional<int32_t> maximum_applications;
  std::optional<int32_t> max_parallel_apps;
  std::optional<Resources> maximum_allocation;  // the whole of it; else by the two below
  std::optional<int32_t> maximum_allocation_mb;
  std::optional<int32_t> maximum_allocation_vcores;
  std::optional<CapacityQueueState> state;
  std::optional<int32_t> priority;
  std::optional<std::string> ordering_policy;
  std::optional<bool> size_based_weight;
  std::optional<int32_t> default_application_priority;
  std::map<std::string, float> user_weights;
  std::optional<std::vector<std::string>> accessible_labels;
  std::optional<std::string> default_label_expression;
  std::optional<bool> disable_preemption;
  std::optional<bool> intra_queue_disable_preemption;
  std::optional<bool> auto_creation;         // auto-queue-creation-v2.enabled
  std::optional<bool> auto_creation_legacy;  // auto-create-child-queue.enabled
  std::optional<int32_t> max_queues;         // auto-queue-creation-v2.max-queues
  std::optional<int32_t> maximum_queue_depth;
  std::optional<bool> auto_removal;  // auto-queue-creation-v2.queue-auto-removal.enable
  std::optional<bool> allow_zero_capacity_sum;
  std::optional<bool> reservable;
  std::map<std::string, std::string> acls;  // "acl_submit_applications" and the like -> text
  std::optional<int64_t> maximum_application_lifetime;
  std::optional<int64_t> default_application_lifetime;
  std::optional<CapacityPriorityAccess> priority_access;  // acl_application_max_priority
  /// The first value that cannot be read; Hadoop meets it when it sets the queue up.
  CapacityProblem problem;
  FL_FIELDS(queues, capacity, maximum_capacity, am_percent, user_limit, user_limit_factor, maximum_applications,
            max_parallel_apps, maximum_allocation, maximum_allocation_mb, maximum_allocation_vcores, state, priority,
            ordering_policy, size_based_weight, default_application_priority, user_weights, accessible_labels,
            default_label_expression, disable_preemption, intra_queue_disable_preemption, auto_creation,
            auto_creation_legacy, max_queues, maximum_queue_depth, auto_removal, allow_zero_capacity_sum, reservable,
            acls, maximum_application_lifetime, default_application_lifetime, priority_access, problem)
};

/// The keys of one path: its own, and those for queues that are made below it (auto-queue-creation-v2.template.*,
/// leaf-template.*, parent-template.*). A path may hold "*" for any name, for the templates.
struct CapacityQueueKeys {
  CapacityQueueSettings own;
  CapacityQueueSettings children;
  CapacityQueueSettings leaves;
  CapacityQueueSettings parents;
  FL_FIELDS(own, children, leaves, parents)
};

/// One line of queue-mappings, queue-placement-rules.app-name or mapping-rule-json (CSMappingPlacementRule).
struct CapacityMappingRule {
  enum class Match : uint8_t { kAll, kUser, kGroup, kApplication };
  enum class Action : uint8_t { kPlace, kReject, kSetDefault };
  enum class Fallback : uint8_t { kSkip, kReject, kDefault };
  Match match = Match::kAll;
  std::string source;  // the user, group or application
  Action action = Action::kPlace;
  std::string target;  // a path with variables
  bool create = true;
  Fallback fallback = Fallback::kSkip;
  FL_FIELDS(match, source, action, target, create, fallback)
};

/// yarn.scheduler.capacity.ordering-policy.priority-utilization.underutilized-preemption.*
struct CapacityPriorityPreemption {
  bool enabled = false;
  int64_t reserved_delay_ms = 60000;  // reserved-container-delay-ms
  bool move_reservations = false;     // allow-move-reservation
  FL_FIELDS(enabled, reserved_delay_ms, move_reservations)
};

/// yarn.resourcemanager.monitor.capacity.preemption.*
struct CapacityPreemption {
  bool enabled = false;  // yarn.resourcemanager.scheduler.monitor.enable
  bool observe_only = false;
  bool lazy = false;  // yarn.scheduler.capacity.lazy-preemption-enabled
  int64_t monitoring_interval_ms = 3000;
  int64_t wait_before_kill_ms = 15000;
  float total_per_round = 0.1F;
  double max_ignored_over_capacity = 0.1;
  double natural_termination_factor = 0.2;
  bool count_reserved = false;       // additional_res_balance_based_on_reserved_containers
  bool select_for_reserved = false;  // select_based_on_reserved_containers
  bool conservative_drf = false;
  bool balance = false;  // preemption-to-balance-queue-after-satisfied.enabled
  int64_t balance_wait_before_kill_ms = 300000;
  bool intra_queue = false;
  float intra_queue_minimum_threshold = 0.5F;
  float intra_queue_max_allowable_limit = 0.2F;
  bool intra_queue_priority_first = false;  // preemption-order-policy; else userlimit_first
  bool intra_queue_conservative_drf = true;
  CapacityPriorityPreemption for_priority;
  FL_FIELDS(enabled, observe_only, lazy, monitoring_interval_ms, wait_before_kill_ms, total_per_round,
            max_ignored_over_capacity, natural_termination_factor, count_reserved, select_for_reserved,
            conservative_drf, balance, balance_wait_before_kill_ms, intra_queue, intra_queue_minimum_threshold,
            intra_queue_max_allowable_limit, intra_queue_priority_first, intra_queue_conservative_drf, for_priority)
};

/// The whole of a capacity-scheduler.xml over yarn-site.xml.
// Large on purpose: one field for each key that is not of one queue.
struct CapacityQueues {
  bool dominant = false;  // resource-calculator
  Resources maximum_allocation = Resources::Of(8192, 4);
  int32_t maximum_applications = 10000;
  int32_t global_queue_max_application = -1;
  float am_percent = 0.1F;
  float user_limit = 100;
  float user_limit_factor = 1;
  int32_t max_parallel_apps = INT32_MAX;
  int32_t user_max_parallel_apps = INT32_MAX;
  std::map<std::string, int32_t> max_parallel_apps_of_user;
  int32_t node_locality_delay = 40;
  int32_t rack_locality_additional_delay = -1;
  bool rack_locality_full_reset = true;
  int32_t offswitch_per_heartbeat = 1;
  bool assign_multiple = true;
  int32_t max_assign_per_heartbeat = 100;
  bool continue_looking = true;  // reservations-continue-look-all-nodes
  bool asynchronous = false;     // schedule-asynchronously.enable
  bool legacy_queue_mode = true;
  bool user_metrics = false;  // user-metrics.enable
  int32_t maximum_queue_depth = 2;
  int64_t queue_expiration_seconds = 300;
  bool mapping_override = false;
  std::vector<CapacityMappingRule> mapping;       // queue-mappings, queue-placement-rules.app-name
  std::vector<CapacityMappingRule> json_mapping;  // mapping-rule-json
  bool json_mapping_chosen = false;               // mapping-rule-format
  bool application_mapping_chosen = false;        // queue-placement-rules names app-name (3.3.x)
  CapacityPreemption preemption;
  bool workflow_override = false;  // workflow-priority-mappings-override.enable
  /// workflow-priority-mappings: by the path of a queue, then by workflow.
  std::map<std::string, std::map<std::string, int32_t>> workflow_priorities;
  std::map<std::string, CapacityQueueKeys> queues;  // by path, those not in the tree included
  /// Labels named below a path's accessible-node-labels, "" with them.
  std::map<std::string, std::set<std::string>> configured_labels;
  /// A value that is no queue's and cannot be read.
  CapacityProblem problem;
  FL_FIELDS(dominant, maximum_allocation, maximum_applications, global_queue_max_application, am_percent, user_limit,
            user_limit_factor, max_parallel_apps, user_max_parallel_apps, max_parallel_apps_of_user,
            node_locality_delay, rack_locality_additional_delay, rack_locality_full_reset, offswitch_per_heartbeat,
            assign_multiple, max_assign_per_heartbeat, continue_looking, asynchronous, legacy_queue_mode, user_metrics,
            maximum_queue_depth, queue_expiration_seconds, mapping_override, mapping, json_mapping, json_mapping_chosen,
            application_mapping_chosen, preemption, workflow_override, workflow_priorities, queues, configured_labels,
            problem)
};

}  // namespace fairlead::model
