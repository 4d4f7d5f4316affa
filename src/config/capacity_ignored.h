#pragma once

#include <string_view>

namespace fairlead::config {

/// What a key of Hadoop's capacity-scheduler.xml that has no effect here is ignored for.
struct IgnoredCapacityKey {
  std::string_view name;     // below yarn.scheduler.capacity., of a queue below its path
  std::string_view neutral;  // a value that asks for nothing: Hadoop's default
  std::string_view why;
};

/// Null: it is none of these. `key` in full.
const IgnoredCapacityKey* FindIgnored(std::string_view key);

}  // namespace fairlead::config
