#pragma once

#include <array>
#include <cstddef>

#include "model/resources.h"
#include "model/scheduler.h"
#include "scheduler/tdw/task_types.h"
#include "scheduler/tdw/tdw.h"

namespace fairlead::scheduler::tdw {

/// How large tasks are by their type, whatever their asks say, as far as the settings say so.
class Sizes {
 public:
  explicit Sizes(const TdwConfig& config);

  /// Some size is set.
  bool any() const { return any_; }
  /// The resource type that is counted and not tested; SIZE_MAX: none.
  size_t untested() const { return untested_; }
  /// The ask's size with what is set for the type; never above the largest container.
  model::Resources Of(const model::Resources& asked, TaskType type,
                      const model::scheduler::SessionTraits& session) const;

 private:
  std::array<model::Resources, kTaskTypes> set_;  // 0: what the ask says
  TdwMasterMemory master_memory_;
  model::Resources most_;
  size_t untested_;
  bool any_ = false;
};

}  // namespace fairlead::scheduler::tdw
