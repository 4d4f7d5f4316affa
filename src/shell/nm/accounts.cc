#include "shell/nm/accounts.h"

#include <grp.h>
#include <pwd.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace fairlead::shell {

namespace {

constexpr size_t kGroupsMax = 65536;
constexpr size_t kEntryBytesMax = 1 << 20;

/// One line of the user database: `look` is getpwnam_r or getpwuid_r.
template <class Look>
base::Result<UnixUser> Find(const std::string& who, Look&& look) {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  int error = 0;
  while ((error = look(&entry, buffer.data(), buffer.size(), &found)) == ERANGE && buffer.size() < kEntryBytesMax)
    buffer.resize(buffer.size() * 2);
  if (error != 0 || !found) return base::Error{"User " + who + " not found"};
  UnixUser user{entry.pw_name, entry.pw_uid, entry.pw_gid, {}};
  int count = 64;
  std::vector<gid_t> groups(static_cast<size_t>(count));
  while (::getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count) < 0 && groups.size() < kGroupsMax) {
    groups.resize(std::max(static_cast<size_t>(count), groups.size() * 2));
    count = static_cast<int>(groups.size());
  }
  user.groups.assign(groups.begin(), groups.begin() + std::min<std::ptrdiff_t>(count, std::ssize(groups)));
  return user;
}

/// What programs could get by being loaded; for who may not, it does nothing.
void DropBoundingSet() {
  for (cap_value_t cap = 0; ::cap_get_bound(cap) >= 0; ++cap) ::cap_drop_bound(cap);
}

base::Error CannotBecome(const UnixUser& user) {
  return {"cannot become " + user.name + ": " + std::strerror(errno), errno};
}

base::Status ChangeTo(const UnixUser& user) {
  if (user.user == ::geteuid() && user.group == ::getegid()) return {};
  const std::vector<gid_t> groups(user.groups.begin(), user.groups.end());
  const bool changed = ::setgroups(groups.size(), groups.data()) == 0 &&
                       ::setresgid(user.group, user.group, user.group) == 0 &&
                       ::setresuid(user.user, user.user, user.user) == 0;
  return changed ? base::Status() : CannotBecome(user);
}

bool Contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

base::Result<UnixUser> FindUnixUser(const std::string& name) {
  return Find(name, [&](passwd* entry, char* buffer, size_t size, passwd** found) {
    return ::getpwnam_r(name.c_str(), entry, buffer, size, found);
  });
}

base::Result<UnixUser> FindUnixUser(uint32_t id) {
  return Find(std::to_string(id), [&](passwd* entry, char* buffer, size_t size, passwd** found) {
    return ::getpwuid_r(id, entry, buffer, size, found);
  });
}

UnixUser OwnUnixUser() {
  base::Result<UnixUser> found = FindUnixUser(::geteuid());
  UnixUser own = found ? std::move(*found) : UnixUser{std::to_string(::geteuid()), ::geteuid(), ::getegid(), {}};
  own.group = ::getegid();
  return own;
}

base::Status RunAs::Check(const UnixUser& user) const {
  if (!switch_user) return {};
  if (user.user == 0) return base::Error{"containers do not run as root"};
  const auto refused = [&](const std::string& why) {
    return base::Error{"containers do not run as " + user.name + ": " + why};
  };
  if (user.user == agent.user) return refused("it is the node agent's own user");
  if (Contains(banned, user.name)) return refused("it is one of banned.users");
  if (user.name == public_account && always != user.name && agent.user == 0)
    return refused("PUBLIC resources are fetched by this account");
  // The local user that the administrator named is his choice, as in Hadoop.
  if (user.user < min_user_id && !Contains(allowed_system, user.name) && user.name != always) {
    return refused("its user id " + std::to_string(user.user) + " is below min.user.id " + std::to_string(min_user_id) +
                   "; add it to allowed.system.users if it may");
  }
  return {};
}

base::Result<UnixUser> RunAs::AccountOf(const std::string& submitter) const {
  if (!switch_user) return agent;
  base::Result<UnixUser> user = FindUnixUser(NameFor(submitter));
  if (!user) return user;
  if (base::Status good = Check(*user); !good) return good.error();
  return user;
}

base::Result<UnixUser> RunAs::PublicAccount() const {
  if (!switch_user || agent.user != 0) return agent;
  base::Result<UnixUser> account = FindUnixUser(public_account);
  if (!account) return account;
  account->groups = {account->group};
  if (account->user == 0) return base::Error{"PUBLIC resources are not fetched by root"};
  return account;
}

base::Status KeepCapabilities(const std::string& names) {
  DropBoundingSet();
  const std::string text = names.empty() ? "=" : names + "=ep";
  const std::unique_ptr<std::remove_pointer_t<cap_t>, int (*)(void*)> wanted(::cap_from_text(text.c_str()), ::cap_free);
  if (!wanted || ::cap_set_proc(wanted.get()) < 0)
    return base::Error{std::string("cannot give up capabilities: ") + std::strerror(errno), errno};
  return {};
}

base::Status Become(const UnixUser& user) {
  DropBoundingSet();
  if (base::Status changed = ChangeTo(user); !changed) return changed;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return CannotBecome(user);
  return KeepCapabilities("");
}

base::Status BecomeWith(const UnixUser& user, const std::string& capabilities) {
  DropBoundingSet();
  ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
  if (base::Status changed = ChangeTo(user); !changed) return changed;
  return KeepCapabilities(capabilities);
}

}  // namespace fairlead::shell
