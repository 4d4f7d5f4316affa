#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/resources.h"
#include "scheduler/hadoop/calculator.h"

namespace fairlead::scheduler::hadoop {

/// ResourceCalculator and the functions of Resources that take one: DefaultResourceCalculator looks at memory alone and
/// gives amounts that have one vcore where they have memory; DominantResourceCalculator looks at every type. Floats and
/// doubles in Java's order.
class Arithmetic {
 public:
  Arithmetic() = default;
  Arithmetic(Calculator calculator, size_t types) : calculator_(calculator), types_(types) {}

  size_t types() const { return types_; }
  bool dominant() const { return calculator_ == Calculator::kDominant; }

  int Compare(const Resources& cluster, const Resources& a, const Resources& b) const {
    return CompareBy(calculator_, cluster, a, b, false, types_);
  }
  bool Less(const Resources& cluster, const Resources& a, const Resources& b) const {
    return Compare(cluster, a, b) < 0;
  }
  bool AtMost(const Resources& cluster, const Resources& a, const Resources& b) const {
    return Compare(cluster, a, b) <= 0;
  }
  bool Greater(const Resources& cluster, const Resources& a, const Resources& b) const {
    return Compare(cluster, a, b) > 0;
  }
  bool AtLeast(const Resources& cluster, const Resources& a, const Resources& b) const {
    return Compare(cluster, a, b) >= 0;
  }
  const Resources& Min(const Resources& cluster, const Resources& a, const Resources& b) const {
    return AtMost(cluster, a, b) ? a : b;
  }
  const Resources& Max(const Resources& cluster, const Resources& a, const Resources& b) const {
    return AtLeast(cluster, a, b) ? a : b;
  }
  bool FitsIn(const Resources& smaller, const Resources& bigger) const {
    return dominant() ? smaller.FitsIn(bigger) : smaller[0] <= bigger[0];
  }
  /// Some type that counts is above 0; is 0 or less.
  bool AnyAboveZero(const Resources& a) const;
  bool AnyZeroOrLess(const Resources& a) const;

  float Divide(const Resources& cluster, const Resources& a, const Resources& b) const;
  float Ratio(const Resources& a, const Resources& b) const;
  /// How many of `required` there is room for.
  int64_t AvailableContainers(const Resources& available, const Resources& required) const;

  Resources Normalize(const Resources& ask, const Resources& least, const Resources& most, const Resources& step) const;
  Resources RoundUp(const Resources& a, const Resources& step) const;
  Resources RoundDown(const Resources& a, const Resources& step) const;
  Resources MultiplyUp(const Resources& a, double by, const Resources& step) const;
  /// Each type by its own factor.
  Resources MultiplyUp(const Resources& a, std::span<const double> by, const Resources& step) const;
  Resources MultiplyDown(const Resources& a, double by, const Resources& step) const;
  Resources DivideAndCeil(const Resources& a, float by) const;
  Resources DivideAndCeil(const Resources& a, int64_t by) const;

 private:
  Calculator calculator_ = Calculator::kMemory;
  size_t types_ = 2;
};

/// Resources.createResource(memory): one vcore where there is memory.
constexpr Resources OfMemory(int64_t memory) { return Resources::Of(memory, memory > 0 ? 1 : 0); }

}  // namespace fairlead::scheduler::hadoop
