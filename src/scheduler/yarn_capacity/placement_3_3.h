#pragma once

#include "scheduler/yarn_capacity/placement.h"

// Mapping as Hadoop 3.3.x has it: the first mapping of the user, or of one of the user's groups, decides alone
// (UserGroupMappingPlacementRule, AppNameMappingPlacementRule, QueuePlacementRuleUtils).

namespace fairlead::scheduler::yarn_capacity {

/// O(mappings).
Placement PlaceByFirstMapping(const Books& books, const model::scheduler::AppAdded& event);
/// UserGroupMappingPlacementRule.initialize, AppNameMappingPlacementRule.initialize.
CapacityProblem CheckFirstMappings(const Books& books);

}  // namespace fairlead::scheduler::yarn_capacity
