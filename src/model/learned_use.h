#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/time.h"
#include "model/resources.h"

namespace fairlead::model {

/// Of one amount: how many measures, their sum and the largest. Older ones weigh less.
struct LearnedAmount {
  int64_t count = 0;
  int64_t sum = 0;
  int64_t peak = 0;

  int64_t mean() const { return count == 0 ? 0 : sum / count; }
  FL_FIELDS(count, sum, peak)
  friend bool operator==(const LearnedAmount&, const LearnedAmount&) = default;
};

/// What a user's containers of one kind were measured to use (scheduler/fairlead/use_learner.h). A row of the store.
struct LearnedUse {
  uint32_t row = 0;  // its number, less than the most rows that there are
  std::string user;
  std::string name;  // of applications, without digits
  int32_t priority = 0;
  Resources size;
  LearnedAmount milli_cores;
  LearnedAmount memory_mib;
  LearnedAmount disk_bytes;     // a second
  LearnedAmount network_bytes;  // a second
  base::WallTime stored;        // set by whoever stores it
  FL_FIELDS(row, user, name, priority, size, milli_cores, memory_mib, disk_bytes, network_bytes, stored)
  friend bool operator==(const LearnedUse&, const LearnedUse&) = default;
};

/// How long a user's containers of one kind ran (scheduler/books/run_times.h). A row of the store.
struct LearnedRuns {
  uint32_t row = 0;  // its number, less than the most rows that there are
  std::string user;
  std::string name;  // of applications, without digits
  int32_t priority = 0;
  Resources size;
  std::vector<int64_t> runs_ms;  // the oldest first
  FL_FIELDS(row, user, name, priority, size, runs_ms)
  friend bool operator==(const LearnedRuns&, const LearnedRuns&) = default;
};

}  // namespace fairlead::model
