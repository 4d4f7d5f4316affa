#pragma once

#include <set>
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
/// Rules whose targets cannot be (MappingRule.validate): Hadoop's words of the first, then those of the others, a line
/// each.
CapacityProblem CheckMapping(const Books& books);

/// What is wrong with several rules: the first fault, and a line for each other one, 20 at most.
class RuleFaults {
 public:
  void Add(const CapacityProblem& fault);
  const CapacityProblem& all() const { return all_; }

 private:
  CapacityProblem all_;
  std::set<std::string> told_;
};

}  // namespace fairlead::scheduler::yarn_capacity
