#pragma once

#include <string>

namespace fairlead::apps {

/// How a container ended, in words: Hadoop's reasons, a signal's name, or the program's own number; "" while it has
/// not.
std::string ExitWords(int status);
/// With what was said of it.
std::string ExitWords(int status, std::string said);

}  // namespace fairlead::apps
