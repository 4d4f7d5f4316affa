#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "scheduler/hadoop/ids.h"

namespace fairlead::scheduler::yarn_fair {

/// How many applications of each user may run, and which of them wait to (MaxRunningAppsEnforcer). A user without any
/// is forgotten. O(log users), and O(waiting) to stop waiting.
class Users {
 public:
  int32_t Running(const std::string& user) const {
    const auto it = running_.find(user);
    return it == running_.end() ? 0 : it->second;
  }
  /// In order of arrival.
  std::vector<hadoop::AttemptId> Waiting(const std::string& user) const {
    const auto it = waiting_.find(user);
    return it == waiting_.end() ? std::vector<hadoop::AttemptId>{} : it->second;
  }
  void Run(const std::string& user) { ++running_[user]; }
  /// One of the user's ran.
  void StopRunning(const std::string& user) {
    const auto it = running_.find(user);
    if (--it->second == 0) running_.erase(it);
  }
  void Wait(const std::string& user, hadoop::AttemptId attempt) { waiting_[user].push_back(attempt); }
  /// Nothing when it does not wait.
  void StopWaiting(const std::string& user, hadoop::AttemptId attempt) {
    const auto it = waiting_.find(user);
    if (it == waiting_.end()) return;
    std::erase(it->second, attempt);
    if (it->second.empty()) waiting_.erase(it);
  }
  void Mix(base::StateHasher& hash) const {
    for (const auto& [user, count] : running_) {
      hash.Mix(std::string_view(user));
      hash.Mix(static_cast<uint64_t>(count));
    }
    for (const auto& [user, attempts] : waiting_) {
      hash.Mix(std::string_view(user));
      for (const hadoop::AttemptId id : attempts) hash.Mix(id.value);
    }
  }
  FL_STATE(running_, waiting_)

 private:
  std::map<std::string, int32_t> running_;
  std::map<std::string, std::vector<hadoop::AttemptId>> waiting_;
};

}  // namespace fairlead::scheduler::yarn_fair
