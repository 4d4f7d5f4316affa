#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/time.h"
#include "model/access_list.h"
#include "model/capacity_queues.h"
#include "model/resources.h"
#include "model/wishes.h"

// The queue configuration of a scheduler: what fair-scheduler.xml says, parsed and checked (config/allocation_file.h),
// before defaults are inherited. Names of settings are Hadoop's (AllocationFileLoaderService, AllocationFileParser).

namespace fairlead::model {

enum class OrderPolicy : uint8_t { kFair, kDrf, kFifo };

/// A resource amount per type, absolute or in per cent of the cluster, as maxResources and minResources allow.
struct ConfiguredResources {
  /// Absolute amounts; a type not named keeps `unnamed`.
  std::map<std::string, int64_t> absolute;
  /// Per cent of the cluster per type name; "*" stands for every type.
  std::map<std::string, double> percent;
  /// Value of types that are not named: 0 for minima, INT64_MAX for maxima.
  int64_t unnamed = 0;
  FL_FIELDS(absolute, percent, unnamed)
};

/// One <queue> or <pool>, by its full name ("root.a.b"). Values not set are inherited or defaulted by the profile.
struct QueueConfig {
  std::string name;
  bool parent_type = false;  // type="parent", or has child elements
  std::optional<double> weight;
  std::optional<ConfiguredResources> min_resources;
  std::optional<ConfiguredResources> max_resources;
  std::optional<ConfiguredResources> max_child_resources;
  std::optional<ConfiguredResources> max_container_allocation;
  std::optional<int32_t> max_running_apps;
  std::optional<double> max_am_share;
  std::optional<std::string> policy;
  std::optional<base::Duration> min_share_preemption_timeout;
  std::optional<base::Duration> fair_share_preemption_timeout;
  std::optional<double> fair_share_preemption_threshold;
  std::optional<bool> allow_preemption_from;
  std::optional<AccessList> submit_acl;
  std::optional<AccessList> administer_acl;
  std::optional<AccessList> reservation_acl;
  bool reservable = false;
  // Fairlead's own, for `tdw`: Hadoop ignores them.
  std::optional<int32_t> priority;    // larger comes first
  std::optional<int64_t> start_time;  // milliseconds since 1970; the earlier comes first
  // Node labels (`yarn-capacity`).
  std::vector<std::string> labels{};  // that its applications may ask for; "*": all
  std::string default_label{};        // that asks without one get
  FL_FIELDS(name, parent_type, weight, min_resources, max_resources, max_child_resources, max_container_allocation,
            max_running_apps, max_am_share, policy, min_share_preemption_timeout, fair_share_preemption_timeout,
            fair_share_preemption_threshold, allow_preemption_from, submit_acl, administer_acl, reservation_acl,
            reservable, priority, start_time, labels, default_label)
};

/// One rule of <queuePlacementPolicy>; `parent` holds the nested rule of nestedUserQueue and the like, at most one.
struct PlacementRule {
  std::string name;  // "specified", "user", "primaryGroup", "secondaryGroupExistingQueue", "nestedUserQueue",
                     // "default", "reject"
  bool create = true;
  std::string queue;  // of "default"
  std::vector<PlacementRule> parent;
  FL_FIELDS(name, create, queue, parent)
};

/// The whole of the queues' file.
struct QueueTree {
  /// In the order of the file; parents are listed too when they carry settings.
  std::vector<QueueConfig> queues;
  std::map<std::string, int32_t> user_max_apps;
  std::optional<int32_t> user_max_apps_default;
  std::optional<int32_t> queue_max_apps_default;
  std::optional<ConfiguredResources> queue_max_resources_default;
  std::optional<double> queue_max_am_share_default;
  std::optional<base::Duration> default_min_share_preemption_timeout;
  std::optional<base::Duration> default_fair_share_preemption_timeout;
  std::optional<double> default_fair_share_preemption_threshold;
  std::optional<std::string> default_policy;
  /// Absent: the default policy of the configuration keys applies.
  std::optional<std::vector<PlacementRule>> placement;
  /// Not from the file: switches that a refresh brings along with it.
  Wishes wishes;
  /// How many applications of a group's users run, in all queues together.
  std::map<std::string, int32_t> group_max_apps;
  /// What the containers of a user, or of a group's users, may use in all queues together.
  std::map<std::string, ConfiguredResources> user_max_resources;
  std::map<std::string, ConfiguredResources> group_max_resources;
  std::optional<ConfiguredResources> user_max_resources_default;
  /// What a capacity-scheduler.xml says; `queues` has then what every profile knows of a queue: name, lists, largest
  /// container. Only `yarn-capacity` reads it.
  std::optional<CapacityQueues> capacity;
  FL_FIELDS(queues, user_max_apps, user_max_apps_default, queue_max_apps_default, queue_max_resources_default,
            queue_max_am_share_default, default_min_share_preemption_timeout, default_fair_share_preemption_timeout,
            default_fair_share_preemption_threshold, default_policy, placement, wishes, group_max_apps,
            user_max_resources, group_max_resources, user_max_resources_default, capacity)
};

}  // namespace fairlead::model
