#pragma once

#include <optional>

#include "env/own_process.h"

namespace fairlead::env_posix {

/// From /proc/self; nothing where that cannot be read. Cost: a listing of the open files, some microseconds a hundred.
std::optional<env::OwnProcess> ReadOwnProcess();

}  // namespace fairlead::env_posix
