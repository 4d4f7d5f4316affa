#pragma once

#include <string>

namespace fairlead::base {

/// One configuration key, for people.
struct Setting {
  std::string key;       // "yarn.x.*": all that begin so
  std::string fallback;  // what counts when the key is not set
  std::string meaning;
};

}  // namespace fairlead::base
