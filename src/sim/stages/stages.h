#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "tasks/config.h"

namespace fairlead::sim {

/// One driver's day in short: jobs of two or three stages on executors that come and go, for comparing the rules of the
/// tasks core. Everything is drawn from the seed.
struct StagesOptions {
  uint64_t seed = 1;
  int32_t jobs = 200;
  int32_t hosts = 40;  // one executor of four slots on each, eight to a rack
};

/// What a set of rules made of the trace.
struct StagesResult {
  int64_t jobs_done = 0;
  int64_t jobs_failed = 0;    // or not done within a day
  int64_t mixed_results = 0;  // jobs that succeeded although their tasks read different rows of one output
  base::Duration makespan;
  base::Duration job_mean;
  base::Duration job_p95;
  double local = 0;             // part of the tasks with preferred hosts that ran on one of them
  base::Duration remote_reads;  // of all tasks together
  int64_t tasks = 0;            // launched
  int64_t recomputed = 0;       // launched for a partition that had been launched before
  int64_t launch_messages = 0;  // batches count once
  base::Duration executors_held;
};

/// A set of rules and what is switched on in it.
struct StageRules {
  std::string name;
  tasks::Config config;
};
/// Spark's, then each switch of tasks::BeyondConfig that changes where or when tasks run by itself, then all of them.
std::vector<StageRules> StageRuleSets();

/// Runs the trace through a tasks core with these rules, over virtual time. Deterministic.
StagesResult RunStages(const StagesOptions& options, const tasks::Config& rules);

/// A set of rules beside Spark's, over several seeds: each figure divided by that of Spark's rules on the same seed.
struct StagesBeside {
  std::string name;
  double job_mean = 1;        // geometric mean over the seeds
  double job_mean_worst = 1;  // of one seed
  double job_p95 = 1;         // geometric mean
  int64_t jobs_failed = 0;    // of all seeds
};
/// All of StageRuleSets(), Spark's first, on `seeds` seeds from options.seed on. Costs as many runs of each.
std::vector<StagesBeside> CompareStages(StagesOptions options, int32_t seeds);

}  // namespace fairlead::sim
