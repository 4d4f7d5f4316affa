#pragma once

#include <string>

#include "base/result.h"
#include "process/nm/ports.h"
#include "shell/nm/beneath.h"
#include "shell/nm/orders.h"
#include "shell/nm/supervisor.h"

namespace fairlead::shell {

/// What a plan means for the container's first process and for the helper. Touches nothing.
ContainerSetup SetupOf(const process::nm::LaunchPlan& plan);
Order OrderOf(const process::nm::LaunchPlan& plan);
/// A container's log directory as a place below the node's.
Place LogPlace(const std::string& log_dir);

/// Makes the supervisor's directory ready for a start and gives its lock, held. `log_dir` is remembered for the end.
base::Result<Fd> PrepareControl(const std::string& control, const SupervisorSpec& spec, const std::string& log_dir);
/// The log directory that was remembered.
std::string RememberedLogDir(const std::string& control);
/// Counts how often the container was searched for and had never run: each time the agent ended between taking the
/// start and its container's first step. Gives the new count.
int64_t CountLostStart(const std::string& control);
/// The lock of an earlier start; an error when there was none.
base::Result<Fd> OpenControlLock(const std::string& control);
/// A connection to the supervisor that listens in the directory.
base::Result<Fd> ConnectToSupervisor(const std::string& control);

}  // namespace fairlead::shell
