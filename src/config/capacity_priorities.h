#pragma once

#include <string>

#include "model/capacity_queues.h"

namespace fairlead::config {

/// acl_application_max_priority (AppPriorityACLConfigurationParser): what stands outside brackets says nothing. `key`:
/// for the sentence of a problem.
model::CapacityPriorityAccess ReadPriorityAccess(const std::string& key, const std::string& text);

/// workflow-priority-mappings (WorkflowPriorityMappingsManager). A problem leaves `queues` as they are.
model::CapacityProblem ReadWorkflowPriorities(const std::string& text, model::CapacityQueues& queues);

}  // namespace fairlead::config
