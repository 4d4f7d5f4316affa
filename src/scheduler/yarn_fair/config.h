#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "base/result.h"
#include "model/resources.h"

namespace fairlead::scheduler::yarn_fair {

/// Where the code does something that its own documentation, comments or names do not say, or where versions differ.
/// All true (or false) by choice of a version; each can be turned alone. Names of issues are Hadoop's (YARN-...).
struct Quirks {
  /// Before YARN-11482 (3.3.5 and older): DRF tests whether the second is below its min share with the first's usage.
  bool drf_needy_test_uses_first_usage = false;
  /// 3.3.x: root.default is made first of all and always; 3.4.x makes it only when asked for.
  bool default_queue_always = false;
  /// 3.3.x knows am.preemption.<queue> only; 3.4.x also am.preemption for all queues.
  bool am_preemption_per_queue_only = false;
  /// Locality opportunities and waiting time are reset when relaxing only, never by an allocation.
  bool locality_count_survives_allocation = true;
  /// Min-share starvation of the last application served: (pending - rest) instead of rest.
  bool min_share_leftover_inverted = true;
  /// YARN-8373: a continuous round drops nodes whose free memory equals an earlier one's.
  bool continuous_drops_equal_nodes = true;
  /// Fair shares keep the upper bound of the bisection, so their sum may exceed the total.
  bool shares_round_up = true;
  /// FIFO gives the first application the whole share and leaves stale values with the others.
  bool fifo_keeps_stale_shares = true;
  /// FSParentQueue.getDemand() drops types other than memory and vcores.
  bool parent_demand_drops_types = true;
  /// A container set apart by preemption is whatever is met on the way, not a smallest set.
  bool victims_not_minimal = true;
  /// When a runnable application leaves, as many waiting ones may start as there were lists looked at.
  bool runnability_stops_early = true;
  /// Ties end in the name as text: application_..._10000 before ..._9999. Otherwise: in the number.
  bool names_as_text = true;
  /// Percentages in minResources and maxContainerAllocation parse but have no effect.
  bool percent_minimum_ignored = true;
  /// AM usage of the old queue falls when an application moves, that of the new one does not rise.
  bool move_forgets_master_usage = true;
  /// A waiting application that may run adds its usage to its queues a second time.
  bool start_counts_usage_twice = true;
  /// A container kept for the next attempt that ends before that attempt comes is taken off its queue twice.
  bool kept_container_leaves_twice = true;
  /// The preemption thread is made before the scheduler has read the heartbeat interval, so the "four heartbeats" in
  /// the wait before the next starvation check are none.
  bool starvation_delay_without_heartbeats = true;
  /// A maximum in the new style that names no vcores ("memory-mb=2048") means (int) Long.MAX_VALUE vcores: -1.
  bool unnamed_vcores_overflow = true;
  FL_FIELDS(drf_needy_test_uses_first_usage, default_queue_always, am_preemption_per_queue_only,
            locality_count_survives_allocation, min_share_leftover_inverted, continuous_drops_equal_nodes,
            shares_round_up, fifo_keeps_stale_shares, parent_demand_drops_types, victims_not_minimal,
            runnability_stops_early, names_as_text, percent_minimum_ignored, move_forgets_master_usage,
            start_counts_usage_twice, kept_container_leaves_twice, starvation_delay_without_heartbeats,
            unnamed_vcores_overflow)
};

/// The quirks of a Hadoop version: "3.3.5", "3.3.6", or "3.4.3" (3.4.0 and later decide like it); nullopt otherwise.
std::optional<Quirks> QuirksOf(std::string_view version);

/// Hadoop's keys of the FairScheduler (yarn-site.xml), defaults as Hadoop has them.
// Large on purpose: one field for each key of the scheduler that Hadoop documents.
struct YarnFairConfig {
  model::Resources minimum_allocation = model::Resources::Of(1024, 1);  // yarn.scheduler.minimum-allocation-*
  model::Resources maximum_allocation = model::Resources::Of(8192, 4);  // yarn.scheduler.maximum-allocation-*
  model::Resources increment = model::Resources::Of(1024, 1);           // yarn.resource-types.<r>.increment-allocation
  float reservation_threshold_multiple = 2.0F;  // yarn.scheduler.reservation-threshold.increment-multiple
  bool allow_undeclared_pools = true;
  bool user_as_default_queue = true;
  bool preemption = false;
  float preemption_utilization_threshold = 0.8F;  // preemption.cluster-utilization-threshold
  bool am_preemption = true;
  std::map<std::string, bool> am_preemption_of;  // am.preemption.<queue>
  int64_t wait_before_kill_ms = 15000;
  int64_t wait_before_next_starvation_check_ms = 10000;
  int64_t nm_heartbeat_ms = 1000;  // yarn.resourcemanager.nodemanagers.heartbeat-interval-ms
  bool size_based_weight = false;
  bool assign_multiple = false;
  bool dynamic_max_assign = true;
  int32_t max_assign = -1;
  float locality_threshold_node = -1.0F;
  float locality_threshold_rack = -1.0F;
  int64_t locality_delay_node_ms = -1;
  int64_t locality_delay_rack_ms = -1;
  bool continuous = false;  // continuous-scheduling-enabled
  int64_t continuous_sleep_ms = 5;
  int64_t update_interval_ms = 500;
  float reservable_nodes = 0.05F;
  bool include_port_in_node_name = false;  // yarn.scheduler.include-port-in-node-name
  /// Asks are also capped at the largest node, as Hadoop does ten seconds after its start.
  bool cap_at_largest_node = true;
  /// Hadoop's threads (update, continuous, preemption, queue check, kill timer) run by time, from Step and
  /// NextDeadline; otherwise only Pass events run them.
  bool timed_passes = true;
  int64_t queue_check_ms = 10000;
  int64_t epoch = 0;  // of the resource manager, part of container ids
  Quirks quirks;
  FL_FIELDS(minimum_allocation, maximum_allocation, increment, reservation_threshold_multiple, allow_undeclared_pools,
            user_as_default_queue, preemption, preemption_utilization_threshold, am_preemption, am_preemption_of,
            wait_before_kill_ms, wait_before_next_starvation_check_ms, nm_heartbeat_ms, size_based_weight,
            assign_multiple, dynamic_max_assign, max_assign, locality_threshold_node, locality_threshold_rack,
            locality_delay_node_ms, locality_delay_rack_ms, continuous, continuous_sleep_ms)
};

/// The value of a Hadoop key, nullopt when it is not set.
using ConfLookup = std::function<std::optional<std::string>(const std::string& key)>;

/// Reads the keys above; an unreadable or impossible value gives an error that names the key and what to write
/// (conditions of FairScheduler.validateConf included). `all_keys` is searched for am.preemption.<queue>, whose
/// names are not known beforehand.
base::Result<YarnFairConfig> ReadConfig(const ConfLookup& lookup, std::string_view version,
                                        const std::map<std::string, std::string>& all_keys = {});

}  // namespace fairlead::scheduler::yarn_fair
