#pragma once

#include <string>

#include "process/driver/job_driver.h"

namespace fairlead::process::driver {

/// A driver whose executors run nothing of a plan.
struct NoPlans : PlanSource {
  std::string PlanOf(const model::tasks::StageSubmitted&) override { return {}; }
};

}  // namespace fairlead::process::driver
