#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "model/ids.h"
#include "model/scheduler.h"
#include "process/rm/summary.h"

namespace fairlead::process::rm {

/// Why the cluster waits: containers asked for and not granted, by reason. A reason costs a dry pass of the scheduler,
/// so a few applications are asked each time, one after another: what is told of one is as old as a round over all
/// that wait.
class Waiting {
 public:
  static constexpr size_t kAppsATime = 8;
  static constexpr size_t kRowsATime = 4096;

  using Why = std::function<std::vector<model::scheduler::Pending>(const AppRow&)>;
  /// Asks the next ones. Cost: kAppsATime calls of `why`, kRowsATime rows.
  void Survey(const AppRows& rows, const Why& why);
  void Clear() { *this = {}; }

  using Counts = std::map<model::scheduler::PendingReason, int64_t>;
  /// Those that there are.
  const Counts& counts() const { return counts_; }

 private:
  struct Told {
    uint64_t round = 0;
    Counts counts;
  };
  void Count(const Counts& of, int64_t sign);
  void EndRound();

  std::map<model::AppIndex, Told> told_;
  Counts counts_;  // the sums of `told_`
  model::AppIndex next_{0};
  uint64_t round_ = 0;
};

}  // namespace fairlead::process::rm
