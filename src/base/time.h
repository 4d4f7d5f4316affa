#pragma once

#include <compare>
#include <cstdint>

namespace fairlead::base {

/// A span of time in nanoseconds.
struct Duration {
  int64_t ns = 0;
  static constexpr Duration Nanos(int64_t n) { return {n}; }
  static constexpr Duration Micros(int64_t n) { return {n * 1'000}; }
  static constexpr Duration Millis(int64_t n) { return {n * 1'000'000}; }
  static constexpr Duration Seconds(int64_t n) { return {n * 1'000'000'000}; }
  constexpr int64_t millis() const { return ns / 1'000'000; }
  constexpr double seconds() const { return static_cast<double>(ns) / 1e9; }
  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
  friend constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
  friend constexpr Duration operator*(Duration a, int64_t n) { return {a.ns * n}; }
};

/// Monotonic time in nanoseconds since the process' epoch; constant during one Step.
struct Instant {
  int64_t ns = 0;
  static constexpr Instant Max() { return {INT64_MAX}; }
  /// Hadoop counts in milliseconds: floors.
  constexpr int64_t millis() const { return ns / 1'000'000; }
  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant a, Duration b) { return {a.ns + b.ns}; }
  friend constexpr Instant operator-(Instant a, Duration b) { return {a.ns - b.ns}; }
  friend constexpr Duration operator-(Instant a, Instant b) { return {a.ns - b.ns}; }
};

/// Milliseconds since 1970 UTC: for the wire, the store and people; never compared with an Instant.
struct WallTime {
  int64_t ms = 0;
  friend constexpr auto operator<=>(WallTime, WallTime) = default;
};

}  // namespace fairlead::base
