#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace fairlead::tasks {

/// Median of a growing set, the upper one of an even count, in O(log n) an insertion (two heaps; Spark 3.5:
/// PercentileHeap at 0.5).
class RunningMedian {
 public:
  size_t size() const { return low_.size() + high_.size(); }

  void Insert(double value) {
    if (!high_.empty() && value < high_.front()) {
      Push(low_, value, std::less<>());
    } else {
      Push(high_, value, std::greater<>());
    }
    // The lower heap holds half, rounded down.
    if (low_.size() > high_.size()) {
      Push(high_, Pop(low_, std::less<>()), std::greater<>());
    } else if (high_.size() > low_.size() + 1) {
      Push(low_, Pop(high_, std::greater<>()), std::less<>());
    }
  }

  /// Not for an empty set.
  double Median() const { return high_.front(); }

 private:
  template <class Compare>
  static void Push(std::vector<double>& heap, double value, Compare compare) {
    heap.push_back(value);
    std::push_heap(heap.begin(), heap.end(), compare);
  }
  template <class Compare>
  static double Pop(std::vector<double>& heap, Compare compare) {
    std::pop_heap(heap.begin(), heap.end(), compare);
    const double value = heap.back();
    heap.pop_back();
    return value;
  }

  std::vector<double> low_;   // largest at the front
  std::vector<double> high_;  // smallest at the front
};

}  // namespace fairlead::tasks
