#pragma once

#include <vector>

#include "config/keys.h"

namespace fairlead::shell {

/// Keys that every daemon of YARN reads, each by the code that needs it, for people.
std::vector<config::Setting> CommonKeys();

}  // namespace fairlead::shell
