#include "process/rm/known_groups.h"

#include "endpoints/yarn/text_bounds.h"

namespace fairlead::process::rm {

bool KnownGroups::Knows(const std::string& user) const {
  if (user.size() > endpoints::yarn::kNameMax) return true;  // to be nobody's, and to be in no group
  const auto known = users_.find(user);
  return known != users_.end() && known->second.until > loop_.Now();
}

void KnownGroups::Learn(const std::string& user, std::function<void()> then) {
  if (Knows(user)) return then();
  if (users_.size() >= kMost) std::erase_if(users_, [](const auto& one) { return one.second.waiting.empty(); });
  std::vector<std::function<void()>>& waiting = users_[user].waiting;
  waiting.push_back(std::move(then));
  if (waiting.size() > 1) return;
  const auto found = std::make_shared<Groups>();
  loop_.Offload([found, user, look_up = look_up_] { *found = look_up(user); }, alive_([this, found, user] {
                  User& known = users_[user];
                  known.groups = std::move(*found);
                  known.until = loop_.Now() + kKept;
                  const env::Alive::Watch alive = alive_.watch();
                  for (const auto& next : std::exchange(known.waiting, {})) {
                    if (alive) next();
                  }
                }));
}

const KnownGroups::Groups& KnownGroups::Of(const std::string& user) const {
  static const Groups kNone;
  const auto known = users_.find(user);
  return known == users_.end() ? kNone : known->second.groups;
}

void KnownGroups::Expire() {
  for (auto& [name, user] : users_) user.until = {};
}

}  // namespace fairlead::process::rm
