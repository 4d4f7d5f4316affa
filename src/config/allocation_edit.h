#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fairlead::config {

/// fair-scheduler.xml with other settings of one queue. `queue` is its full name, "root" may be left out; it and what
/// is above it are made where they are not there. Each setting is an element's name and its text; an empty text takes
/// the element out. All else stays, comments and the layout, too. Whether the outcome makes sense ParseAllocationFile
/// says. Error: not the file's form, or no name.
base::Result<std::string> EditAllocationFile(std::string_view text, std::string_view queue,
                                             const std::vector<std::pair<std::string, std::string>>& settings);

/// The lines that differ, "-" before what was and "+" before what is.
std::string LinesThatDiffer(std::string_view before, std::string_view after);

}  // namespace fairlead::config
