#include "nm/container.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <utility>

namespace fairlead::nm {

using namespace model::nm;  // NOLINT: the core speaks its own events
using model::ToString;

namespace {

/// "2026-01-31 12:34:56.789", UTC.
std::string TimeText(base::WallTime wall) {
  const std::time_t seconds = wall.ms / 1000 - (wall.ms % 1000 < 0);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d.%03d", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<int>(wall.ms - int64_t{seconds} * 1000));
  return text;
}

/// As StringUtils.TraditionalBinaryPrefix.long2String(n, "", 1) of Hadoop: "1.2 G", "512 ".
std::string BinaryPrefix(int64_t bytes) {
  static constexpr char kSigns[] = {'K', 'M', 'G', 'T', 'P'};
  if (bytes < 1024) return std::to_string(bytes) + " ";
  int power = 0;
  int64_t unit = 1024;
  while (power < 4 && bytes / unit >= 1024) {
    unit <<= 10;
    ++power;
  }
  char text[48];
  if (bytes % unit == 0) {
    std::snprintf(text, sizeof text, "%lld %c", static_cast<long long>(bytes / unit), kSigns[power]);
  } else {
    std::snprintf(text, sizeof text, "%.1f %c", static_cast<double>(bytes) / static_cast<double>(unit), kSigns[power]);
  }
  return text;
}

}  // namespace

ContainerReport Container::Report() const {
  ContainerReport report;
  report.id = record.spec.id;
  report.complete = record.done;
  report.state = state;
  report.resources = record.spec.resources;
  report.priority = record.spec.priority;
  report.diagnostics = record.diagnostics;
  report.exit_status = record.exit_status;
  report.created = record.spec.token_created;
  report.version = record.spec.version;
  report.allocation_request_id = record.spec.allocation_request_id;
  return report;
}

void Container::Say(const std::string& text, base::WallTime wall, size_t bytes_max) {
  std::string& all = record.diagnostics;
  all += "[" + TimeText(wall) + "]" + text;
  if (all.size() > bytes_max) all.erase(0, all.size() - bytes_max);
}

bool Container::TakeRelaunch(int32_t exit_code, base::WallTime wall) {
  const Retry& retry = record.spec.retry;
  if (retry.policy == RetryPolicy::kNever || exit_code == 0 || model::EndedBySignal(exit_code)) return false;
  if (retry.policy == RetryPolicy::kSpecificErrors &&
      std::find(retry.error_codes.begin(), retry.error_codes.end(), exit_code) == retry.error_codes.end())
    return false;
  if (retry.validity_ms > 0) {
    std::erase_if(relaunch_times, [&](base::WallTime t) { return wall.ms - t.ms > retry.validity_ms; });
    if (retry.max_retries >= 0 && std::cmp_greater_equal(relaunch_times.size(), retry.max_retries)) return false;
    relaunch_times.push_back(wall);
  } else if (retry.max_retries >= 0 && record.relaunches >= retry.max_retries) {
    return false;
  }
  ++record.relaunches;
  return true;
}

void Container::SayExit(const ContainerExited& event, base::WallTime wall, size_t bytes_max) {
  if (model::EndedBySignal(event.exit_code)) {
    Say("Container killed on request. Exit code is " + std::to_string(event.exit_code) + "\n", wall, bytes_max);
  }
  const size_t exit_line = event.diagnostics.find("Container exited with");
  const bool has_head = exit_line != std::string::npos && exit_line != 0;
  if (has_head) Say(event.diagnostics.substr(0, exit_line), wall, bytes_max);
  Say(event.diagnostics.substr(has_head ? exit_line : 0) + "\n", wall, bytes_max);
}

std::optional<int32_t> Container::OverLimit(const Config& config) const {
  if (config.check_virtual && usage.use.virtual_bytes > VirtualLimit(config.virtual_ratio))
    return model::kExitExceededVirtualMemory;
  if (config.check_physical && !usage.enforced && usage.use.physical_bytes > PhysicalLimit())
    return model::kExitExceededPhysicalMemory;
  return std::nullopt;
}

std::string SignalOf(int32_t exit_code) {
  static constexpr const char* kNames[] = {"HUP",  "INT",    "QUIT", "ILL",   "TRAP", "ABRT", "BUS",  "FPE",
                                           "KILL", "USR1",   "SEGV", "USR2",  "PIPE", "ALRM", "TERM", "STKFLT",
                                           "CHLD", "CONT",   "STOP", "TSTP",  "TTIN", "TTOU", "URG",  "XCPU",
                                           "XFSZ", "VTALRM", "PROF", "WINCH", "IO",   "PWR",  "SYS"};
  const int32_t number = exit_code - 128;
  if (number < 1 || number > static_cast<int32_t>(std::size(kNames))) return {};
  return "signal " + std::to_string(number) + " (SIG" + kNames[number - 1] + ")";
}

std::string OverLimitText(const Container& container, int64_t pid, bool is_virtual, int64_t physical,
                          double virtual_ratio) {
  const int64_t virtual_bytes = container.usage.use.virtual_bytes;
  const int64_t physical_limit = container.PhysicalLimit();
  const int64_t virtual_limit = container.VirtualLimit(virtual_ratio);
  const int64_t over = is_virtual ? virtual_bytes - virtual_limit : physical - physical_limit;
  std::string text = "Container [" + (pid > 0 ? "pid=" + std::to_string(pid) + "," : std::string()) +
                     "containerID=" + ToString(container.record.spec.id) + "] is running " +
                     (over > 0 ? std::to_string(over) + "B " : "") + "beyond the '" +
                     (is_virtual ? "VIRTUAL" : "PHYSICAL") +
                     "' memory limit. Current usage: " + BinaryPrefix(physical) + "B of " +
                     BinaryPrefix(physical_limit) + "B physical memory used";
  if (virtual_bytes > 0) {
    text += "; " + BinaryPrefix(virtual_bytes) + "B of " + BinaryPrefix(virtual_limit) + "B virtual memory used";
  }
  return text + ". Killing container.\n";
}

std::string FailureText(const ResourceCache::Entry* entry, const ResourceFetched& event, base::Instant now) {
  if (!entry || entry->record.resource.visibility != Visibility::kPublic) return event.error;
  const LocalResource& resource = entry->record.resource;
  std::string users;
  for (const model::ContainerId& id : entry->users) users += "(" + ToString(id) + ")";
  return "Failed to download resource { { " + resource.url + ", " + std::to_string(resource.timestamp_ms) + ", " +
         std::string(EnumName(resource.type)) + ", " + (resource.pattern.empty() ? "null" : resource.pattern) +
         " },pending,[" + users + "]," + std::to_string(now.ns) + ",DOWNLOADING} " + event.thrown;
}

}  // namespace fairlead::nm
