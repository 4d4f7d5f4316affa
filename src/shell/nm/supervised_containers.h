#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "env/loop.h"
#include "process/nm/ports.h"
#include "shell/nm/cgroup.h"

namespace fairlead::shell {

/// A user of this machine that containers or files can belong to.
struct UnixUser {
  uint32_t user = 0;
  uint32_t group = 0;
  std::vector<uint32_t> groups;
};
base::Result<UnixUser> FindUnixUser(const std::string& name);

/// Who containers run as (Hadoop: DefaultContainerExecutor: the agent's user; LinuxContainerExecutor: the submitter, or
/// one local user for all where limit-users is on). Root is refused as a container's user, as Hadoop bans it.
struct RunAs {
  bool switch_user = false;
  std::string always;  // not empty: this user for everybody
  std::string NameFor(const std::string& submitter) const { return always.empty() ? submitter : always; }
};

struct SupervisedOptions {
  std::string binary = "/proc/self/exe";  // understands "supervise DIR"
  std::string control_root;               // a directory of its own per container
  Cgroups cgroups;
  RunAs run_as;
  bool limit_memory = true;  // hard limit by the kernel where it can
  bool limit_cpu = false;    // hard limit, besides shares
  int64_t processes_max = 0;
  base::Duration agent_away = base::Duration::Seconds(600);
  base::Duration leftover_grace = base::Duration::Millis(250);
  base::Duration usage_interval = base::Duration::Seconds(3);
  int64_t stderr_tail_bytes = 4096;  // yarn.nodemanager.container.stderr.tail.bytes
  std::string umask = "027";
  /// For the log; called on the containers' thread.
  std::function<void(const std::string& warning)> warn;
};

/// Containers on the real machine: a supervisor process each (supervisor.h), one thread that speaks to all of them.
std::unique_ptr<process::nm::Containers> MakeSupervisedContainers(env::Loop& loop, SupervisedOptions options);

}  // namespace fairlead::shell
