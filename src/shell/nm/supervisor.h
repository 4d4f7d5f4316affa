#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "model/nm.h"
#include "shell/nm/accounts.h"
#include "shell/nm/allowed_calls.h"
#include "shell/nm/container_setup.h"

// One small process per container, so that containers outlive the agent that started them (idea: Mesos' and
// containerd's per-container shims).
//
// The agent makes a control directory, writes `spec` into it and has a supervisor forked (helper.h). The
// supervisor is a child subreaper, so every descendant of the container stays below it; it starts the container in a
// session of its own, writes `pid`, listens on the socket `control`, and when the container's first process ends it
// ends what is left of the tree, writes `exit` and goes. It belongs to the agent's user; where the container is
// somebody else's it keeps the capability to signal him, and, until he runs, to become him. Commands are packets of one
// byte: 'T' terminate, 'K' kill, 'Q' thread dump; answers are "R <pid> <supervisor's pid>" and "X" (look into `exit`).
// The lock on `lock` is held until `exit` is written. When no agent is connected for longer than agent_away_ms the
// container is ended.

namespace fairlead::shell {

inline constexpr char kSupervisorSpec[] = "spec";
inline constexpr char kSupervisorPid[] = "pid";
inline constexpr char kSupervisorExit[] = "exit";
inline constexpr char kSupervisorLock[] = "lock";
inline constexpr char kSupervisorSocket[] = "control";
inline constexpr int kSupervisorChannelFd = 3;  // connected to the agent that started it
inline constexpr int kSupervisorLockFd = 4;

struct SupervisorSpec {
  std::string container;
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=value
  ContainerSetup setup;
  std::vector<std::string> cgroups;  // directories to remove
  std::string memory_cgroup;
  bool cgroup_v2 = false;
  int64_t agent_away_ms = 0;  // 0: for ever
  int64_t leftover_grace_ms = 250;
  int32_t umask = 027;
  int64_t processes_max = 0;  // of the user, where no control group limits the container; 0: no limit
  FL_FIELDS(container, argv, environment, setup, cgroups, memory_cgroup, cgroup_v2, agent_away_ms, leftover_grace_ms,
            umask, processes_max)
};

/// What the helper hands to a supervisor and its order does not say.
struct SupervisorRights {
  bool switch_user = false;
  UnixUser account;                     // as whom the container runs
  std::vector<int> members;             // of control groups: writing "0" joins
  const AllowedCalls* calls = nullptr;  // of the supervisor itself, once its container runs
};

struct SupervisorExit {
  int32_t code = 0;  // 128 + signal where a signal ended it
  model::nm::EndCause cause = model::nm::EndCause::kExit;
  int64_t peak_bytes = 0;
  std::string launch_error;  // not empty: it never ran
  FL_FIELDS(code, cause, peak_bytes, launch_error)
};

struct SupervisorPid {
  int64_t pid = 0;
  uint64_t start_ticks = 0;
  FL_FIELDS(pid, start_ticks)
};

/// Makes the calling process, which must have a single thread, the supervisor of `control_dir`; returns its exit status
/// (0 when the container's end is on disk).
int RunSupervisor(const std::string& control_dir, const SupervisorRights& rights);
/// Leaves there what a supervisor leaves whose container never ran.
void FailSupervisor(const std::string& control_dir, const std::string& why);

/// Reads what a supervisor wrote; an error when it is not there or damaged.
base::Result<SupervisorExit> ReadSupervisorExit(const std::string& control_dir);
base::Result<SupervisorPid> ReadSupervisorPid(const std::string& control_dir);

}  // namespace fairlead::shell
