#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Jobs of stages whose tasks were timed with several numbers of executors, as the TPC-H queries that Decima (SIGCOMM
// '19) publishes. Times are milliseconds.

namespace fairlead::sim {

/// What a stage's tasks took while a job had so many executors, by what the executor had done before.
struct TaskTimes {
  std::vector<int32_t> fresh;  // its first task of the job
  std::vector<int32_t> first;  // its first task of the stage
  std::vector<int32_t> rest;   // a further task of the stage
};

struct TimedStage {
  int32_t tasks = 0;
  std::vector<int32_t> parents;        // by number, ascending
  std::vector<int32_t> children;       // by number, ascending
  std::map<int32_t, TaskTimes> times;  // by the number of executors
  double mean_ms = 0;                  // over all that was timed
};

using TimedJob = std::vector<TimedStage>;

/// One query at one size.
struct TimedQuery {
  std::string name;  // "2g/1"
  TimedJob stages;
};

/// Sizes of Decima's workload in the order in which its environment numbers them.
inline constexpr std::array<std::string_view, 7> kQuerySizes = {"2g", "5g", "10g", "20g", "50g", "80g", "100g"};
inline constexpr int32_t kQueries = 22;

/// Reads {"2g/1": {"stages": N, "edges": [[parent, child]], "durations": [a stage: {"fresh_durations", "first_wave",
/// "rest_wave": {executors: [ms]}}]}}. All 154 queries must be there, in any order; they come out by size and number.
/// Times of the first wave that are also among the fresh ones count there alone, and an empty first wave takes the
/// times of the next smaller number of executors, as Decima's environment does. An Error names the query and what is
/// wrong.
base::Result<std::vector<TimedQuery>> ReadQueries(std::string_view json);

}  // namespace fairlead::sim
