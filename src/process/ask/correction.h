#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/time.h"

namespace fairlead::process::ask {

/// When something happens, from the present on: in half of all cases by then, and in nine of ten. Nothing: later than
/// was looked, or nobody knows.
struct When {
  std::optional<base::Duration> p50;
  std::optional<base::Duration> p90;
};

/// Corrects what futures say of a start by how earlier starts came beside estimates (reference class
/// forecasting): futures know nothing of those who come later. A start is held against others that were said to be
/// about as far. A value.
class Correction {
 public:
  /// The latest starts of a class that count, and how many there must be.
  static constexpr size_t kKept = 256;
  static constexpr size_t kEnough = 16;

  /// Futures said `p50`, and it came after that time.
  void Learn(base::Duration p50, base::Duration after);
  /// O(kKept).
  When Of(const When& said) const;

 private:
  struct Class {
    std::vector<float> ratios;  // what came, divided by what was said
    size_t next = 0;            // the oldest one's place
  };
  static size_t ClassOf(base::Duration p50);

  std::array<Class, 4> classes_;
};

}  // namespace fairlead::process::ask
