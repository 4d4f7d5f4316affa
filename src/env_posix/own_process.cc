#include "env_posix/own_process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "env_posix/read_all.h"

namespace fairlead::env_posix {

namespace {

std::string TextOf(const char* path) {
  std::ifstream file(path);
  return ReadAll(file);
}

/// Seconds since 1970 at which this machine started; 0: unknown.
double BootSeconds() {
  const std::string text = TextOf("/proc/stat");
  const size_t at = text.find("\nbtime ");
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + 7, nullptr);
}

}  // namespace

std::optional<env::OwnProcess> ReadOwnProcess() {
  static const double boot = BootSeconds();
  static const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::string stat = TextOf("/proc/self/stat");
  const size_t name_end = stat.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return std::nullopt;
  // proc(5): behind the name the third field and those that follow.
  std::istringstream words(stat.substr(name_end + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
  if (fields.size() < 22) return std::nullopt;
  const auto field = [&](size_t number) { return std::strtod(fields[number - 3].c_str(), nullptr); };
  env::OwnProcess own;
  own.cpu_seconds = (field(14) + field(15)) / ticks;
  own.threads = static_cast<int64_t>(field(20));
  own.start_seconds = boot + field(22) / ticks;
  own.virtual_bytes = static_cast<int64_t>(field(23));
  own.resident_bytes = static_cast<int64_t>(field(24)) * ::sysconf(_SC_PAGESIZE);
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end; at.increment(error)) {
    ++own.open_files;
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) own.open_files_max = static_cast<int64_t>(limit.rlim_cur);
  return own;
}

}  // namespace fairlead::env_posix
