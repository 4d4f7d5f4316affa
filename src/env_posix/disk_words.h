#pragma once

#include <string>

namespace fairlead::env_posix {

/// An errno of the file `path` in an operator's words: a full disk with what is free, a read-only one, a failing one;
/// anything else as the system says it.
std::string DiskWords(const std::string& path, int error);

}  // namespace fairlead::env_posix
