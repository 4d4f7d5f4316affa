#include "scheduler/books/users.h"

namespace fairlead::scheduler::native {

UserId Users::Enter(const UserName& name, int32_t limit, const std::optional<model::Resources>& most) {
  const auto [it, fresh] = by_name_.try_emplace(name);
  if (fresh) {
    it->second = users_.Add();
    users_[it->second].name = name;
    users_[it->second].max_running = limit;
    users_[it->second].most = most;
  }
  ++users_[it->second].applications;
  return it->second;
}

void Users::Leave(UserId id) {
  User& user = users_[id];
  if (--user.applications > 0) return;
  std::erase(reopened_, id);
  if (user.most) freed_.insert(id);
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

void Users::AddUse(UserId id, const model::Resources& size) {
  User& user = users_[id];
  user.used += size;
  if (user.most && size.AnyNegative()) freed_.insert(id);
}

void Users::SetMaxima(bool any, const std::function<std::optional<model::Resources>(const UserName&)>& most) {
  counts_use_ = any;
  for (const UserId id : users_) {
    User& user = users_[id];
    const bool limited = user.most.has_value();
    user.most = any ? most(user.name) : std::nullopt;
    if (!any) user.used = {};
    if (limited) freed_.insert(id);
  }
}

std::string Users::Check(const std::map<UserId, int32_t>& running,
                         const std::map<UserId, model::Resources>& used) const {
  if (by_name_.size() != users_.count()) return "users by name";
  for (const UserId id : users_) {
    const User& user = users_[id];
    const auto it = running.find(id);
    if (user.applications <= 0) return "user " + user.name.name + ": kept without applications";
    if (user.running != (it == running.end() ? 0 : it->second)) return "user " + user.name.name + ": running";
    if (!counts_use_) continue;
    const auto uses = used.find(id);
    if (user.used != (uses == used.end() ? model::Resources{} : uses->second)) {
      return "user " + user.name.name + ": usage";
    }
  }
  return "";
}

void Users::Mix(base::StateHasher& hash) const {
  hash.Mix(uint64_t{counts_use_});
  for (const UserId id : users_) {
    const User& user = users_[id];
    hash.Mix(id.value);
    hash.Mix(uint64_t{user.name.group});
    hash.Mix(user.name.name);
    hash.Mix(static_cast<uint64_t>(user.applications));
    hash.Mix(static_cast<uint64_t>(user.running));
    hash.Mix(static_cast<uint64_t>(user.max_running));
    for (const AppIndex app : user.waiting) hash.Mix(app.value);
    for (const int64_t amount : user.used.amount) hash.Mix(static_cast<uint64_t>(amount));
    hash.Mix(uint64_t{user.most.has_value()});
    for (const int64_t amount : user.most.value_or(model::Resources{}).amount) hash.Mix(static_cast<uint64_t>(amount));
  }
  for (const UserId user : reopened_) hash.Mix(user.value);
  hash.Mix(freed_.size());
  for (const UserId user : freed_) hash.Mix(user.value);
}

}  // namespace fairlead::scheduler::native
