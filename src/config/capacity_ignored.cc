#include "config/capacity_ignored.h"

#include <algorithm>
#include <iterator>

namespace fairlead::config {

namespace {

constexpr std::string_view kNoPlans = "nothing is planned ahead";
constexpr std::string_view kNoThreads = "a pass of asynchronous scheduling is one step, without threads or a backlog";
constexpr std::string_view kNoSorting = "nodes are offered as their heartbeats come";

// docs/scheduler-yarn-capacity.md has them, too; a test holds that table against Hadoop's names.
constexpr IgnoredCapacityKey kOfAll[] = {
    {"schedule-asynchronously.maximum-threads", "1", kNoThreads},
    {"schedule-asynchronously.maximum-pending-backlogs", "100", kNoThreads},
    {"schedule-asynchronously.scheduling-interval-ms", "5", kNoThreads},
    {"queue.auto.refresh.monitoring-interval", "5000", "yarn rmadmin -refreshQueues refreshes"},
    {"multi-node-sorting.policy", "", kNoSorting},
    {"multi-node-sorting.policy.names", "", kNoSorting},
    {"skip-allocate-on-nodes-with-reserved-containers", "false", "asynchronous passes look at reserved nodes"},
    {"application.fail-fast", "false", "an application whose queue is gone at a restart is ended and named"},
};
constexpr IgnoredCapacityKey kOfQueues[] = {
    {"acl_administer_reservations", "*", kNoPlans},
    {"acl_list_reservations", "*", kNoPlans},
    {"acl_submit_reservations", "*", kNoPlans},
    {"reservation-window", "", kNoPlans},
    {"average-capacity", "", kNoPlans},
    {"instantaneous-max-capacity", "", kNoPlans},
    {"reservation-policy", "", kNoPlans},
    {"reservation-agent", "", kNoPlans},
    {"show-reservations-as-queues", "false", kNoPlans},
    {"reservation-planner", "", kNoPlans},
    {"reservation-move-on-expiry", "", kNoPlans},
    {"reservation-enforcement-window", "", kNoPlans},
    {"multi-node-sorting.policy", "", kNoSorting},
};

/// Of each policy that multi-node-sorting.policy.names has.
constexpr IgnoredCapacityKey kOfSortingPolicies = {"multi-node-sorting.policy.", "", kNoSorting};

bool IsOfSortingPolicy(std::string_view key) {
  return key.starts_with(kOfSortingPolicies.name) && (key.ends_with(".class") || key.ends_with(".sorting-interval.ms"));
}

}  // namespace

const IgnoredCapacityKey* FindIgnored(std::string_view key) {
  constexpr std::string_view kSchedulerPrefix = "yarn.scheduler.capacity.";
  if (!key.starts_with(kSchedulerPrefix)) return nullptr;
  key.remove_prefix(kSchedulerPrefix.size());
  if (key.starts_with("root.")) {
    const auto ends = [key](const IgnoredCapacityKey& one) {
      return key.size() > one.name.size() && key.ends_with(one.name) && key[key.size() - one.name.size() - 1] == '.';
    };
    const auto* found = std::find_if(std::begin(kOfQueues), std::end(kOfQueues), ends);
    return found == std::end(kOfQueues) ? nullptr : found;
  }
  if (IsOfSortingPolicy(key)) return &kOfSortingPolicies;
  const auto* found = std::find_if(std::begin(kOfAll), std::end(kOfAll),
                                   [key](const IgnoredCapacityKey& one) { return one.name == key; });
  return found == std::end(kOfAll) ? nullptr : found;
}

}  // namespace fairlead::config
