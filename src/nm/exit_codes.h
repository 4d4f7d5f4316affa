#pragma once

#include "model/nm.h"

namespace fairlead::nm {

/// The exit codes that Hadoop takes for an end by signal (ContainerExecutor.ExitCode).
inline bool EndedBySignal(int32_t exit_code) {
  return exit_code == model::kExitForceKilled || exit_code == model::kExitTerminated;
}

}  // namespace fairlead::nm
