#pragma once

#include <string>
#include <string_view>

#include "model/measured_use.h"

namespace fairlead::model {

/// What our daemons tell each other of a measured use: "milli-cores physical-bytes disk-bytes network-bytes disk-busy";
/// -1: not known.
std::string ToText(const MeasuredUse& use);
/// Amounts that no machine has, those that are left out at the end, and text that is none, are unknown; what follows
/// the last amount is passed over.
MeasuredUse ParseUse(std::string_view text);

}  // namespace fairlead::model
