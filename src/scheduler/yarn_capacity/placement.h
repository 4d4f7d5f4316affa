#pragma once

#include <string>

#include "scheduler/yarn_capacity/books.h"
#include "scheduler/yarn_capacity/setup.h"

// Which queue a submission goes to, by the mapping rules (CSMappingPlacementRule and placement/csmappingrule).

namespace fairlead::scheduler::yarn_capacity {

struct Placement {
  bool rejected = false;
  std::string path;  // empty: the rules say nothing
};

Placement Place(const Books& books, const model::scheduler::AppAdded& event);
/// Rules whose targets cannot be (MappingRule.validate).
CapacityProblem CheckMapping(const Books& books);

}  // namespace fairlead::scheduler::yarn_capacity
