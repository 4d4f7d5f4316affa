#pragma once

#include <memory>

#include "env/confined_files.h"

namespace fairlead::env_posix {

/// By openat2 of Linux 5.6. May be used by any thread.
std::unique_ptr<env::ConfinedFiles> MakePosixConfinedFiles();

}  // namespace fairlead::env_posix
