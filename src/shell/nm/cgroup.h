#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fairlead::shell {

/// Limits of one container; 0: none.
struct CgroupLimits {
  int64_t memory_bytes = 0;
  int64_t cpu_shares_vcores = 0;  // share of the machine when it is busy, in virtual cores
  double cpu_cores_max = 0;       // hard limit
  int64_t processes_max = 0;
  int64_t disk_bytes_per_second = 0;  // from each of the disks given to Detect(), and the same to it
  uint32_t network_class = 0;         // of the bytes that it sends (NetworkRates)
};

/// One container's control groups: a directory per hierarchy (v1) or one (v2).
struct CgroupPlace {
  std::vector<std::string> directories;  // to join by writing a pid to cgroup.procs
  std::string memory_directory;          // holds memory limit and counters; empty: no such controller
  bool is_v2 = false;
};

/// Control groups, version 1 or 2, as far as this machine lets us write them: memory, CPU, number of processes, rate of
/// disks and class of network packets of one container each below `<mount>/<hierarchy>/`. What is missing is told once
/// by Description().
class Cgroups {
 public:
  /// Looks at /proc/self/mountinfo and tries out what can be written. `hierarchy` is a relative path, as
  /// yarn.nodemanager.linux-container-executor.cgroups.hierarchy. All containers together weigh as much as
  /// `node_vcores` processes beside the machine's others, unless somebody has given the hierarchy a weight; 0: leave
  /// it.
  /// `disks`: "major:minor" of those whose rate is to be limited; none: no such group is made. `network`: whether
  /// packets are to have classes, for which only version 1 has a controller (net_cls).
  static Cgroups Detect(const std::string& hierarchy, int64_t node_vcores = 0, std::vector<std::string> disks = {},
                        bool network = false);

  bool has_memory() const { return !memory_root_.empty(); }
  bool has_cpu() const { return !cpu_root_.empty(); }
  bool has_processes() const { return !pids_root_.empty(); }
  bool has_disks() const { return !io_root_.empty(); }
  bool has_network() const { return !network_root_.empty(); }
  /// For the log: what is used, what not and why.
  const std::string& Description() const { return description_; }

  base::Result<CgroupPlace> Create(const std::string& name, const CgroupLimits& limits) const;
  /// The groups of `name` from an earlier run, as far as they exist.
  CgroupPlace Find(const std::string& name) const;
  base::Status SetLimits(const CgroupPlace& place, const CgroupLimits& limits) const;
  /// The class that SetLimits() gave to its packets; 0: none.
  uint32_t NetworkClassOf(const CgroupPlace& place) const;
  /// Gives the hierarchy to a user, who can then make groups in it without other rights (Hadoop: container-executor
  /// --mount-cgroups). As root.
  base::Status GiveTo(uint32_t user, uint32_t group) const;
  /// Removes the hierarchy's own directories when they are empty.
  void RemoveHierarchy() const;

 private:
  std::vector<std::string> RootsOf() const;
  /// Makes the hierarchy's own directories (again: another agent may have removed the empty ones).
  std::string MakeRoots() const;
  void WeighCpuRoot() const;
  std::string memory_root_;  // <mount>/<hierarchy>
  std::string cpu_root_;
  std::string pids_root_;
  std::string io_root_;
  std::string network_root_;
  std::vector<std::string> disks_;
  std::string mount_v2_;
  std::string cpu_mount_;
  int64_t node_vcores_ = 0;
  bool is_v2_ = false;
  std::string description_;
};

/// "major:minor" of the whole disk on which `path` (or what there is of it) lies; an error for what lies on none, such
/// as a tmpfs.
base::Result<std::string> DiskOf(const std::string& path);

/// Processes of the group and, in v2, below it.
std::vector<int64_t> CgroupProcesses(const CgroupPlace& place);
/// How often the kernel killed in this group because of its memory limit; -1 when unknown.
int64_t CgroupOomKills(const CgroupPlace& place);
/// Most memory used at once, in bytes; 0 when unknown.
int64_t CgroupPeakBytes(const CgroupPlace& place);
/// Kills all at once where the kernel can (cgroup.kill); else sends SIGKILL to each process.
void CgroupKill(const CgroupPlace& place);
/// Removes the directories; false while a process is still in one. `parents_too`: also the hierarchy above, if empty.
bool CgroupRemove(const CgroupPlace& place, bool parents_too = false);

}  // namespace fairlead::shell
