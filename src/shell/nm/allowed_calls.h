#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fairlead::shell {

/// The system calls of a process that has root's rights, or that works among a user's files: files, memory, threads,
/// sockets, becoming another user, ending its own processes. Any other call ends the process with SIGSYS. Nothing that
/// loads a program, looks into another process, changes mounts or namespaces, or administers the machine. What a
/// process starts has its list, too. Compiled once (about a millisecond), so that imposing it costs one call.
class AllowedCalls {
 public:
  enum class NewProcesses : uint8_t { kAllowed, kForbidden };

  AllowedCalls() = default;
  static base::Result<AllowedCalls> Compile(NewProcesses new_processes);
  /// Everything but calls that administer the machine (its modules, swap, clock), which get EPERM: for what containers
  /// descend from. They lose nothing, as the kernel answers so whoever has no capabilities.
  static base::Result<AllowedCalls> AllButAdministration();
  /// From here on this process has the list, and no new privileges. For a process with one thread.
  base::Status Impose() const;

 private:
  explicit AllowedCalls(std::vector<sock_filter> program) : program_(std::move(program)) {}

  std::vector<sock_filter> program_;
};

}  // namespace fairlead::shell
