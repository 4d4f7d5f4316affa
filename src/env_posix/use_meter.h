#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/measured_use.h"

namespace fairlead::env_posix {

/// Where the kernel's files are; tests make a tree of their own.
struct KernelTree {
  std::string proc = "/proc";
  std::string sys = "/sys";
};

/// What the kernel has counted for the machine, or for some processes. kUnknown (model::MeasuredUse): not told.
struct UseCounters {
  int64_t cpu_us = model::MeasuredUse::kUnknown;
  int64_t physical_bytes = model::MeasuredUse::kUnknown;  // in use now
  int64_t virtual_bytes = model::MeasuredUse::kUnknown;   // now
  int64_t disk_bytes = model::MeasuredUse::kUnknown;
  std::map<std::string, int64_t> disk_busy_ms;  // by disk
  int64_t network_bytes = model::MeasuredUse::kUnknown;
};

/// A machine that is a part of this one (an agent in a container of its own): what counts as its own.
struct MachinePart {
  std::vector<std::string> control_groups;  // directories that count its CPU and memory; none: the machine's counts
  std::vector<std::string> disks;           // names of block devices of any kind; none: as below
  std::vector<std::string> interfaces;      // none: as below
};

/// The machine: /proc/stat, /proc/meminfo (what is not available to new programs), /proc/diskstats (whole disks; none
/// that lies in memory or in a file) and /proc/net/dev (all interfaces but the loopback one and those that are part of
/// another).
UseCounters CountMachine(const MachinePart& part = {}, const KernelTree& kernel = {});

/// What the part's control groups allow: cores (rounded, at least one) and MiB; 0: no limit is set.
struct MachineLimits {
  int64_t cores = 0;
  int64_t mib = 0;
};
MachineLimits LimitsOf(const MachinePart& part);
/// What there is of the part: its limits, else all that this machine has.
MachineLimits SizeOf(const MachinePart& part);

/// What one measured thing consists of: its live processes and the control groups that count it.
struct Processes {
  std::vector<int64_t> pids;
  std::vector<std::string> control_groups;  // directories of version 1 or 2; may be none
};

/// Some processes. CPU: their control group's, else their own with that of children they have waited for. Memory: their
/// control group's without file pages that the kernel can drop at once, else proportional set sizes, else resident ones
/// where those may not be read. Disk: what they and children they waited for had read and written by disks; not known
/// of processes that this one may not look into. Network: known only of processes in a network namespace of their own.
UseCounters CountProcesses(const Processes& processes, const KernelTree& kernel = {});

/// Makes use in an interval out of two counts. For the node, a container, an executor or a Worker: one meter each.
class UseMeter {
 public:
  /// `now` is when it was counted. Amounts of a first count are unknown, except memory. A counter that runs backwards
  /// (a process ended unwaited for) counts as no use.
  model::MeasuredUse Measure(base::Instant now, UseCounters counters);

 private:
  std::optional<base::Instant> at_;
  UseCounters last_;
};

}  // namespace fairlead::env_posix
