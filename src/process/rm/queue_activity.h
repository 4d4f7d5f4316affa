#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/time.h"
#include "process/rm/summary.h"

namespace fairlead::process::rm {

/// What Hadoop's QueueMetrics tell of the applications of a queue and all below it, besides QueueSums.
struct QueueActivity {
  /// Running for less than an hour, less than five, less than a day, and longer (running_0, _60, _300, _1440).
  std::array<int64_t, 4> running{};
  int64_t active_applications = 0;  // that wait for containers
  int64_t active_users = 0;         // their users, for each leaf
};

/// Made of rows, one by one. Cost of a row: the depth of its queue times the logarithm of the queues.
class QueueActivities {
 public:
  void Add(const AppRow& row, base::WallTime now);
  /// Nothing for a queue without such applications.
  QueueActivity Of(const std::string& queue) const;

 private:
  std::map<std::string, QueueActivity> by_queue_;
  std::set<std::pair<std::string, std::string>> users_;  // leaf, user
};

}  // namespace fairlead::process::rm
