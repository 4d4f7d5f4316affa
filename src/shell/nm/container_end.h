#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "shell/nm/errand.h"

namespace fairlead::shell {

/// What Hadoop's ContainerLaunch says of an exit code; `tails` are the ends of the error files, "" where there are
/// none.
std::string ExitText(const model::ContainerId& id, int code, const std::string& tails);
/// Whether ExitText wants the ends of error files.
bool WantsErrorTails(int code);
std::string LaunchFailureText(const model::ContainerId& id, int code, const std::string& why);

/// The ends of prelaunch.err and of the youngest file that matches {*stderr*,*STDERR*}
/// (yarn.nodemanager.container.stderr.pattern), in Hadoop's words. An errand's work, as the container's user.
std::string ErrorTails(const Place& log_dir, int64_t bytes_max);

/// Kills what carries the variable or is in one of the control groups, as far as this process may, until nothing is
/// left or a second is over. An errand's work: when a supervisor was killed itself.
void SweepStrays(const std::string& variable, const std::vector<std::string>& cgroups);

}  // namespace fairlead::shell
