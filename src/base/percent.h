#pragma once

#include <string>
#include <string_view>

namespace fairlead::base {

/// Undoes %XX of URLs (and "+" where `plus_is_space`); a broken escape stays as it is.
std::string PercentDecode(std::string_view text, bool plus_is_space);

}  // namespace fairlead::base
