#pragma once

#include <string>

#include "base/result.h"
#include "env/log.h"

namespace fairlead::shell {

/// Makes a daemon's state directory, of this user alone, and warns of files in it that were open to others
/// (env_posix/private_dir.h).
base::Status MakeStateDirectory(const std::string& path, env::Log& log);

}  // namespace fairlead::shell
