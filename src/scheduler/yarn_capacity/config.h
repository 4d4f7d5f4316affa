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
struct Quirks {
  /// 3.5.0: an ask is held against the headroom before the node's partition is looked at, so that one for another
  /// partition ends the leaf's turn (RegularContainerAllocator.preCheckRequest).
  bool headroom_before_partition = false;
  /// 3.3.x: weights, vectors and queues made on demand are not known; a weight is no number (YARN-10504, YARN-11000).
  bool percentages_only = false;
  /// 3.3.x: a user limit factor of -1 is a factor like others (YARN-10531).
  bool factor_may_be_negative = false;
  /// 3.3.x: headroom and maxima of queues are compared by dominant share, not type by type (YARN-10903, YARN-11083).
  bool limits_by_dominant_share = false;
  /// 3.3.x: a queue whose maximum is below its capacity is refused (YARN-10807).
  bool maximum_below_capacity_refused = false;
  /// 3.3.x: how many applications a leaf takes goes by the default partition alone (YARN-10657).
  bool maximum_applications_of_default_partition = false;
  /// 3.3.x: masters never go to nodes of a shared partition (YARN-10854).
  bool masters_never_on_shared_partitions = false;
  /// 3.3.x: the first mapping of the submission's user or group decides, whether its queue is there or not; otherwise
  /// the submission goes where it says (UserGroupMappingPlacementRule, AppNameMappingPlacementRule; YARN-10486).
  bool first_mapping_decides = false;
  /// 3.3.x: what a queue may have at most in a pass is rounded down to the minimum allocation.
  bool maximum_rounded_down = false;
  /// 3.3.x: a refused reload stops where it is; the old file is not read again.
  bool refused_reload_stays = false;
  FL_FIELDS(headroom_before_partition, percentages_only, factor_may_be_negative, limits_by_dominant_share,
            maximum_below_capacity_refused, maximum_applications_of_default_partition,
            masters_never_on_shared_partitions, first_mapping_decides, maximum_rounded_down, refused_reload_stays)
};

/// The quirks of a Hadoop version: "3.3.6", "3.4.3" (3.4.0 and later decide like it) or "3.5.0"; nullopt otherwise.
std::optional<Quirks> QuirksOf(std::string_view version);

/// Keys of yarn-site.xml that the scheduler reads once, at its start; defaults as Hadoop has them.
struct YarnCapacityConfig {
  model::Resources minimum_allocation = model::Resources::Of(1024, 1);  // yarn.scheduler.minimum-allocation-*
  int32_t max_application_priority = 0;                                 // yarn.cluster.max-application-priority
  bool node_labels = false;                                             // yarn.node-labels.enabled
  bool masters_on_shared_partitions = false;  // yarn.resourcemanager.node-labels.am.allow-non-exclusive-allocation
  bool include_port_in_node_name = false;     // yarn.scheduler.include-port-in-node-name
  /// Asks are also capped at the largest node, as Hadoop does ten seconds after its start.
  bool cap_at_largest_node = true;
  /// The preemption monitor and the removal of idle queues run by time, from Step and NextDeadline; otherwise only
  /// Pass events run them.
  bool timed_passes = true;
  int64_t epoch = 0;  // of the resource manager, part of container ids
  Quirks quirks;
  FL_FIELDS(minimum_allocation, max_application_priority, node_labels, masters_on_shared_partitions,
            include_port_in_node_name, cap_at_largest_node, timed_passes, epoch, quirks)
};

/// Reads the keys above; an unreadable or impossible value gives an error that names the key and what to write.
base::Result<YarnCapacityConfig> ReadConfig(const std::map<std::string, std::string>& keys, std::string_view version);

}  // namespace fairlead::scheduler::yarn_capacity
