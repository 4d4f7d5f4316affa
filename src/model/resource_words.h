#pragma once

#include <string>

#include "model/resources.h"

namespace fairlead::model {

/// As people say it: "1024 MiB and 1 core", "1024 MiB, 1 core and 2 yarn.io/gpu"; "any" where there is no bound.
std::string InWords(const Resources& resources);

}  // namespace fairlead::model
