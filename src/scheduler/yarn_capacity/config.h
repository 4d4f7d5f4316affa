#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "base/result.h"
#include "model/resources.h"

namespace fairlead::scheduler::yarn_capacity {

/// Where Hadoop's releases decide differently. Each can be turned alone. Names of issues are Hadoop's (YARN-...).
// Large on purpose: one field for each difference.
struct Quirks {
  /// 3.5.0: an ask is held against the headroom before the node's partition is looked at, so that one for another
  /// partition ends the leaf's turn (RegularContainerAllocator.preCheckRequest).
  bool headroom_before_partition = false;
  /// 3.5.0: a leaf passes over an attempt that it still lists and that has left it
  /// (AbstractLeafQueue.assignContainers).
  bool departed_passed_over = false;
  /// 3.3.x: weights, vectors and queues made on demand are not known; a weight is no number (YARN-10504, YARN-11000).
  bool percentages_only = false;
  /// 3.3.x: a user limit factor of -1 is a factor like others (YARN-10531).
  bool factor_may_be_negative = false;
  /// 3.3.x: whether an ask is within the headroom goes by dominant share, not type by type (YARN-10903).
  bool limits_by_dominant_share = false;
  /// 3.3.x: whether a node has room for the minimum allocation goes by dominant share in the parents' check
  /// (ParentQueue.canAssign).
  bool node_room_by_dominant_share = false;
  /// 3.3.x: a queue whose maximum is below its capacity is refused (YARN-10807).
  bool maximum_below_capacity_refused = false;
  /// 3.3.x: how many applications a leaf takes is worked out as its keys are read, from its share of the default
  /// partition; of leaves with amounts again with the amounts, the last partition deciding (YARN-10657).
  bool maximum_applications_at_setup = false;
  /// 3.3.x: masters never go to nodes of a shared partition (YARN-10854).
  bool masters_never_on_shared_partitions = false;
  /// 3.3.x: the first mapping of the submission's user or group decides, whether its queue is there or not; otherwise
  /// the submission goes where it says (UserGroupMappingPlacementRule, AppNameMappingPlacementRule; YARN-10486).
  bool first_mapping_decides = false;
  /// 3.3.x: what a child may use is cut to its own maximum, later to that of its parent (YARN-11083).
  bool child_limits_by_own_maximum = false;
  /// 3.3.x: a parent works out what its children have, of the partitions that it has keys for itself
  /// (ParentQueue.calculateEffectiveResourcesAndCapacity; YARN-10965).
  bool amounts_by_parent = false;
  /// 3.3.x: the root has the partitions of its own keys alone, later those of all queues.
  bool root_labels_are_its_own = false;
  /// 3.3.x: the share of a parent that has nothing may be infinite, later it is 0.
  bool shares_may_be_infinite = false;
  /// 3.3.x: amounts are worked out as nodes come, not at the start (CapacitySchedulerQueueManager.initializeQueues).
  bool start_computes_nothing = false;
  /// 3.3.x: whether a queue's labels are its parent's is looked at after its capacities and its state, not before.
  bool labels_checked_late = false;
  /// 3.3.x: an amount of nothing is read as a percentage (AbstractCSQueue.updateConfigurableResourceRequirement).
  bool zero_amount_is_percentage = false;
  /// 3.3.x: percentages and amounts of a parent's children are checked together, label by label, and may mix below the
  /// root; a reload checks them as it reads them, not again (ParentQueue.setChildQueues; YARN-10504).
  bool children_checked_together = false;
  /// 3.3.x: a reload activates a leaf's applications as soon as its keys are read, when its limit is the cluster.
  bool reload_activates_at_once = false;
  /// 3.3.x: a leaf becomes a parent only where its own key says STOPPED, not where the queue above it does.
  bool conversion_by_state_key = false;
  /// 3.3.x: users of a leaf that is guaranteed nothing may have the minimum allocation times the factor, later up to
  /// the leaf's maximum (UsersManager.computeUserLimit).
  bool factor_of_nothing_counts = false;
  /// 3.3.x: minimum-user-limit-percent is a whole number.
  bool whole_user_limit_percent = false;
  /// 3.3.x: limits of users are keys of each queue alone, there is none for all queues (YARN-10928).
  bool no_user_limits_for_all = false;
  /// 3.3.x: among queues that use the same, configured minima decide only where both have one, later where one has.
  bool ties_by_both_minima = false;
  /// 3.3.x: a preemption round leaves what a queue is offered of a type alone where nobody is guaranteed any of it
  /// (YARN-11073).
  bool offers_of_unguaranteed_types_stay = false;
  /// 3.3.x: a preemption round fails over an application of a user that its leaf has forgotten.
  bool forgotten_users_fail_rounds = false;
  /// 3.3.x: a refused reload stops where it is; the old file is not read again.
  bool refused_reload_stays = false;
  FL_FIELDS(headroom_before_partition, percentages_only, factor_may_be_negative, limits_by_dominant_share,
            node_room_by_dominant_share, maximum_below_capacity_refused, maximum_applications_at_setup,
            masters_never_on_shared_partitions, first_mapping_decides, child_limits_by_own_maximum, amounts_by_parent,
            root_labels_are_its_own, shares_may_be_infinite, start_computes_nothing, labels_checked_late,
            zero_amount_is_percentage, children_checked_together, reload_activates_at_once, conversion_by_state_key,
            factor_of_nothing_counts, whole_user_limit_percent, no_user_limits_for_all, ties_by_both_minima,
            offers_of_unguaranteed_types_stay, forgotten_users_fail_rounds, refused_reload_stays, departed_passed_over)
};

/// The quirks of a Hadoop version: "3.3.6", "3.4.3" (3.4.0 and later decide like it) or "3.5.0"; nullopt otherwise.
std::optional<Quirks> QuirksOf(std::string_view version);

/// Keys of yarn-site.xml that the scheduler reads once, at its start; defaults as Hadoop has them.
struct YarnCapacityConfig {
  model::Resources minimum_allocation = model::Resources::Of(1024, 1);  // yarn.scheduler.minimum-allocation-*
  int32_t max_application_priority = 0;                                 // yarn.cluster.max-application-priority
  bool access_lists = false;                                            // yarn.acl.enable
  std::string workflow_tag = "workflowid:";                             // yarn.workflow-id.tag-prefix
  bool node_labels = false;                                             // yarn.node-labels.enabled
  bool masters_on_shared_partitions = false;  // yarn.resourcemanager.node-labels.am.allow-non-exclusive-allocation
  bool include_port_in_node_name = false;     // yarn.scheduler.include-port-in-node-name
  /// Asks are also capped at the largest node, as Hadoop does ten seconds after its start.
  bool cap_at_largest_node = true;
  /// The preemption monitor and the removal of idle queues run by time, from Step and NextDeadline; otherwise only
  /// Pass events run them.
  bool timed_passes = true;
  int64_t epoch = 0;  // of the resource manager, part of container ids
  int64_t seed = 1;   // of the nodes at which passes of asynchronous scheduling start
  Quirks quirks;
  FL_FIELDS(minimum_allocation, max_application_priority, access_lists, workflow_tag, node_labels,
            masters_on_shared_partitions, include_port_in_node_name, cap_at_largest_node, timed_passes, epoch, seed,
            quirks)
};

/// Reads the keys above; an unreadable or impossible value gives an error that names the key and what to write.
base::Result<YarnCapacityConfig> ReadConfig(const std::map<std::string, std::string>& keys, std::string_view version);

}  // namespace fairlead::scheduler::yarn_capacity
