#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"

namespace fairlead::shell {

/// A user of this machine that containers or files can belong to.
struct UnixUser {
  std::string name;
  uint32_t user = 0;
  uint32_t group = 0;
  std::vector<uint32_t> groups;
  FL_FIELDS(name, user, group, groups)
};
base::Result<UnixUser> FindUnixUser(const std::string& name);
base::Result<UnixUser> FindUnixUser(uint32_t id);
/// Who this process is.
UnixUser OwnUnixUser();

/// Who may act on a node, and as whom (Hadoop: DefaultContainerExecutor: the agent's user; LinuxContainerExecutor: the
/// submitter, or one local user for all where limit-users is on; container-executor.cfg: min.user.id, banned.users,
/// allowed.system.users). Hadoop's banned users are banned here whatever the configuration says, and so is root.
struct RunAs {
  bool switch_user = false;
  std::string always;  // not empty: this user for everybody
  uint32_t min_user_id = 1000;
  std::vector<std::string> banned{"yarn", "mapred", "hdfs", "bin"};
  std::vector<std::string> allowed_system;
  UnixUser agent;  // containers and their files never belong to it, unless users are not switched
  std::string public_account = "nobody";  // fetches PUBLIC resources; the agent itself where that is not root
  FL_FIELDS(switch_user, always, min_user_id, banned, allowed_system, agent, public_account)

  std::string NameFor(const std::string& submitter) const { return always.empty() ? submitter : always; }
  /// The account for a submitter's containers and files, or why there is none.
  base::Result<UnixUser> AccountOf(const std::string& submitter) const;
  /// Whether containers may run as this account.
  base::Status Check(const UnixUser& user) const;
  base::Result<UnixUser> PublicAccount() const;
};

/// Makes this process `user` for good: its groups, no capability, no way to get one (no_new_privs, empty bounding set).
/// For a process with one thread.
base::Status Become(const UnixUser& user);
/// Makes this process `user`, who keeps these capabilities and no other, as below. For a process with one thread.
base::Status BecomeWith(const UnixUser& user, const std::string& capabilities);
/// Keeps of the capabilities only these (libcap's words, "cap_kill,cap_setuid"; "": none); no program that is loaded
/// later gets any.
base::Status KeepCapabilities(const std::string& names);

}  // namespace fairlead::shell
