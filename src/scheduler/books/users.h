#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "model/resources.h"
#include "scheduler/books/ids.h"
#include "scheduler/shared/pool.h"

namespace fairlead::scheduler::native {

/// Who counts applications: a user, or a group, which counts those of all its users.
struct UserName {
  std::string name;
  bool group = false;
  friend auto operator<=>(const UserName&, const UserName&) = default;
  FL_STATE(name, group)
};

/// "user ann", "group staff".
inline std::string InWords(const UserName& name) { return (name.group ? "group " : "user ") + name.name; }

struct User {
  bool in_use = false;
  UserName name;
  int32_t applications = 0;  // running or not
  int32_t running = 0;
  int32_t max_running = INT32_MAX;
  std::set<AppIndex> waiting;  // applications that may not run yet, in order of submission
  model::Resources used;       // by their containers, in all queues; counted where anybody has a maximum
  /// At most so much of it; absent: no limit.
  std::optional<model::Resources> most;
  FL_STATE(in_use, name, applications, running, max_running, waiting, used, most)
};

/// Users and groups with applications, how many of those run, what their containers use, and who waits because of that.
/// A user without applications is forgotten. O(log users) to find one, else O(log waiting).
class Users {
 public:
  const User& operator[](UserId user) const { return users_[user]; }

  /// The user has one application more. `limit`: how many of the user's applications may run; `most`: what they may
  /// use.
  UserId Enter(const UserName& name, int32_t limit, const std::optional<model::Resources>& most = {});
  /// One less, which neither runs nor waits.
  void Leave(UserId user);
  bool MayRun(UserId user) const { return users_[user].running < users_[user].max_running; }
  void Start(UserId user) { ++users_[user].running; }
  /// Another application of the user may be able to run now: see TakeReopened.
  void Stop(UserId user);
  void Wait(UserId user, AppIndex app) { users_[user].waiting.insert(app); }
  void StopWaiting(UserId user, AppIndex app) { users_[user].waiting.erase(app); }
  /// The limits were read again.
  void SetLimits(const std::function<int32_t(const UserName&)>& limit);

  /// Whether anybody may have a maximum: what containers use is counted then.
  bool counts_use() const { return counts_use_; }
  /// Containers of the user's use `size` more, or less.
  void AddUse(UserId user, const model::Resources& size);
  /// `size` more is beyond what the user may use.
  bool Exceeds(UserId user, const model::Resources& size) const {
    return users_[user].most && !(users_[user].used + size).FitsIn(*users_[user].most);
  }
  /// What users may use was read again, or is another part of the cluster. Without `any`, nobody has a maximum, and
  /// what is used is forgotten.
  void SetMaxima(bool any, const std::function<std::optional<model::Resources>(const UserName&)>& most);
  bool AnyFreed() const { return !freed_.empty(); }
  /// Users who may have got room for another container since the last call, or are forgotten.
  std::set<UserId> TakeFreed() { return std::exchange(freed_, {}); }

  bool AnyReopened() const { return !reopened_.empty(); }
  /// Users who may have got room for another application since the last call.
  std::vector<UserId> TakeReopened() { return std::exchange(reopened_, {}); }

  /// What differs from the sums of `running` applications and of what is `used`, by user; empty: nothing.
  std::string Check(const std::map<UserId, int32_t>& running, const std::map<UserId, model::Resources>& used) const;
  void Mix(base::StateHasher& hash) const;
  FL_STATE(users_, by_name_, counts_use_, reopened_, freed_)

 private:
  Pool<User, UserTag> users_;
  std::map<UserName, UserId> by_name_;
  bool counts_use_ = false;
  std::vector<UserId> reopened_;
  std::set<UserId> freed_;
};

}  // namespace fairlead::scheduler::native
