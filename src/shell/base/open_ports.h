#pragma once

#include <string>
#include <vector>

#include "env/net.h"

namespace fairlead::shell {

/// One line for the log when any of `listeners` is reached from beyond this host and nobody is asked who he is:
/// addresses, and what whoever reaches them can do (`means`). Else "".
std::string OpenPortsWarning(const std::vector<env::Endpoint>& listeners, const std::string& means);

}  // namespace fairlead::shell
