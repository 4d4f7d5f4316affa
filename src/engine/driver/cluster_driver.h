#pragma once

#include <functional>

namespace fairlead::engine {

class Session;

/// True in a master's container (job_environment.h).
bool InMasterContainer();

/// The driver as YARN application master: registers, gets executors, runs `program` on this thread, says the final
/// status. Gives the exit code.
int RunClusterDriver(const std::function<void(Session&)>& program);

}  // namespace fairlead::engine
