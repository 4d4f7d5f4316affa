#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fairlead::scheduler {

/// One taker: its share is min(max(weight * x, low), high).
struct FillItem {
  int64_t weight = 0;  // below 2^34; 0 takes only `low`, and what nobody else can take
  int64_t low = 0;     // 0..2^46
  int64_t high = 0;    // 0..2^46; below `low` it wins over it
};

/// What to do when the lower bounds alone exceed the total.
enum class WhenLowsExceed : uint8_t {
  kKeep,   // everybody gets min(low, high), more than the total together
  kScale,  // the lower bounds are cut down in proportion, so that the sum is the total
};

/// Shares that solve sum(min(max(w_i * x, low_i), high_i)) = total, the share equation of the TDW article, exactly: x
/// is a rational number, found by fixing variables at their bounds (Bitran and Hax 1981), O(n) a pass and few passes.
/// Shares are floored, what remains goes one unit each to those that could take more, in the order given; they add up
/// to min(total, sum of highs).
std::vector<int64_t> WaterFill(std::span<const FillItem> items, int64_t total, WhenLowsExceed rule);

}  // namespace fairlead::scheduler
