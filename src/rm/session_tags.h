#pragma once

#include <string>
#include <vector>

#include "model/scheduler.h"

namespace fairlead::rm {

/// What an application's tags say to profile `tdw`: "fairlead.not-preemptable", "fairlead.maps=N",
/// "fairlead.reduces=N". Others, and numbers that are none, say nothing. YARN's clients write tags in small letters.
model::scheduler::SessionTraits TraitsOf(const std::vector<std::string>& tags);

}  // namespace fairlead::rm
