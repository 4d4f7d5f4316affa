#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fairlead::endpoints::spark {

/// A line of options cut into words as a shell does, with its quotes and backslashes (Utils.splitCommandString).
std::vector<std::string> CommandWords(std::string_view line);

}  // namespace fairlead::endpoints::spark
