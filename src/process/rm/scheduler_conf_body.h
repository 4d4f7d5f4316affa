#pragma once

#include <string_view>

#include "base/result.h"
#include "config/capacity_change.h"

namespace fairlead::process::rm {

/// dao/SchedConfUpdateInfo, in the shapes that JAXB takes: one value or a list of them, null for none, and the last of
/// several texts where there can be one. Of several maps Hadoop drops all but the last; here all count. An Error names
/// what else the body holds: Hadoop does nothing about that, and says that the change is made.
base::Result<config::CapacityChange> ConfChangeOf(std::string_view content_type, std::string_view body);

}  // namespace fairlead::process::rm
