#pragma once

#include <string>
#include <vector>

#include "model/capacity_queues.h"

namespace fairlead::config {

/// queue-mappings and queue-placement-rules.app-name (CapacitySchedulerConfiguration.parseLegacyMappingRules). A
/// problem leaves the rules as they are.
model::CapacityProblem ReadLegacyMapping(const std::string& by_user_and_group, const std::string& by_application,
                                         std::vector<model::CapacityMappingRule>& rules);

/// mapping-rule-json (MappingRuleCreator).
model::CapacityProblem ReadJsonMapping(const std::string& json, std::vector<model::CapacityMappingRule>& rules);

}  // namespace fairlead::config
