#pragma once

#include <string_view>

namespace fairlead::process::rm {

/// `queue` is `above`, or below it; full names.
inline bool AtOrBelow(std::string_view queue, std::string_view above) {
  return queue == above || (queue.size() > above.size() && queue.starts_with(above) && queue[above.size()] == '.');
}

}  // namespace fairlead::process::rm
