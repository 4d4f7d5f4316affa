#pragma once

#include <algorithm>
#include <cstdint>

namespace fairlead::env_posix {

/// Whether a loop with nothing to do asks the kernel again and again for a moment before it sleeps. To wake a sleeping
/// core takes longer than most answers of a daemon (80 us in a virtual machine), so in a dialogue of short calls it is
/// most of the time. It polls only after short turns, and only as long as what it waits for mostly comes in time: a
/// miss costs as much as eight hits give (compare the kernel's haltpoll governor). Times are in nanoseconds.
class IdlePolling {
 public:
  /// How long to poll at most.
  static constexpr int64_t kWindow = 150'000;

  /// After a turn of this length.
  bool Worthwhile(int64_t turn) const { return score_ > 0 && turn < kShortTurn; }

  /// Something came while polling.
  void Hit() { score_ = std::min(score_ + 1, kMost); }
  /// Nothing came while polling.
  void Miss() { score_ = std::max(score_ - kMost, kLeast); }
  /// Something came after a sleep of this length.
  void Slept(int64_t wait) { score_ = wait < kShortWait ? std::min(score_ + 1, kMost) : std::min(score_, 0); }

 private:
  static constexpr int64_t kShortTurn = 100'000;
  static constexpr int64_t kShortWait = 250'000;
  static constexpr int kMost = 8;
  static constexpr int kLeast = -32;
  int score_ = 0;
};

}  // namespace fairlead::env_posix
