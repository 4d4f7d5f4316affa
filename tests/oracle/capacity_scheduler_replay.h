#pragma once

#include "oracle/oracle.h"

namespace fairlead::oracle {

/// Drives the production yarn-capacity core through a recorded scenario and compares every step with the trace of the
/// real CapacityScheduler. `check_invariants`: also recomputes all sums after each step.
Difference ReplayCapacityScheduler(const nlohmann::json& scenario, const std::vector<nlohmann::json>& expected,
                                   const std::string& version, const std::string& trace_version, bool check_invariants);

/// Where traces of a version are looked for, in order.
std::vector<std::string> CapacitySchedulerVersions(const std::string& version);

}  // namespace fairlead::oracle
