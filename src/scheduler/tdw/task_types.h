#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::scheduler::tdw {

enum class TaskType : uint8_t { kJobtracker, kMap, kReduce };
inline constexpr size_t kTaskTypes = 3;
inline constexpr TaskType kTypes[] = {TaskType::kJobtracker, TaskType::kMap, TaskType::kReduce};
constexpr size_t At(TaskType type) { return static_cast<size_t>(type); }

constexpr std::string_view EnumName(TaskType type) {
  switch (type) {
    case TaskType::kJobtracker:
      return "jobtracker";
    case TaskType::kMap:
      return "map";
    case TaskType::kReduce:
      return "reduce";
  }
  return "?";
}

/// Tasks of each type.
using Counts = std::array<int64_t, kTaskTypes>;

}  // namespace fairlead::scheduler::tdw
