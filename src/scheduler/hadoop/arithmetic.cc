#include "scheduler/hadoop/arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "scheduler/hadoop/calculator.h"
#include "scheduler/hadoop/java.h"

namespace fairlead::scheduler::hadoop {
namespace {

/// ResourceCalculator.divideSafelyAsFloat.
float DivideSafely(int64_t a, int64_t b) {
  return a == 0 && b == 0 ? 0.0F : static_cast<float>(a) / static_cast<float>(b);
}
int64_t CeilOf(int64_t a, int64_t b) { return b == 0 ? 0 : (a + (b - 1)) / b; }
int64_t CeilOf(int64_t a, float b) {
  return b == 0 ? 0 : java::ToLong(std::ceil(static_cast<double>(static_cast<float>(a) / b)));
}
int64_t Up(int64_t a, int64_t step) { return CeilOf(a, step) * step; }
int64_t Down(int64_t a, int64_t step) { return step == 0 ? a : a / step * step; }

template <class Each>
Resources ForEachType(const Resources& a, size_t types, Each each) {
  Resources r = a;
  for (size_t i = 0; i < types; ++i) r[i] = each(i);
  return r;
}

}  // namespace

bool Arithmetic::AnyAboveZero(const Resources& a) const {
  if (!dominant()) return a[0] > 0;
  return std::any_of(a.amount.begin(), a.amount.begin() + types_, [](int64_t x) { return x > 0; });
}

bool Arithmetic::AnyZeroOrLess(const Resources& a) const {
  if (!dominant()) return a[0] <= 0;
  return std::any_of(a.amount.begin(), a.amount.begin() + types_, [](int64_t x) { return x <= 0; });
}

float Arithmetic::Divide(const Resources& cluster, const Resources& a, const Resources& b) const {
  if (!dominant()) return Ratio(a, b);
  double most_a = 0;
  double most_b = 0;
  for (size_t i = 0; i < types_; ++i) {
    const double share_a = Share(cluster[i], a[i]);
    const double share_b = Share(cluster[i], b[i]);
    if (std::isinf(share_a) || std::isinf(share_b)) continue;
    most_a = std::max(most_a, share_a);
    most_b = std::max(most_b, share_b);
  }
  return static_cast<float>(most_a / most_b);
}

float Arithmetic::Ratio(const Resources& a, const Resources& b) const {
  if (!dominant()) return DivideSafely(a[0], b[0]);
  float ratio = 0;
  for (size_t i = 0; i < types_; ++i) {
    const float one = DivideSafely(a[i], b[i]);
    ratio = one != one || ratio != ratio ? NAN : std::max(ratio, one);  // Math.max
  }
  return ratio;
}

int64_t Arithmetic::AvailableContainers(const Resources& available, const Resources& required) const {
  if (!dominant()) return required[0] == 0 ? 0 : available[0] / required[0];
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < types_; ++i) {
    if (required[i] != 0) least = std::min(least, available[i] / required[i]);
  }
  return std::min<int64_t>(least, INT32_MAX);
}

Resources Arithmetic::Normalize(const Resources& ask, const Resources& least, const Resources& most,
                                const Resources& step) const {
  if (!dominant()) {
    const int64_t by = step[0] == 0 ? least[0] : step[0];
    return OfMemory(std::min(Up(std::max(ask[0], least[0]), by), most[0]));
  }
  return ForEachType(ask, types_, [&](size_t i) {
    const int64_t value = std::max(ask[i], least[i]);
    return std::min(step[i] != 0 ? Up(value, step[i]) : value, most[i]);
  });
}

Resources Arithmetic::RoundUp(const Resources& a, const Resources& step) const {
  if (!dominant()) return OfMemory(Up(a[0], step[0]));
  return ForEachType(a, types_, [&](size_t i) { return step[i] != 0 ? Up(a[i], step[i]) : a[i]; });
}

Resources Arithmetic::RoundDown(const Resources& a, const Resources& step) const {
  if (!dominant()) return OfMemory(Down(a[0], step[0]));
  return ForEachType(a, types_, [&](size_t i) { return Down(a[i], step[i]); });
}

Resources Arithmetic::MultiplyUp(const Resources& a, double by, const Resources& step) const {
  if (!dominant()) return OfMemory(Up(java::ToLong(static_cast<double>(a[0]) * by + 0.5), step[0]));
  return ForEachType(a, types_, [&](size_t i) {
    const auto product = static_cast<float>(static_cast<double>(a[i]) * by);
    const int64_t value = java::ToLong(std::ceil(static_cast<double>(product)));
    return step[i] != 0 ? Up(value, step[i]) : value;
  });
}

Resources Arithmetic::MultiplyUp(const Resources& a, std::span<const double> by, const Resources& step) const {
  if (!dominant()) return OfMemory(Up(java::ToLong(static_cast<double>(a[0]) * by[0] + 0.5), step[0]));
  return ForEachType(a, types_,
                     [&](size_t i) { return Up(java::ToLong(std::ceil(static_cast<double>(a[i]) * by[i])), step[i]); });
}

Resources Arithmetic::MultiplyDown(const Resources& a, double by, const Resources& step) const {
  if (!dominant()) return OfMemory(Down(java::ToLong(static_cast<double>(a[0]) * by), step[0]));
  return ForEachType(a, types_, [&](size_t i) { return Down(java::ToLong(static_cast<double>(a[i]) * by), step[i]); });
}

Resources Arithmetic::DivideAndCeil(const Resources& a, float by) const {
  if (!dominant()) return OfMemory(CeilOf(a[0], by));
  return ForEachType(a, types_, [&](size_t i) { return CeilOf(a[i], by); });
}

Resources Arithmetic::DivideAndCeil(const Resources& a, int64_t by) const {
  if (!dominant()) return OfMemory(CeilOf(a[0], by));
  return ForEachType(a, types_, [&](size_t i) { return CeilOf(a[i], by); });
}

}  // namespace fairlead::scheduler::hadoop
