#include "shell/nm/orders.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace fairlead::shell {

namespace {

constexpr mode_t kNewMode = 0700;  // of a top until it is its owner's

/// A directory of the agent's that nobody else can change. Not root's: else who has taken over the agent could have
/// directories made for a user of his among the system's.
base::Status IsOurs(int directory, const std::string& name, const RunAs& policy) {
  struct stat info {};
  if (::fstat(directory, &info) < 0) return ErrnoOf(name);
  if (info.st_uid != policy.agent.user)
    return base::Error{name + " belongs to user id " + std::to_string(info.st_uid) + " instead of " +
                       policy.agent.name + ", the node agent's user"};
  return CheckIsSafe(info, name, policy.agent.user, policy.agent.group);
}

/// The directory that holds a top, and the top's name in it.
struct Holder {
  Fd directory;
  std::string name;
};
base::Result<Holder> HolderOf(const Top& top, const RunAs& policy) {
  const size_t slash = top.below.rfind('/');
  const std::string above = slash == std::string::npos ? "" : top.below.substr(0, slash);
  Holder holder{Fd(), top.below.substr(slash == std::string::npos ? 0 : slash + 1)};
  if (holder.name.empty() || holder.name == "." || holder.name == "..")
    return base::Error{top.below + " is no name of a directory", EINVAL};
  base::Result<Fd> root = OpenRoot(top.root);
  if (!root) return root.error();
  base::Result<Fd> directory = OpenDirectory(root->get(), above);
  if (!directory) return directory.error();
  holder.directory = std::move(*directory);
  if (!policy.switch_user) return holder;
  if (base::Status ours = IsOurs(root->get(), top.root, policy); !ours) return ours.error();
  if (base::Status ours = IsOurs(holder.directory.get(), top.root + "/" + above, policy); !ours) return ours.error();
  return holder;
}

/// Who owns the first of the tops that is there.
base::Result<UnixUser> OwnerOf(const std::vector<Top>& tops, const RunAs& policy) {
  for (const Top& top : tops) {
    const base::Result<Holder> holder = HolderOf(top, policy);
    if (!holder) return holder.error();
    struct stat info {};
    if (::fstatat(holder->directory.get(), holder->name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0) continue;
    if (!policy.switch_user || info.st_uid == policy.agent.user) return policy.agent;
    const base::Result<UnixUser> account = policy.PublicAccount();
    if (account && account->user == info.st_uid) return account;
    base::Result<UnixUser> owner = FindUnixUser(info.st_uid);
    if (!owner) return owner;
    if (base::Status good = policy.Check(*owner); !good) return good.error();
    return owner;
  }
  return base::Error{"there is no such directory", ENOENT};
}

}  // namespace

base::Status MakeTop(const Top& top, const UnixUser& owner, const RunAs& policy) {
  const base::Result<Holder> holder = HolderOf(top, policy);
  if (!holder) return holder.error();
  const std::string path = top.root + "/" + top.below;
  const bool made = ::mkdirat(holder->directory.get(), holder->name.c_str(), kNewMode) == 0;
  if (!made && errno != EEXIST) return ErrnoOf("cannot make " + path);
  const base::Result<Fd> directory = OpenDirectory(holder->directory.get(), holder->name);
  if (!directory) return base::Error{path + ": " + directory.error().message, directory.error().code};
  struct stat info {};
  if (::fstat(directory->get(), &info) < 0) return ErrnoOf(path);
  if (!policy.switch_user) {
    if (made && ::fchmod(directory->get(), top.mode) < 0) return ErrnoOf("chmod " + path);
    return {};
  }
  // Root's with this mode: another order, perhaps one that was ended, has made it just now and not given it away yet.
  const bool is_new = made || (info.st_uid == 0 && (info.st_mode & 07777) == kNewMode);
  if (!is_new && info.st_uid != owner.user) {
    return base::Error{path + " belongs to user id " + std::to_string(info.st_uid) + " instead of " + owner.name +
                       "; remove it"};
  }
  // The agent's group comes with everything below, so that shuffle services read what containers wrote (as Hadoop's
  // container-executor does).
  const mode_t mode = top.mode | S_ISGID;
  if (!is_new && info.st_gid == policy.agent.group && (info.st_mode & 07777) == mode) return {};
  if (::fchown(directory->get(), owner.user, policy.agent.group) < 0) return ErrnoOf("chown " + path);
  if (::fchmod(directory->get(), mode) < 0) return ErrnoOf("chmod " + path);
  return {};
}

base::Result<UnixUser> PrepareAccount(const Order& order, const RunAs& policy) {
  base::Result<UnixUser> user = order.is_public           ? policy.PublicAccount()
                                : order.submitter.empty() ? OwnerOf(order.tops, policy)
                                                          : policy.AccountOf(order.submitter);
  if (!user) return user;
  for (const Top& top : order.tops) {
    if (top.mode == 0) continue;
    if (base::Status made = MakeTop(top, *user, policy); !made) return made.error();
  }
  return user;
}

}  // namespace fairlead::shell
