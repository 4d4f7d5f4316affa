#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sim/drivers/workload.h"

// Applications at spark:// over virtual time: the Master's own books, with Spark's rules or with the queues of profile
// `fairlead` behind them, as `fairlead spark-master` runs them.

namespace fairlead::sim {

/// What some rules made of a day.
struct DriversResult {
  int64_t ended = 0;
  double slowdown_mean = 0;  // completion time / what the application takes alone
  double slowdown_p99 = 0;
  base::Duration completion_mean;
  base::Duration makespan;
  int64_t executors = 0;  // started
};

struct DriverRules {
  std::string name;
  bool queues = false;  // profile `fairlead` places executors
  std::string wishes;   // "": what it does when nothing is set
};
/// Spark's, profile `fairlead` with nothing set, and with wish `small-jobs`, which is on for YARN.
std::vector<DriverRules> DriverRuleSets();

/// Runs the day of these options under the rules. Deterministic. A profile's setting that is wrong is the error.
base::Result<DriversResult> RunDrivers(const DriversOptions& options, const DriverRules& rules);

/// Rules beside Spark's over several seeds: geometric means of each figure divided by that of Spark's on the same seed.
struct DriversBeside {
  std::string name;
  double slowdown_mean = 1;
  double slowdown_worst = 1;  // of one seed
  double slowdown_p99 = 1;
  double completion_mean = 1;
  double makespan = 1;
};
/// All of DriverRuleSets(), Spark's first, on `seeds` seeds from options.seed on.
base::Result<std::vector<DriversBeside>> CompareDrivers(DriversOptions options, int32_t seeds);

}  // namespace fairlead::sim
