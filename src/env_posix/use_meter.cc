#include "env_posix/use_meter.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "env_posix/read_all.h"

namespace fairlead::env_posix {
namespace {

constexpr int64_t kUnknown = model::MeasuredUse::kUnknown;
constexpr int64_t kSectorBytes = 512;  // in /proc/diskstats, whatever the disk's own are

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return ReadAll(file);
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

int64_t NumberOf(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : kUnknown;
}

/// The number after `key` in lines of keys and numbers ("MemTotal:  24 kB", "usage_usec 7").
int64_t FindNumber(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const size_t digit = line.find_first_of("0123456789", key.size());
    return digit == std::string::npos ? kUnknown : NumberOf(std::string_view(line).substr(digit));
  }
  return kUnknown;
}

void AddTo(int64_t& sum, int64_t more) {
  if (more != kUnknown) sum = std::max<int64_t>(sum, 0) + more;
}

int64_t TicksToMicros(int64_t ticks) {
  static const int64_t per_second = ::sysconf(_SC_CLK_TCK);
  return ticks * 1'000'000 / per_second;
}

/// User, nice, system, irq, softirq and steal of all cores; neither idle nor waiting for a disk. Guests' time is in
/// user's.
int64_t CpuOfMachine(const std::string& stat) {
  std::istringstream in(stat);
  std::string name;
  int64_t user = 0, nice = 0, system = 0, idle = 0, waits = 0, irq = 0, softirq = 0;
  if (!(in >> name >> user >> nice >> system >> idle >> waits >> irq >> softirq) || name != "cpu") return kUnknown;
  return TicksToMicros(user + nice + system + irq + softirq);
}

bool IsDisk(const KernelTree& kernel, const std::string& name) {
  for (const char* other : {"loop", "ram", "zram", "dm-", "md", "sr"}) {
    if (name.starts_with(other)) return false;
  }
  return Exists(kernel.sys + "/block/" + name);  // a partition is not there
}

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Fields of /proc/diskstats: Documentation/admin-guide/iostats.rst.
void CountDisks(const KernelTree& kernel, const std::vector<std::string>& disks, UseCounters& out) {
  std::istringstream lines(ReadText(kernel.proc + "/diskstats"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string name;
    int64_t skip = 0, read = 0, written = 0, busy_ms = 0;
    in >> skip >> skip >> name >> skip >> skip >> read >> skip >> skip >> skip >> written >> skip >> skip >> busy_ms;
    if (!in || (disks.empty() ? !IsDisk(kernel, name) : !Has(disks, name))) continue;
    AddTo(out.disk_bytes, (read + written) * kSectorBytes);
    out.disk_busy_ms[name] = busy_ms;
  }
}

/// What /proc/net/dev (or a process's) counts, of interfaces that stand for themselves.
int64_t NetworkOf(const KernelTree& kernel, const std::string& path, const std::vector<std::string>& interfaces = {}) {
  std::istringstream lines(ReadText(path));
  int64_t sum = kUnknown;
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '));
    const bool counts = interfaces.empty() ? name != "lo" && !Exists(kernel.sys + "/class/net/" + name + "/master")
                                           : Has(interfaces, name);
    if (!counts) continue;
    std::istringstream in(line.substr(colon + 1));
    int64_t received = 0, skip = 0, sent = 0;
    in >> received >> skip >> skip >> skip >> skip >> skip >> skip >> skip >> sent;
    if (in) AddTo(sum, received + sent);
  }
  return sum;
}

/// The control group's memory in use, without file pages that are dropped before anything is refused.
int64_t MemoryOfGroup(const std::string& directory) {
  const std::string stat = ReadText(directory + "/memory.stat");
  for (const auto& [file, inactive] :
       {std::pair("/memory.current", "inactive_file "), std::pair("/memory.usage_in_bytes", "total_inactive_file ")}) {
    const int64_t all = NumberOf(ReadText(directory + file));
    if (all != kUnknown) return std::max<int64_t>(0, all - std::max<int64_t>(0, FindNumber(stat, inactive)));
  }
  return kUnknown;
}

int64_t CpuOfGroup(const std::string& directory) {
  const int64_t micros = FindNumber(ReadText(directory + "/cpu.stat"), "usage_usec ");
  if (micros != kUnknown) return micros;
  const int64_t nanos = NumberOf(ReadText(directory + "/cpuacct.usage"));
  return nanos == kUnknown ? kUnknown : nanos / 1000;
}

struct ProcessUse {
  int64_t cpu_us = 0;
  int64_t virtual_bytes = 0;
  int64_t resident_bytes = 0;
};

/// /proc/PID/stat (proc(5)), with the CPU time of children that were waited for; nothing when it is gone.
std::optional<ProcessUse> ReadStat(const std::string& process) {
  static const int64_t page = ::sysconf(_SC_PAGESIZE);
  const std::string text = ReadText(process + "/stat");
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream in(text.substr(name_end + 1));
  std::string field;
  std::vector<int64_t> numbers;  // from field 3, the state, on
  while (numbers.size() < 22 && in >> field) numbers.push_back(NumberOf(field));
  if (numbers.size() < 22) return {};
  ProcessUse use;
  use.cpu_us = TicksToMicros(numbers[11] + numbers[12] + numbers[13] + numbers[14]);
  use.virtual_bytes = numbers[20];
  use.resident_bytes = numbers[21] * page;
  return use;
}

int64_t MemoryOf(const std::string& process, int64_t resident) {
  const int64_t kib = FindNumber(ReadText(process + "/smaps_rollup"), "Pss:");
  return kib == kUnknown ? resident : kib * 1024;
}

/// A process that is in another network namespace than this one; what is counted there is the namespace's.
bool HasOwnNetwork(const KernelTree& kernel, const std::string& process) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink(kernel.proc + "/self/ns/net", error);
  if (error) return false;
  const auto its = std::filesystem::read_symlink(process + "/ns/net", error);
  return !error && its != own;
}

}  // namespace

MachineLimits LimitsOf(const MachinePart& part) {
  MachineLimits limits;
  for (const std::string& directory : part.control_groups) {
    for (const char* file : {"/memory.max", "/memory.limit_in_bytes"}) {
      const int64_t bytes = NumberOf(ReadText(directory + file));
      // Version 1 writes "none" as the largest number of pages.
      if (bytes > 0 && bytes < int64_t{1} << 60) limits.mib = bytes >> 20;
    }
    int64_t quota = kUnknown;
    int64_t period = kUnknown;
    std::istringstream(ReadText(directory + "/cpu.max")) >> quota >> period;
    if (quota <= 0 || period <= 0) {
      quota = NumberOf(ReadText(directory + "/cpu.cfs_quota_us"));
      period = NumberOf(ReadText(directory + "/cpu.cfs_period_us"));
    }
    if (quota > 0 && period > 0) limits.cores = std::max<int64_t>(1, (quota + period / 2) / period);
  }
  return limits;
}

MachineLimits SizeOf(const MachinePart& part) {
  const MachineLimits all{::sysconf(_SC_NPROCESSORS_ONLN), ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE) >> 20};
  const MachineLimits limits = LimitsOf(part);
  return {limits.cores > 0 ? std::min(limits.cores, all.cores) : all.cores,
          limits.mib > 0 ? std::min(limits.mib, all.mib) : all.mib};
}

UseCounters CountMachine(const MachinePart& part, const KernelTree& kernel) {
  UseCounters out;
  CountDisks(kernel, part.disks, out);
  out.network_bytes = NetworkOf(kernel, kernel.proc + "/net/dev", part.interfaces);
  if (!part.control_groups.empty()) {
    for (const std::string& directory : part.control_groups) {
      if (out.cpu_us == kUnknown) out.cpu_us = CpuOfGroup(directory);
      if (out.physical_bytes == kUnknown) out.physical_bytes = MemoryOfGroup(directory);
    }
    return out;
  }
  out.cpu_us = CpuOfMachine(ReadText(kernel.proc + "/stat"));
  const std::string memory = ReadText(kernel.proc + "/meminfo");
  const int64_t total = FindNumber(memory, "MemTotal:");
  const int64_t available = FindNumber(memory, "MemAvailable:");
  if (total != kUnknown && available != kUnknown) out.physical_bytes = std::max<int64_t>(0, total - available) * 1024;
  const int64_t committed = FindNumber(memory, "Committed_AS:");
  if (committed != kUnknown) out.virtual_bytes = committed * 1024;
  return out;
}

UseCounters CountProcesses(const Processes& processes, const KernelTree& kernel) {
  UseCounters out;
  for (const std::string& directory : processes.control_groups) {
    if (out.cpu_us == kUnknown) out.cpu_us = CpuOfGroup(directory);
    if (out.physical_bytes == kUnknown) out.physical_bytes = MemoryOfGroup(directory);
  }
  const bool group_cpu = out.cpu_us != kUnknown;
  const bool group_memory = out.physical_bytes != kUnknown;
  bool disk_known = true;
  for (const int64_t pid : processes.pids) {
    const std::string process = kernel.proc + "/" + std::to_string(pid);
    const std::optional<ProcessUse> use = ReadStat(process);
    if (!use) continue;
    AddTo(out.virtual_bytes, use->virtual_bytes);
    if (!group_cpu) AddTo(out.cpu_us, use->cpu_us);
    if (!group_memory) AddTo(out.physical_bytes, MemoryOf(process, use->resident_bytes));
    const std::string io = ReadText(process + "/io");
    disk_known = disk_known && !io.empty();
    AddTo(out.disk_bytes, FindNumber(io, "read_bytes:"));
    AddTo(out.disk_bytes, FindNumber(io, "write_bytes:"));
    if (out.network_bytes == kUnknown && HasOwnNetwork(kernel, process))
      out.network_bytes = NetworkOf(kernel, process + "/net/dev");
  }
  if (!disk_known) out.disk_bytes = kUnknown;
  return out;
}

model::MeasuredUse UseMeter::Measure(base::Instant now, UseCounters counters) {
  model::MeasuredUse use;
  use.physical_bytes = counters.physical_bytes;
  use.virtual_bytes = counters.virtual_bytes;
  if (at_ && now > *at_) {
    const int64_t micros = std::max<int64_t>(1, (now - *at_).ns / 1000);
    const auto rate = [&](int64_t before, int64_t after, int64_t scale) {
      if (before == kUnknown || after == kUnknown) return kUnknown;
      return static_cast<int64_t>(static_cast<double>(std::max<int64_t>(0, after - before)) *
                                  static_cast<double>(scale) / static_cast<double>(micros));
    };
    use.milli_cores = rate(last_.cpu_us, counters.cpu_us, 1000);
    use.disk_bytes = rate(last_.disk_bytes, counters.disk_bytes, 1'000'000);
    use.network_bytes = rate(last_.network_bytes, counters.network_bytes, 1'000'000);
    for (const auto& [disk, busy_ms] : counters.disk_busy_ms) {
      const auto before = last_.disk_busy_ms.find(disk);
      if (before == last_.disk_busy_ms.end()) continue;
      use.disk_busy = std::max(use.disk_busy, std::min<int64_t>(1000, rate(before->second, busy_ms, 1'000'000)));
    }
  }
  at_ = now;
  last_ = std::move(counters);
  return use;
}

}  // namespace fairlead::env_posix
