#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fairlead::base {

/// The one of `known` that `name` differs from in a few letters, or "". Names of more than 100 bytes are near nothing.
std::string Nearest(std::string_view name, const std::vector<std::string>& known);

/// The end of a sentence about a name that is unknown: "; did you mean 'NEAR'?", else "; known here: A, B, C" (the
/// first ones), else "".
std::string DidYouMean(std::string_view name, const std::vector<std::string>& known);

}  // namespace fairlead::base
