#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fairlead::process::rm {

/// Settings of one queue to be changed in the file that holds them: names as in that file, an empty value takes the
/// setting out.
struct QueueChange {
  std::string queue;
  std::vector<std::pair<std::string, std::string>> settings;
  std::string in{};  // this text of a file, which others have changed before; empty: the file as it is
};

struct QueueEdit {
  std::string file;
  std::string before;
  std::string after;
};

}  // namespace fairlead::process::rm
