#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "env/alive.h"
#include "env/loop.h"

namespace fairlead::process::rm {

/// The groups of those who call, looked up off the thread that decides and kept for a while
/// (hadoop.security.groups.cache.secs).
class KnownGroups {
 public:
  using Groups = std::vector<std::string>;
  static constexpr base::Duration kKept = base::Duration::Seconds(300);
  static constexpr size_t kMost = 10'000;  // users

  /// `look_up` may block: it is called on any thread, several at a time.
  KnownGroups(env::Loop& loop, std::function<Groups(const std::string&)> look_up)
      : loop_(loop), look_up_(std::move(look_up)) {}

  bool Knows(const std::string& user) const;
  /// Calls `then` once the user is known: now, or in a later turn; never when this ends before.
  void Learn(const std::string& user, std::function<void()> then);
  /// Of a user who was learnt; of others none.
  const Groups& Of(const std::string& user) const;
  /// All are looked up again when they call next.
  void Expire();

 private:
  struct User {
    Groups groups;
    base::Instant until;
    std::vector<std::function<void()>> waiting;  // for a look-up that is under way
  };

  env::Loop& loop_;
  std::function<Groups(const std::string&)> look_up_;
  std::map<std::string, User> users_;
  env::Alive alive_;
};

}  // namespace fairlead::process::rm
