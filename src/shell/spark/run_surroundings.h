#pragma once

#include <memory>
#include <string>

#include "env/log.h"
#include "process/spark_worker/supervision.h"

namespace fairlead::shell {

/// Logs that roll, and control groups below `hierarchy` where the machine lets them be written.
std::unique_ptr<process::spark_worker::Surroundings> MakeSurroundings(env::Log& log);

/// Whether the machine enforces memory and cores of a worker's runs: empty, or the reason why it does not.
std::string WhyNoControlGroups(const std::string& hierarchy);

}  // namespace fairlead::shell
