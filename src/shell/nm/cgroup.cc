#include "shell/nm/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "env_posix/read_all.h"
#include "shell/nm/network_rates.h"

namespace fairlead::shell {

namespace {

constexpr int64_t kPeriodMicros = 100'000;
constexpr char kClassFile[] = "/net_cls.classid";

/// A group's share of the CPU among its siblings: the file, what the kernel writes there first, which is also the
/// weight of one ordinary process, and the bounds.
struct WeightFile {
  const char* name;
  int64_t one, min, max;
};
constexpr WeightFile kSharesV1{"/cpu.shares", 1024, 2, 262144};
constexpr WeightFile kWeightV2{"/cpu.weight", 100, 1, 10000};

std::string WeightOf(const WeightFile& file, int64_t vcores) {
  return std::to_string(std::clamp(std::min(vcores, file.max) * file.one, file.min, file.max));
}

/// "" on success, else the reason.
std::string WriteFile(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return path + ": " + std::strerror(errno);
  const ssize_t n = ::write(fd, text.data(), text.size());
  const int error = errno;
  ::close(fd);
  if (n == static_cast<ssize_t>(text.size())) return {};
  return path + ": " + std::strerror(error);
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return env_posix::ReadAll(file);
}

int64_t ReadNumber(const std::string& path, int64_t fallback) {
  const std::string text = ReadText(path);
  char* end = nullptr;
  const int64_t value = std::strtoll(text.c_str(), &end, 10);
  return end == text.c_str() ? fallback : value;
}

/// The number behind `key` in a "key number" table; -1 without it.
int64_t ReadCounter(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string name;
  int64_t value = 0;
  while (file >> name >> value) {
    if (name == key) return value;
  }
  return -1;
}

bool HasWord(const std::string& list, const std::string& word, char separator) {
  std::istringstream in(list);
  std::string item;
  while (std::getline(in, item, separator)) {
    if (!item.empty() && item.back() == '\n') item.pop_back();
    if (item == word) return true;
  }
  return false;
}

struct Mounts {
  std::string memory, cpu, pids, blkio, net_cls;  // v1
  std::string unified;                            // v2
};

/// Mount points of the hierarchies from /proc/self/mountinfo (fields: proc(5)).
Mounts FindMounts() {
  Mounts mounts;
  std::ifstream file("/proc/self/mountinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream head(line.substr(0, dash)), tail(line.substr(dash + 3));
    std::string skip, point, type, source, options;
    head >> skip >> skip >> skip >> skip >> point;
    tail >> type >> source >> options;
    if (type == "cgroup2") mounts.unified = point;
    if (type != "cgroup") continue;
    if (HasWord(options, "memory", ',')) mounts.memory = point;
    if (HasWord(options, "cpu", ',')) mounts.cpu = point;
    if (HasWord(options, "pids", ',')) mounts.pids = point;
    if (HasWord(options, "blkio", ',')) mounts.blkio = point;
    if (HasWord(options, "net_cls", ',')) mounts.net_cls = point;
  }
  return mounts;
}

bool MakeDirectory(const std::string& path, std::string& why) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return true;
  why = path + ": " + std::strerror(errno);
  return false;
}

/// `mount`/`hierarchy` with all its parents, or "" and the reason.
std::string MakeRoot(const std::string& mount, const std::string& hierarchy, std::string& why) {
  std::string path = mount;
  std::istringstream parts(hierarchy);
  std::string part;
  while (std::getline(parts, part, '/')) {
    if (part.empty() || part == "." || part == "..") continue;
    path += "/" + part;
    if (!MakeDirectory(path, why)) return {};
  }
  if (::access((path + "/cgroup.procs").c_str(), W_OK) != 0) {
    why = path + "/cgroup.procs: " + std::strerror(errno);
    return {};
  }
  return path;
}

/// Switches a controller on for the children of every directory from `mount` down to `root`; false when refused.
bool EnableBelow(const std::string& mount, const std::string& root, const std::string& controller, std::string& why) {
  for (std::string path = mount;;) {
    why = WriteFile(path + "/cgroup.subtree_control", "+" + controller);
    if (!why.empty()) return false;
    if (path == root) return true;
    const size_t slash = root.find('/', path.size() + 1);
    path = root.substr(0, slash);
  }
}

}  // namespace

Cgroups Cgroups::Detect(const std::string& hierarchy, int64_t node_vcores, std::vector<std::string> disks,
                        bool network) {
  Cgroups found;
  found.node_vcores_ = node_vcores;
  found.disks_ = std::move(disks);
  const bool limits_disks = !found.disks_.empty();
  const Mounts mounts = FindMounts();
  std::string why;
  const std::string v2_controllers = mounts.unified.empty() ? "" : ReadText(mounts.unified + "/cgroup.controllers");
  if (HasWord(v2_controllers, "memory", ' ')) {
    found.is_v2_ = true;
    found.mount_v2_ = mounts.unified;
    const std::string root = MakeRoot(mounts.unified, hierarchy, why);
    if (!root.empty() && EnableBelow(mounts.unified, root, "memory", why)) found.memory_root_ = root;
    if (!root.empty() && EnableBelow(mounts.unified, root, "cpu", why)) found.cpu_root_ = root;
    if (!root.empty() && EnableBelow(mounts.unified, root, "pids", why)) found.pids_root_ = root;
    if (limits_disks && !root.empty() && EnableBelow(mounts.unified, root, "io", why)) found.io_root_ = root;
  } else {
    if (!mounts.memory.empty()) found.memory_root_ = MakeRoot(mounts.memory, hierarchy, why);
    if (!mounts.cpu.empty()) found.cpu_root_ = MakeRoot(mounts.cpu, hierarchy, why);
    if (!mounts.pids.empty()) found.pids_root_ = MakeRoot(mounts.pids, hierarchy, why);
    if (limits_disks && !mounts.blkio.empty()) found.io_root_ = MakeRoot(mounts.blkio, hierarchy, why);
    if (mounts.memory.empty()) why = "no memory controller is mounted";
  }
  if (network && !mounts.net_cls.empty()) found.network_root_ = MakeRoot(mounts.net_cls, hierarchy, why);
  found.cpu_mount_ = found.is_v2_ ? mounts.unified : mounts.cpu;
  found.WeighCpuRoot();
  found.description_ = std::string("control groups v") + (found.is_v2_ ? "2" : "1") + ": memory " +
                       (found.has_memory() ? "by the kernel" : "by polling /proc") + ", CPU shares " +
                       (found.has_cpu() ? "on" : "off") + ", process limit " +
                       (found.pids_root_.empty() ? "off" : "on");
  if (limits_disks) found.description_ += std::string(", rate of disks ") + (found.has_disks() ? "on" : "off");
  if (network) found.description_ += std::string(", rate of network ") + (found.has_network() ? "on" : "off");
  if (!why.empty()) found.description_ += " (" + why + ")";
  return found;
}

std::vector<std::string> Cgroups::RootsOf() const {
  std::vector<std::string> roots;
  for (const std::string& root : {memory_root_, cpu_root_, pids_root_, io_root_, network_root_}) {
    if (!root.empty() && std::find(roots.begin(), roots.end(), root) == roots.end()) roots.push_back(root);
  }
  return roots;
}

CgroupPlace Cgroups::Find(const std::string& name) const {
  CgroupPlace place;
  place.is_v2 = is_v2_;
  for (const std::string& root : RootsOf()) {
    const std::string path = root + "/" + name;
    if (::access(path.c_str(), F_OK) != 0) continue;
    place.directories.push_back(path);
    if (root == memory_root_) place.memory_directory = path;
  }
  return place;
}

/// The kernel weighs a new group as one process: all containers together would get the time of one compiler that runs
/// beside them. A weight that somebody else has written stays.
void Cgroups::WeighCpuRoot() const {
  if (cpu_root_.empty() || node_vcores_ <= 0) return;
  const WeightFile& file = is_v2_ ? kWeightV2 : kSharesV1;
  for (size_t end = cpu_mount_.size(); end < cpu_root_.size();) {
    end = std::min(cpu_root_.find('/', end + 1), cpu_root_.size());
    const std::string path = cpu_root_.substr(0, end) + file.name;
    if (ReadNumber(path, 0) == file.one) WriteFile(path, WeightOf(file, node_vcores_));
  }
}

std::string Cgroups::MakeRoots() const {
  std::string why;
  for (const std::string& root : RootsOf()) {
    if (::access(root.c_str(), F_OK) == 0) continue;
    for (size_t slash = root.find('/', 1);; slash = root.find('/', slash + 1)) {
      if (!MakeDirectory(root.substr(0, slash), why)) return why;
      if (slash == std::string::npos) break;
    }
    for (const auto& [owner, controller] :
         {std::pair{&memory_root_, "memory"}, {&cpu_root_, "cpu"}, {&pids_root_, "pids"}, {&io_root_, "io"}}) {
      if (is_v2_ && *owner == root && !EnableBelow(mount_v2_, root, controller, why)) return why;
    }
    if (root == cpu_root_) WeighCpuRoot();
  }
  return why;
}

base::Result<CgroupPlace> Cgroups::Create(const std::string& name, const CgroupLimits& limits) const {
  // Somebody else may remove an empty hierarchy between the two steps: try again.
  for (int attempt = 1;; ++attempt) {
    std::string why = MakeRoots();
    for (const std::string& root : RootsOf()) {
      if (why.empty()) MakeDirectory(root + "/" + name, why);
    }
    if (why.empty()) break;
    if (attempt == 3) return base::Error{why};
  }
  CgroupPlace place = Find(name);
  if (base::Status status = SetLimits(place, limits); !status) return status.error();
  return place;
}

base::Status Cgroups::SetLimits(const CgroupPlace& place, const CgroupLimits& limits) const {
  std::string why;
  const auto set = [&](const std::string& path, const std::string& text) {
    if (why.empty()) why = WriteFile(path, text);
  };
  for (const std::string& directory : place.directories) {
    const auto below = [&](const std::string& root) { return !root.empty() && directory.starts_with(root + "/"); };
    if (below(memory_root_) && limits.memory_bytes > 0) {
      set(directory + (is_v2_ ? "/memory.max" : "/memory.limit_in_bytes"), std::to_string(limits.memory_bytes));
      if (is_v2_) set(directory + "/memory.oom.group", "1");
    }
    if (below(cpu_root_) && limits.cpu_shares_vcores > 0) {
      const WeightFile& file = is_v2_ ? kWeightV2 : kSharesV1;
      set(directory + file.name, WeightOf(file, limits.cpu_shares_vcores));
    }
    if (below(cpu_root_) && limits.cpu_cores_max > 0) {
      const auto quota = static_cast<int64_t>(limits.cpu_cores_max * static_cast<double>(kPeriodMicros));
      if (is_v2_) {
        set(directory + "/cpu.max", std::to_string(quota) + " " + std::to_string(kPeriodMicros));
      } else {
        set(directory + "/cpu.cfs_period_us", std::to_string(kPeriodMicros));
        set(directory + "/cpu.cfs_quota_us", std::to_string(quota));
      }
    }
    if (below(pids_root_) && limits.processes_max > 0)
      set(directory + "/pids.max", std::to_string(limits.processes_max));
    if (below(network_root_))
      set(directory + kClassFile, std::to_string(limits.network_class > 0 ? kNetworkMajor | limits.network_class : 0));
    if (!below(io_root_) || limits.disk_bytes_per_second <= 0) continue;
    for (const std::string& disk : disks_) {
      const std::string rate = std::to_string(limits.disk_bytes_per_second);
      if (is_v2_) {
        set(directory + "/io.max", disk + " rbps=" + rate + " wbps=" + rate);
      } else {
        set(directory + "/blkio.throttle.read_bps_device", disk + " " + rate);
        set(directory + "/blkio.throttle.write_bps_device", disk + " " + rate);
      }
    }
  }
  if (!why.empty()) return base::Error{why};
  return {};
}

uint32_t Cgroups::NetworkClassOf(const CgroupPlace& place) const {
  for (const std::string& directory : place.directories) {
    if (!network_root_.empty() && directory.starts_with(network_root_ + "/"))
      return static_cast<uint32_t>(ReadNumber(directory + kClassFile, 0)) & 0xffff;
  }
  return 0;
}

base::Status Cgroups::GiveTo(uint32_t user, uint32_t group) const {
  for (const std::string& root : RootsOf()) {
    for (const char* name : {"", "/cgroup.procs", "/tasks", "/cgroup.threads", "/cgroup.subtree_control"}) {
      const std::string path = root + name;
      if (::lchown(path.c_str(), user, group) < 0 && errno != ENOENT)
        return base::Error{"cannot give " + path + " to the node agent's user: " + std::strerror(errno), errno};
    }
  }
  return {};
}

void Cgroups::RemoveHierarchy() const {
  for (const std::string& root : RootsOf()) ::rmdir(root.c_str());
}

base::Result<std::string> DiskOf(const std::string& path) {
  std::filesystem::path there = std::filesystem::absolute(path);
  struct stat found {};
  while (::stat(there.c_str(), &found) != 0) {
    if (errno != ENOENT || there == there.parent_path()) return base::Error{path + ": " + std::strerror(errno), errno};
    there = there.parent_path();
  }
  const std::string device = std::to_string(major(found.st_dev)) + ":" + std::to_string(minor(found.st_dev));
  const std::string about = "/sys/dev/block/" + device;
  if (::access(about.c_str(), F_OK) != 0) return base::Error{path + " lies on no disk of its own", ENODEV};
  // The kernel limits whole disks; the one above a partition is the directory above in /sys.
  if (::access((about + "/partition").c_str(), F_OK) != 0) return device;
  const std::string whole = ReadText(about + "/../dev");
  return whole.substr(0, whole.find('\n'));
}

std::vector<int64_t> CgroupProcesses(const CgroupPlace& place) {
  std::vector<int64_t> all;
  for (const std::string& directory : place.directories) {
    std::ifstream file(directory + "/cgroup.procs");
    int64_t pid = 0;
    while (file >> pid) {
      if (pid > 0) all.push_back(pid);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

int64_t CgroupOomKills(const CgroupPlace& place) {
  if (place.memory_directory.empty()) return -1;
  return ReadCounter(place.memory_directory + (place.is_v2 ? "/memory.events" : "/memory.oom_control"), "oom_kill");
}

int64_t CgroupPeakBytes(const CgroupPlace& place) {
  if (place.memory_directory.empty()) return 0;
  return ReadNumber(place.memory_directory + (place.is_v2 ? "/memory.peak" : "/memory.max_usage_in_bytes"), 0);
}

void CgroupKill(const CgroupPlace& place) {
  if (place.is_v2) {
    for (const std::string& directory : place.directories) {
      if (WriteFile(directory + "/cgroup.kill", "1").empty()) return;
    }
  }
  for (const int64_t pid : CgroupProcesses(place)) ::kill(static_cast<pid_t>(pid), SIGKILL);
}

bool CgroupRemove(const CgroupPlace& place, bool parents_too) {
  bool gone = true;
  for (const std::string& directory : place.directories) {
    gone &= ::rmdir(directory.c_str()) == 0 || errno == ENOENT;
    if (parents_too) ::rmdir(directory.substr(0, directory.rfind('/')).c_str());
  }
  return gone;
}

}  // namespace fairlead::shell
