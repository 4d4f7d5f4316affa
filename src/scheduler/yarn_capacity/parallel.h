#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/state.h"
#include "scheduler/yarn_capacity/order.h"

namespace fairlead::scheduler::yarn_capacity {

/// How many applications of a user run, and which wait for fewer (CSMaxRunningAppsEnforcer). O(log users).
class ParallelApps {
 public:
  int32_t Running(const std::string& user) const {
    const auto it = running_.find(user);
    return it == running_.end() ? 0 : it->second;
  }
  void Start(const std::string& user) { ++running_[user]; }
  void End(const std::string& user) {
    if (--running_[user] == 0) running_.erase(user);
  }
  void Wait(const std::string& user, AttemptId id) { waiting_[user].push_back(id); }
  void StopWaiting(const std::string& user, AttemptId id) {
    const auto it = waiting_.find(user);
    if (it == waiting_.end()) return;
    std::erase(it->second, id);
    if (it->second.empty()) waiting_.erase(it);
  }
  /// In the order they came.
  std::vector<AttemptId> Waiting(const std::string& user) const {
    const auto it = waiting_.find(user);
    return it == waiting_.end() ? std::vector<AttemptId>{} : it->second;
  }
  FL_STATE(running_, waiting_)

 private:
  std::map<std::string, int32_t> running_;
  std::map<std::string, std::vector<AttemptId>> waiting_;
};

}  // namespace fairlead::scheduler::yarn_capacity
