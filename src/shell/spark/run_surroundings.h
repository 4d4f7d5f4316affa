#pragma once

#include <memory>
#include <string>

#include "env/log.h"
#include "process/spark_worker/supervision.h"

namespace fairlead::shell {

/// Logs that roll, and control groups below `hierarchy` where the machine lets them be written.
std::unique_ptr<process::spark_worker::Surroundings> MakeSurroundings(env::Log& log);

/// Whether the machine enforces memory and cores of what a worker runs: empty, or what stands against it.
std::string WhyNoControlGroups(const std::string& hierarchy);

}  // namespace fairlead::shell
