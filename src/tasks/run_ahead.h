#pragma once

#include <algorithm>
#include <cstdint>

#include "base/hash.h"
#include "base/time.h"

namespace fairlead::tasks {

/// How many tasks one executor is sent beyond its slots, so that short tasks do not wait for the driver's next answer
/// (BeyondConfig::run_ahead). It goes by the longest of the executor's latest tasks: nothing is sent ahead before one
/// of the newest stage's time has ended, nor when they take longer than the whole time aimed at.
class RunAhead {
 public:
  static constexpr int64_t kTasksMax = 256;

  /// A task of the executor ended well after `run_ns`.
  void Ended(int64_t run_ns, base::Instant now) {
    longest_ns_ = std::max({run_ns, longest_ns_ - longest_ns_ / 8, int64_t{1000}});
    since_ = now;
    called_back_ = false;
  }
  /// Tasks are about to be offered to an executor with none ahead.
  void Begin(base::Instant now) { since_ = now; }
  /// Nothing is known of the tasks to come.
  void Reset() { longest_ns_ = 0; }
  void CalledBack() {
    Reset();
    called_back_ = true;
  }

  /// Tasks beyond `slots` that fill `aim`, of `pending` ones for `all_slots`: at most half of the executor's share, so
  /// that the end of a set is spread evenly.
  int64_t Extra(base::Duration aim, int64_t slots, int64_t pending, int64_t all_slots) const {
    if (longest_ns_ == 0) return 0;
    const int64_t share = pending * slots / (2 * std::max<int64_t>(all_slots, 1));
    return std::min({kTasksMax, slots * (aim.ns / longest_ns_), share});
  }
  /// When tasks that are ahead have waited for too long; Instant::Max() when they were called back.
  base::Instant StallsAt(base::Duration stall) const { return called_back_ ? base::Instant::Max() : since_ + stall; }

  void HashInto(base::StateHasher& hasher) const {
    hasher.Mix(static_cast<uint64_t>(longest_ns_));
    hasher.Mix(static_cast<uint64_t>(since_.ns));
    hasher.Mix(called_back_);
  }

 private:
  int64_t longest_ns_ = 0;  // 0: unknown
  base::Instant since_;     // the last end, or when tasks were sent ahead
  bool called_back_ = false;
};

}  // namespace fairlead::tasks
