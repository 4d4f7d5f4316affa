#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/time.h"
#include "process/rm/queue_counters.h"
#include "process/rm/summary.h"

namespace fairlead::process::rm {

/// What Hadoop's QueueMetrics tell of the applications of a queue and all below it, besides QueueSums.
struct QueueActivity {
  /// Running for less than an hour, less than five, less than a day, and longer (running_0, _60, _300, _1440).
  std::array<int64_t, 4> running{};
  int64_t active_applications = 0;  // that wait for containers
  int64_t active_users = 0;         // their users, for each leaf
};

/// What they tell of one user's applications that are not over, in a queue and all below it.
struct UserActivity {
  QueueSums sums;
  QueueActivity activity;  // without active_users
  model::Resources used;
};

/// Made of rows, one by one. Cost of a row: the depth of its queue times the logarithm of the queues.
class QueueActivities {
 public:
  /// `of_users`: with those of users, QueueCounters::kMostUsers at most, in the order of the rows.
  explicit QueueActivities(bool of_users = false) : of_users_(of_users) {}
  void Add(const AppRow& row, base::WallTime now);
  /// Nothing for a queue without such applications.
  QueueActivity Of(const std::string& queue) const;
  const std::map<QueueUser, UserActivity>& users() const { return by_user_; }

 private:
  void AddUser(const std::string& queue, const AppRow& row, const QueueActivity& of_row);

  bool of_users_;
  std::map<std::string, QueueActivity> by_queue_;
  std::map<QueueUser, UserActivity> by_user_;
  std::set<std::pair<std::string, std::string>> users_;  // leaf, user
};

}  // namespace fairlead::process::rm
