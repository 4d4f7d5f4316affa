#include "shell/base/view_access.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <mutex>

#include "config/allocation_file.h"
#include "model/access_list.h"

namespace fairlead::shell {

std::vector<std::string> LookUpGroups(const std::string& user) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16 * 1024);
  if (getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found) return {};
  int count = 256;
  std::vector<gid_t> ids(static_cast<size_t>(count));
  if (getgrouplist(user.c_str(), entry.pw_gid, ids.data(), &count) < 0) count = static_cast<int>(ids.size());
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    group group_entry{};
    group* group_found = nullptr;
    std::vector<char> group_buffer(64 * 1024);
    if (getgrgid_r(ids[static_cast<size_t>(i)], &group_entry, group_buffer.data(), group_buffer.size(), &group_found) ==
            0 &&
        group_found) {
      names.emplace_back(group_entry.gr_name);
    }
  }
  return names;
}

namespace {

std::vector<std::string> GroupsOfUser(const std::string& user) {
  using Clock = std::chrono::steady_clock;
  struct Entry {
    Clock::time_point until;
    std::vector<std::string> groups;
  };
  static std::mutex mutex;
  static std::map<std::string, Entry> cache;
  const Clock::time_point now = Clock::now();
  {
    const std::lock_guard lock(mutex);
    if (const auto it = cache.find(user); it != cache.end() && it->second.until > now) return it->second.groups;
  }
  std::vector<std::string> groups = LookUpGroups(user);
  const std::lock_guard lock(mutex);
  if (cache.size() > 10'000) cache.clear();
  cache[user] = {now + std::chrono::minutes(5), groups};
  return groups;
}

}  // namespace

std::string OwnUser() {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16 * 1024);
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found) {
    return std::to_string(geteuid());
  }
  return entry.pw_name;
}

model::AccessList ReadAdministrators(const config::HadoopConf& conf) {
  model::AccessList administrators = config::ParseAccessList(conf.String("yarn.admin.acl", "*"));
  administrators.users.push_back(OwnUser());
  return administrators;
}

ViewAccess ReadViewAccess(const config::HadoopConf& conf) {
  if (!conf.Bool("yarn.acl.enable", false)) {
    return [](const std::string&, const std::string&, const std::string&) { return true; };
  }
  return [administrators = ReadAdministrators(conf)](const std::string& caller, const std::string& owner,
                                                     const std::string& view_acl) {
    if (caller == owner) return true;
    const std::vector<std::string> groups = GroupsOfUser(caller);
    return model::Lists(administrators, caller, groups) ||
           model::Lists(config::ParseAccessList(view_acl.empty() ? " " : view_acl), caller, groups);
  };
}

}  // namespace fairlead::shell
