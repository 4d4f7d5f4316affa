#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/yarn_capacity/books.h"

namespace fairlead::scheduler::yarn_capacity {

struct Priority {
  int32_t value = 0;
  bool allowed = true;
};

/// Whom acl_application_max_priority is asked about.
struct PriorityUser {
  const std::string& name;
  const std::vector<std::string>& groups;
};

/// The priority of an application in a queue that is named so, and whether the user may have it
/// (CapacityScheduler.checkAndGetApplicationPriority). `asked`: none where the submission says none.
Priority PriorityFor(const Books& books, std::optional<int32_t> asked, const std::string& queue,
                     const PriorityUser& user);

/// The priority that the workflow of these tags has in the leaf or the nearest queue above it that names it
/// (WorkflowPriorityMappingsManager); none: what the submission has stays.
std::optional<int32_t> WorkflowPriority(const Books& books, const std::vector<std::string>& tags, QueueId leaf);

}  // namespace fairlead::scheduler::yarn_capacity
