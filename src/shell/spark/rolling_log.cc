#include "shell/spark/rolling_log.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead::shell {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kSecond = 1000, kHour = 3600 * kSecond, kDay = 24 * kHour;
constexpr size_t kReadBytes = 8192;  // as Spark's appender, which rolls between two reads
constexpr int kNamesMax = 10'000;

base::WallTime Now() {
  return {std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
              .count()};
}

/// What stands behind the name of a file that is rolled now.
std::string SuffixOf(const process::spark_worker::LogRolling& rolling, base::WallTime now) {
  const std::time_t seconds = now.ms / kSecond;
  std::tm local = {};
  ::localtime_r(&seconds, &local);
  const char* form = "--%Y-%m-%d--%H-%M-%S";
  if (rolling.interval_ms == kDay) form = "--%Y-%m-%d";
  if (rolling.interval_ms == kHour) form = "--%Y-%m-%d--%H";
  if (rolling.interval_ms == 60 * kSecond && rolling.named) form = "--%Y-%m-%d--%H-%M";
  std::array<char, 64> text = {};
  std::string suffix(text.data(), std::strftime(text.data(), text.size(), form, &local));
  if (rolling.bytes_max > 0) {  // "SSSS" of SimpleDateFormat
    const std::string milliseconds = std::to_string(now.ms % kSecond);
    suffix += "--" + std::string(4 - milliseconds.size(), '0') + milliseconds;
  }
  return suffix;
}

/// Something of that name is there, be it a link that leads nowhere.
bool IsTaken(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error)) || fs::exists(fs::symlink_status(path + ".gz", error));
}

/// The next whole interval, as TimeBasedRollingPolicy counts from the epoch.
base::WallTime NextRoll(const process::spark_worker::LogRolling& rolling, base::WallTime now) {
  if (rolling.interval_ms <= 0) return now;
  return {(now.ms + rolling.interval_ms - 1) / rolling.interval_ms * rolling.interval_ms};
}

/// `from` becomes `to`.gz, or stays where that fails.
bool Compress(const std::string& from, const std::string& to) {
  std::FILE* const in = std::fopen(from.c_str(), "rbe");
  gzFile out = in != nullptr ? ::gzopen((to + ".gz").c_str(), "wbe") : nullptr;
  bool good = out != nullptr;
  std::array<char, kReadBytes> part = {};
  while (good) {
    const size_t got = std::fread(part.data(), 1, part.size(), in);
    if (got == 0) break;
    good = ::gzwrite(out, part.data(), static_cast<unsigned>(got)) == static_cast<int>(got);
  }
  if (in != nullptr) std::fclose(in);
  if (out != nullptr) good &= ::gzclose(out) == Z_OK;
  ::unlink((good ? from : to + ".gz").c_str());
  return good;
}

}  // namespace

RollingLog::RollingLog(std::string path, const process::spark_worker::LogRolling& rolling, base::WallTime now)
    : path_(std::move(path)), rolling_(rolling), next_(NextRoll(rolling, now)) {
  Open();
}

RollingLog::~RollingLog() {
  if (file_ >= 0) ::close(file_);
}

void RollingLog::Open() { file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640); }

bool RollingLog::IsDue(size_t bytes, base::WallTime now) const {
  if (rolling_.interval_ms > 0) return now.ms > next_.ms;
  return rolling_.bytes_max > 0 && written_ + static_cast<int64_t>(bytes) > rolling_.bytes_max;
}

void RollingLog::Append(std::string_view bytes, base::WallTime now) {
  if (IsDue(bytes.size(), now)) Roll(now);
  written_ += static_cast<int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void RollingLog::Roll(base::WallTime now) {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  const std::string wanted = path_ + SuffixOf(rolling_, now);
  std::string name = wanted;
  for (int i = 0; i < kNamesMax && IsTaken(name); ++i) name = wanted + "--" + std::to_string(i);
  if (!rolling_.compress || !Compress(path_, name)) ::rename(path_.c_str(), name.c_str());
  Open();
  if (rolling_.retained_max > 0) RemoveOld();
  written_ = 0;
  next_ = NextRoll(rolling_, now);
}

void RollingLog::RemoveOld() const {
  const fs::path active(path_);
  std::vector<std::string> rolled;
  std::error_code error;
  for (fs::directory_iterator at(active.parent_path(), error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool is_rolled = name.starts_with(active.filename().string()) && name != active.filename();
    if (is_rolled) rolled.push_back(at->path().string());
  }
  std::sort(rolled.begin(), rolled.end());
  for (size_t i = 0; i + static_cast<size_t>(rolling_.retained_max) < rolled.size(); ++i) fs::remove(rolled[i], error);
}

void PumpIntoLog(int pipe, const std::string& path, const process::spark_worker::LogRolling& rolling) {
  std::thread([pipe, path, rolling] {
    RollingLog log(path, rolling, Now());
    std::array<char, kReadBytes> part = {};
    for (;;) {
      const ssize_t got = ::read(pipe, part.data(), part.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      log.Append({part.data(), static_cast<size_t>(got)}, Now());
    }
    ::close(pipe);
  }).detach();
}

}  // namespace fairlead::shell
