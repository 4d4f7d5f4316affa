#include "scheduler/books/users.h"

namespace fairlead::scheduler::native {

UserId Users::Enter(const UserName& name, int32_t limit) {
  const auto [it, fresh] = by_name_.try_emplace(name);
  if (fresh) {
    it->second = users_.Add();
    users_[it->second].name = name;
    users_[it->second].max_running = limit;
  }
  ++users_[it->second].applications;
  return it->second;
}

void Users::Leave(UserId id) {
  User& user = users_[id];
  if (--user.applications > 0) return;
  std::erase(reopened_, id);
  by_name_.erase(user.name);
  users_.Remove(id);
}

void Users::Stop(UserId id) {
  User& user = users_[id];
  if (user.running-- == user.max_running) reopened_.push_back(id);
}

void Users::SetLimits(const std::function<int32_t(const UserName&)>& limit) {
  for (const UserId user : users_) {
    users_[user].max_running = limit(users_[user].name);
    reopened_.push_back(user);
  }
}

std::string Users::Check(const std::map<UserId, int32_t>& running) const {
  if (by_name_.size() != users_.count()) return "users by name";
  for (const UserId id : users_) {
    const User& user = users_[id];
    const auto it = running.find(id);
    if (user.applications <= 0) return "user " + user.name.name + ": kept without applications";
    if (user.running != (it == running.end() ? 0 : it->second)) return "user " + user.name.name + ": running";
  }
  return "";
}

void Users::Mix(base::StateHasher& hash) const {
  for (const UserId id : users_) {
    const User& user = users_[id];
    hash.Mix(id.value);
    hash.Mix(uint64_t{user.name.group});
    hash.Mix(user.name.name);
    hash.Mix(static_cast<uint64_t>(user.applications));
    hash.Mix(static_cast<uint64_t>(user.running));
    hash.Mix(static_cast<uint64_t>(user.max_running));
    for (const AppIndex app : user.waiting) hash.Mix(app.value);
  }
  for (const UserId user : reopened_) hash.Mix(user.value);
}

}  // namespace fairlead::scheduler::native
