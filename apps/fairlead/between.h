#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

namespace fairlead::apps {

/// A number from `low` to `high`, as CLI::Range, which lets "nan" pass.
inline CLI::Validator Between(double low, double high) {
  const CLI::Range range(low, high);
  return CLI::Validator(
      [range](std::string& text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && std::isnan(value)) return text + " is no number";
        return range(text);
      },
      range.get_description());
}

}  // namespace fairlead::apps
