#pragma once

#include <functional>
#include <map>
#include <string>

namespace fairlead::engine {

class Session;

/// True in a master's container (engine/settings/job_settings.h).
bool InMasterContainer();

/// The driver as YARN application master: registers, gets executors, runs `program` on this thread, says the final
/// status. `spark`: what the program itself sets, over what submit said. Gives the exit code.
int RunClusterDriver(const std::map<std::string, std::string>& spark, const std::function<void(Session&)>& program);

}  // namespace fairlead::engine
