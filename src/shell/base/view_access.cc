#include "shell/base/view_access.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "config/allocation_file.h"
#include "model/access_list.h"

namespace fairlead::shell {

namespace {

constexpr char kMapping[] = "hadoop.security.group.mapping";
constexpr char kOverrides[] = "hadoop.user.group.static.mapping.overrides";

/// As this machine knows them (ShellBasedUnixGroupsMapping).
std::vector<std::string> GroupsOfAccount(const std::string& user) {
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

using Overrides = std::map<std::string, std::vector<std::string>>;

/// "user=group,group;user=": the machine is not asked for these.
Overrides ReadOverrides(const config::HadoopConf& conf) {
  Overrides overrides;
  std::vector<std::string> users;
  const std::string text = conf.String(kOverrides);
  boost::algorithm::split(users, text, [](char c) { return c == ';'; });
  for (const std::string& part : users) {
    if (base::Trimmed(part).empty()) continue;
    const size_t equals = part.find('=');
    const std::string user(base::Trimmed(part.substr(0, equals)));
    if (user.empty() || equals == std::string::npos || part.find('=', equals + 1) != std::string::npos) {
      conf.Refuse(kOverrides, "'" + part + "' names no user and his groups; write user=group,group;other=group");
      continue;
    }
    std::vector<std::string> groups;
    const std::string list = part.substr(equals + 1);
    boost::algorithm::split(groups, list, [](char c) { return c == ','; });
    for (std::string& group : groups) boost::algorithm::trim(group);
    std::erase(groups, "");
    overrides[user] = std::move(groups);
  }
  return overrides;
}

GroupLookup ReadMapping(const config::HadoopConf& conf) {
  const std::string mapping(base::Trimmed(conf.String(kMapping)));
  const std::string name = mapping.substr(mapping.rfind('.') + 1);
  if (name == "NullGroupsMapping") return [](const std::string&) { return std::vector<std::string>(); };
  for (const char* known :
       {"", "ShellBasedUnixGroupsMapping", "JniBasedUnixGroupsMapping", "JniBasedUnixGroupsMappingWithFallback"}) {
    if (name == known) return GroupsOfAccount;
  }
  conf.Refuse(kMapping, mapping +
                            " is not supported, and without it lists and rules would count other groups; groups are "
                            "those of this machine's accounts (SSSD brings a directory's there): write "
                            "org.apache.hadoop.security.JniBasedUnixGroupsMappingWithFallback");
  return GroupsOfAccount;
}

/// Keeps groups for five minutes.
class RememberedGroups {
 public:
  explicit RememberedGroups(GroupLookup look_up) : look_up_(std::move(look_up)) {}

  std::vector<std::string> Of(const std::string& user) {
    const Clock::time_point now = Clock::now();
    {
      const std::lock_guard lock(mutex_);
      if (const auto it = cache_.find(user); it != cache_.end() && it->second.until > now) return it->second.groups;
    }
    std::vector<std::string> groups = look_up_(user);
    const std::lock_guard lock(mutex_);
    if (cache_.size() > 10'000) cache_.clear();
    cache_[user] = {now + std::chrono::minutes(5), groups};
    return groups;
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    Clock::time_point until;
    std::vector<std::string> groups;
  };
  GroupLookup look_up_;
  std::mutex mutex_;
  std::map<std::string, Entry> cache_;
};

}  // namespace

GroupLookup ReadGroupLookup(const config::HadoopConf& conf) {
  GroupLookup mapping = ReadMapping(conf);
  Overrides overrides = ReadOverrides(conf);
  if (overrides.empty()) return mapping;
  return [mapping = std::move(mapping), overrides = std::move(overrides)](const std::string& user) {
    const auto found = overrides.find(user);
    return found == overrides.end() ? mapping(user) : found->second;
  };
}

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
  const auto known = std::make_shared<RememberedGroups>(ReadGroupLookup(conf));
  return [known, administrators = ReadAdministrators(conf)](const std::string& caller, const std::string& owner,
                                                            const std::string& view_acl) {
    if (caller == owner) return true;
    const std::vector<std::string> groups = known->Of(caller);
    return model::Lists(administrators, caller, groups) ||
           model::Lists(config::ParseAccessList(view_acl.empty() ? " " : view_acl), caller, groups);
  };
}

}  // namespace fairlead::shell
