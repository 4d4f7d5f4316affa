#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/scheduler.h"
#include "process/ask/forecast.h"

namespace fairlead::process::ask {

/// How well estimates held: of each ask the first estimate of its next container's start, beside that start. Asks whose
/// start nobody could say are not followed. Single-threaded.
class TrackRecord {
 public:
  /// Asks that are followed at a time; estimates of further ones are not looked at.
  static constexpr size_t kFollowed = 20'000;
  /// A start is close to its p50 within a minute or a tenth of the wait, whichever is longer.
  static constexpr base::Duration kClose = base::Duration::Seconds(60);
  /// So many of the latest starts count in the median error.
  static constexpr size_t kErrors = 1024;

  struct Held {
    int64_t estimates = 0;   // of asks that have been served, or wait longer than their p90
    int64_t within_p90 = 0;  // served by then
    int64_t close = 0;       // served close to their p50
    /// Half of the latest kErrors that were served were off by no more than that part of their wait.
    std::optional<double> median_error{};
  };

  /// What it says of asks that are not followed yet; what is followed of applications that are gone is forgotten. An
  /// earlier one than before changes nothing. Cost: its estimates.
  void Foresee(const Forecast& forecast);
  /// What the scheduler decided. O(1) a grant.
  void Take(base::Instant now, std::span<const model::scheduler::Effect> effects);
  /// Cost: what is followed.
  Held held(base::Instant now) const;
  /// What follows from it for the next forecast.
  const Correction& correction() const { return correction_; }

 private:
  struct Followed {
    int32_t priority = 0;
    int64_t request = -1;
    base::Instant since;  // of the estimate
    base::Duration foreseen;
    When when;
  };

  std::unordered_map<model::ApplicationId, std::vector<Followed>> followed_;
  size_t count_ = 0;
  base::Instant latest_{-1};  // estimate
  Held held_;
  std::vector<float> errors_;  // of the p50, as parts of the wait
  size_t next_error_ = 0;      // the oldest one's place
  Correction correction_;
};

}  // namespace fairlead::process::ask
