#pragma once

#include <string>

namespace fairlead::base {

/// Float.toString and Double.toString of Java: the shortest digits that read back as the same number ("1.0", "1.0E10").
std::string JavaFloat(float value);
std::string JavaDouble(double value);

}  // namespace fairlead::base
