#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fields.h"

namespace fairlead::model {

/// An amount of every resource type. [0] memory in MiB, [1] virtual cores, then the named types of the process-wide
/// table (ResourceTypes). Units are converted in endpoints and configuration only.
struct Resources {
  static constexpr size_t kMaxTypes = 8;
  std::array<int64_t, kMaxTypes> amount{};

  static constexpr Resources Of(int64_t memory_mib, int64_t vcores) {
    Resources r;
    r.amount[0] = memory_mib;
    r.amount[1] = vcores;
    return r;
  }
  constexpr int64_t memory_mib() const { return amount[0]; }
  constexpr int64_t vcores() const { return amount[1]; }

  constexpr int64_t operator[](size_t type) const { return amount[type]; }
  constexpr int64_t& operator[](size_t type) { return amount[type]; }

  constexpr Resources& operator+=(const Resources& other) {
    for (size_t i = 0; i < kMaxTypes; ++i) amount[i] += other.amount[i];
    return *this;
  }
  constexpr Resources& operator-=(const Resources& other) {
    for (size_t i = 0; i < kMaxTypes; ++i) amount[i] -= other.amount[i];
    return *this;
  }
  constexpr Resources operator-() const {
    Resources less;
    for (size_t i = 0; i < kMaxTypes; ++i) less.amount[i] = -amount[i];
    return less;
  }
  friend constexpr Resources operator+(Resources a, const Resources& b) { return a += b; }
  friend constexpr Resources operator-(Resources a, const Resources& b) { return a -= b; }
  friend constexpr Resources operator*(Resources a, int64_t n) {
    for (int64_t& x : a.amount) x *= n;
    return a;
  }
  friend constexpr bool operator==(const Resources&, const Resources&) = default;

  /// Every amount of this is at most that of `other`.
  constexpr bool FitsIn(const Resources& other) const {
    for (size_t i = 0; i < kMaxTypes; ++i) {
      if (amount[i] > other.amount[i]) return false;
    }
    return true;
  }
  constexpr bool IsZero() const { return *this == Resources{}; }
  constexpr bool AnyNegative() const {
    for (const int64_t x : amount) {
      if (x < 0) return true;
    }
    return false;
  }

  FL_FIELDS(amount)
};

/// Names of the resource types, set once at start before any thread (yarn.resource-types); "memory-mb" and "vcores"
/// are always there.
class ResourceTypes {
 public:
  static size_t Count();
  static std::string_view Name(size_t type);
  /// The index of `name`, or -1.
  static int Find(std::string_view name);
  /// Adds a type and gives its index; -1 when the table is full. A known name gives its index.
  static int Add(std::string_view name);
};

/// "<memory:1024, vCores:1>" with other types appended as Hadoop prints them.
std::string ToString(const Resources& resources);

}  // namespace fairlead::model
