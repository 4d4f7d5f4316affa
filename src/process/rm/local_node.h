#pragma once

#include <string>

#include "base/result.h"

namespace fairlead::process::rm {

/// Why a node whom the kernel's word makes known, and whose connection therefore begins on this machine at `peer`, may
/// not be `host`: the resolver has to lead from there to loopback or to that end. `ip`: what it says, "" of nothing.
base::Status CheckLocalNode(const std::string& host, const std::string& ip, const std::string& peer);

}  // namespace fairlead::process::rm
