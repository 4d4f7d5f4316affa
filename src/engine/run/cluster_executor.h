#pragma once

#include <string>

namespace fairlead::engine {

/// Runs an executor in its container until the driver ends it; gives the exit code: 0 dismissed, 1 failed or lost its
/// driver. `executor_id` as the driver named it.
int RunClusterExecutor(const std::string& executor_id);

}  // namespace fairlead::engine
