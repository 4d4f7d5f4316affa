#pragma once

#include <cstdint>

namespace fairlead::engine {

/// Which way a sort goes.
enum class SortDirection : uint8_t { kAscending, kDescending };

/// How many partitions a dataset is to have. Without a number the engine chooses: one a slot of the executors, three
/// where files are read, and where its input lies by key already as many as that has.
struct Partitions {
  int32_t count = 0;

  Partitions() = default;
  explicit Partitions(int32_t wanted) : count(wanted) {}
};

}  // namespace fairlead::engine
