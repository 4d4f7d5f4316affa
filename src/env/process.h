#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace fairlead::env {

struct ExitStatus {
  int code = 0;    // of exit()
  int signal = 0;  // not 0: ended by this signal
};

struct SpawnRequest {
  std::vector<std::string> argv;  // argv[0] is a path
  std::map<std::string, std::string> environment;
  std::string directory;
  std::string stdin_path = "/dev/null";
  std::string stdout_path = "/dev/null";  // appended to
  std::string stderr_path = "/dev/null";
  bool new_session = true;
  uint32_t user = UINT32_MAX;  // not UINT32_MAX: run as this user and group
  uint32_t group = UINT32_MAX;
};

/// Child processes.
class Processes {
 public:
  virtual ~Processes() = default;
  using ExitHandler = std::function<void(ExitStatus)>;
  /// Starts a process; `on_exit` runs once on the loop when it ended and was reaped.
  virtual base::Result<int64_t> Spawn(const SpawnRequest& request, ExitHandler on_exit) = 0;
  /// Calls `on_gone` once when the process (any, not only a child) is gone; at once when it is gone already.
  /// `start_ticks` guards against a reused pid (field 22 of /proc/PID/stat; 0: not checked).
  virtual void Watch(int64_t pid, uint64_t start_ticks, std::function<void()> on_gone) = 0;
  /// Signals one process, or a process group when `pid` is negative. A process that is gone is success.
  virtual base::Status Signal(int64_t pid, int signal) = 0;
};

}  // namespace fairlead::env
