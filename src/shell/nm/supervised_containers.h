#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "env/loop.h"
#include "env_posix/use_meter.h"
#include "process/nm/ports.h"
#include "shell/nm/cgroup.h"
#include "shell/nm/errands.h"
#include "shell/nm/helper.h"
#include "shell/nm/network_rates.h"

namespace fairlead::shell {

struct SupervisedOptions {
  std::string control_root;  // a directory of its own per container
  Cgroups cgroups;
  bool limit_memory = true;      // hard limit by the kernel where it can
  bool limit_cpu = false;        // hard limit, besides shares
  int64_t processes_max = 8192;  // fairlead.nm.container-processes-max: of one container, threads included
  size_t disk_rate_type = 0;     // fairlead.nm.disk-rate-type: the resource type that is MiB/s of disks; 0: none
  size_t network_rate_type = 0;  // fairlead.nm.network-rate-type: the one that is Mbit/s sent; 0: none
  std::shared_ptr<NetworkRates> network;  // null: without limit
  base::Duration agent_away = base::Duration::Seconds(600);
  base::Duration leftover_grace = base::Duration::Millis(250);
  base::Duration usage_interval = base::Duration::Seconds(3);
  env_posix::MachinePart machine;    // fairlead.nm.machine.*: what of this machine is the node's
  int64_t stderr_tail_bytes = 4096;  // yarn.nodemanager.container.stderr.tail.bytes
  std::string umask = "027";
  /// For the log; called on the containers' thread.
  std::function<void(const std::string& warning)> warn;
};

/// Containers on the real machine: a supervisor process each (supervisor.h), one thread that speaks to all of them and
/// waits for none: what lies among a user's files is an errand's.
std::unique_ptr<process::nm::Containers> MakeSupervisedContainers(env::Loop& loop, Helper& helper, Errands& errands,
                                                                  Watchdog& watchdog, SupervisedOptions options);

}  // namespace fairlead::shell
