#include "scheduler/hadoop/calculator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "scheduler/hadoop/java.h"

namespace fairlead::scheduler::hadoop {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Shares = std::array<double, Resources::kMaxTypes>;

/// Neither fits: 0; the one that is larger in some type and smaller in none: 1 or -1.
int CompareWithoutCluster(const Resources& a, const Resources& b, size_t types) {
  bool a_greater = false;
  bool b_greater = false;
  for (size_t i = 0; i < types; ++i) {
    a_greater |= a[i] > b[i];
    b_greater |= a[i] < b[i];
  }
  return a_greater == b_greater ? 0 : a_greater ? 1 : -1;
}

int CompareLargestShare(const Resources& cluster, const Resources& a, const Resources& b, size_t types) {
  double max_a = 0;
  double max_b = 0;
  for (size_t i = 0; i < types; ++i) {
    const double share_a = Share(cluster[i], a[i]);
    const double share_b = Share(cluster[i], b[i]);
    if (share_a == kInfinity || share_b == kInfinity) continue;
    max_a = std::max(max_a, share_a);
    max_b = std::max(max_b, share_b);
  }
  return java::Sign(max_a - max_b);
}

/// Dominant share first, then the next; with two types infinities take part in the comparison.
int CompareAllShares(const Resources& cluster, const Resources& a, const Resources& b, size_t types) {
  Shares x{};
  Shares y{};
  for (size_t i = 0; i < types; ++i) {
    x[i] = Share(cluster[i], a[i]);
    y[i] = Share(cluster[i], b[i]);
  }
  std::sort(x.begin(), x.begin() + types);
  std::sort(y.begin(), y.begin() + types);
  for (size_t i = types; i-- > 0;) {
    if (types == 2) {
      if (x[i] != y[i]) return x[i] > y[i] ? 1 : -1;
      continue;
    }
    if (x[i] == kInfinity || y[i] == kInfinity) continue;
    if (x[i] - y[i] != 0.0) return java::Sign(x[i] - y[i]);
  }
  return 0;
}

bool AllZero(const Resources& r, size_t types) {
  for (size_t i = 0; i < types; ++i) {
    if (r[i] != 0) return false;
  }
  return true;
}

}  // namespace

double Share(int64_t cluster, int64_t amount) {
  return cluster == 0 ? kInfinity : static_cast<double>(amount) / static_cast<double>(cluster);
}

void Mix(base::StateHasher& hash, const Resources& amounts) {
  for (const int64_t amount : amounts.amount) hash.Mix(static_cast<uint64_t>(amount));
}

Resources Unbounded() {
  Resources r;
  r.amount.fill(INT64_MAX);
  return r;
}

Resources ComponentwiseMin(const Resources& a, const Resources& b) {
  Resources r;
  for (size_t i = 0; i < Resources::kMaxTypes; ++i) r[i] = std::min(a[i], b[i]);
  return r;
}

Resources ComponentwiseMax(const Resources& a, const Resources& b) {
  Resources r;
  for (size_t i = 0; i < Resources::kMaxTypes; ++i) r[i] = std::max(a[i], b[i]);
  return r;
}

void SubtractNonNegative(Resources& a, const Resources& b) {
  a -= b;
  a[0] = std::max<int64_t>(a[0], 0);
  a[1] = std::max<int64_t>(a[1], 0);
}

Resources MultiplyDown(const Resources& a, double by) {
  Resources r;
  for (size_t i = 0; i < Resources::kMaxTypes; ++i) r[i] = java::ToLong(static_cast<double>(a[i]) * by);
  return r;
}

Resources MultiplyUp(const Resources& a, double by) {
  Resources r;
  for (size_t i = 0; i < Resources::kMaxTypes; ++i) r[i] = java::ToLong(std::ceil(static_cast<double>(a[i]) * by));
  return r;
}

Resources Normalize(const Resources& ask, const Resources& minimum, const Resources& maximum,
                    const Resources& increment) {
  Resources r;
  for (size_t i = 0; i < Resources::kMaxTypes; ++i) {
    int64_t value = std::max(ask[i], minimum[i]);
    const int64_t step = increment[i];
    if (step > 1) value = value > INT64_MAX - step ? INT64_MAX : (value + (step - 1)) / step * step;
    r[i] = std::min(value, maximum[i]);
  }
  return r;
}

int CompareBy(Calculator calculator, const Resources& cluster, const Resources& a, const Resources& b, bool single_type,
              size_t types) {
  if (calculator == Calculator::kMemory) return a[0] < b[0] ? -1 : a[0] > b[0];
  if (a == b) return 0;
  if (AllZero(cluster, types)) return CompareWithoutCluster(a, b, types);
  return single_type ? CompareLargestShare(cluster, a, b, types) : CompareAllShares(cluster, a, b, types);
}

}  // namespace fairlead::scheduler::hadoop
