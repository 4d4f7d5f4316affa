#pragma once

#include <istream>
#include <sstream>
#include <string>

namespace fairlead::env_posix {

/// What can be read of a file, without an exception: an iterator over the stream throws where a file opens and its
/// reading is refused (/proc of a process that ends meanwhile or is another user's, a control group that goes away).
inline std::string ReadAll(std::istream& file) {
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace fairlead::env_posix
