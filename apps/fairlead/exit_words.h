#pragma once

#include <string>

namespace fairlead::apps {

/// How a container ended, in words: Hadoop's reasons, a signal's name, or the program's own number; "" while it has
/// not.
std::string ExitWords(int status);

}  // namespace fairlead::apps
