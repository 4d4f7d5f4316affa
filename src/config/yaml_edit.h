#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fairlead::config {

/// Fairlead's own YAML with other settings of one queue; names as in EditAllocationFile. A value is written as YAML, on
/// one line: "3", "{memory: 4GiB, vcores: 4}". All else stays as it is written. Error: not YAML, a value that is none,
/// or a layout that is not changed safely (an anchor, a text over several lines): the whole is read again, and has to
/// say what was asked for and nothing else.
base::Result<std::string> EditFairleadYaml(std::string_view text, std::string_view queue,
                                           const std::vector<std::pair<std::string, std::string>>& settings);

}  // namespace fairlead::config
