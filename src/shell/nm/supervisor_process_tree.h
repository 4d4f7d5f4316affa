#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::shell {

/// One line of /proc: what is needed to walk trees.
struct ProcessInfo {
  int64_t pid = 0;
  int64_t parent = 0;
  int64_t group = 0;
  int64_t session = 0;
  char state = '?';
  uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat: tells a reused pid
};

/// Reads /proc/PID/stat; false when the process is gone.
bool ReadProcess(int64_t pid, ProcessInfo& info);
/// All processes, by pid.
std::vector<ProcessInfo> ListProcesses();
/// `root`'s descendants (without itself) among `all`, parents first.
std::vector<ProcessInfo> DescendantsOf(int64_t root, const std::vector<ProcessInfo>& all);
/// Processes whose environment at start holds `NAME=value` (only readable ones). `not_known` becomes true when some
/// process is in the middle of an exec and shows none.
std::vector<int64_t> ProcessesWithVariable(const std::string& assignment, bool* not_known = nullptr);

}  // namespace fairlead::shell
