#pragma once

#include <cstddef>
#include <cstdint>

namespace fairlead::scheduler::native {

inline constexpr int64_t kUnlimited = int64_t{1} << 60;
/// Bound of every sum of one resource type over the cluster, of one application's pending asks included.
inline constexpr int64_t kLargestSum = int64_t{1} << 46;
inline constexpr int64_t kWeightOne = int64_t{1} << 16;
inline constexpr int64_t kLargestWeight = int64_t{1} << 34;
/// Of a queue; either sign.
inline constexpr int32_t kLargestPriority = 1'000'000;
/// Longest name of a queue, user, host, rack or label from outside.
inline constexpr size_t kLongestName = 1024;

}  // namespace fairlead::scheduler::native
