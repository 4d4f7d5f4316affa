#pragma once

#include <memory>
#include <string>

#include "env/log.h"

namespace fairlead::shell {

/// A log of one daemon on stderr or in a file (rotated at 64 MiB, 5 kept): "2026-01-31T12:00:00.123Z INFO rm what
/// key=value". Lines of one text that repeat within a second are counted instead of written; of warnings with one
/// sentence more than 100 in ten seconds are, since strangers may cause some.
std::unique_ptr<env::Log> MakeLog(const std::string& daemon, const std::string& file, env::LogLevel level);

}  // namespace fairlead::shell
