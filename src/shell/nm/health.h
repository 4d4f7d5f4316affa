#pragma once

#include <string>

#include "env/alive.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/process.h"
#include "process/nm/node_manager.h"
#include "shell/nm/dirs.h"
#include "shell/nm/helper.h"
#include "shell/nm/settings.h"
#include "shell/nm/watchdog.h"

namespace fairlead::shell {

/// Tells the node agent whether its machine is fit: disks by NmDirs, and the administrator's script, which says so by a
/// line that begins with ERROR (Hadoop: NodeHealthCheckerService, NodeHealthScriptRunner). A script that does not end
/// in time counts as unhealthy. So does a thread of the agent that hangs, and a helper that has gone.
class NmHealth {
 public:
  NmHealth(env::Loop& loop, env::Processes& processes, env::Log& log, const NmSettings& settings, NmDirs& dirs,
           process::nm::NodeManager& manager, Watchdog& watchdog, Helper& helper);
  ~NmHealth();

 private:
  void CheckDisks();
  void CheckThreads();
  void RunScript();
  void ScheduleScript();
  void KillScript();
  void ScriptEnded(env::ExitStatus status);
  void Tell();

  env::Loop& loop_;
  env::Processes& processes_;
  env::Log& log_;
  const NmSettings& settings_;
  NmDirs& dirs_;
  process::nm::NodeManager& manager_;
  Watchdog& watchdog_;
  Helper& helper_;
  std::string thread_error_;  // "": all go on
  std::string script_error_;  // "" : healthy
  std::string told_;          // what makes it unfit, as the log has it; "": it is fit
  int64_t script_pid_ = 0;
  bool script_timed_out_ = false;
  env::Alive alive_;
};

}  // namespace fairlead::shell
