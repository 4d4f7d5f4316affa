#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string>

#include "sim/rigid/rigid.h"

namespace fairlead::sim {
namespace {

using base::Error;

constexpr size_t kMostJobs = 10'000'000;
constexpr double kLongestS = 10.0 * 366 * 86400;
constexpr int64_t kMostDevicesOfJob = 100'000;
constexpr std::string_view kColumns = "timestamp,duration,num_gpus,gpu_time,cluster";

template <class T>
bool Number(std::string_view word, T& number) {
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
  return fault == std::errc() && end == word.data() + word.size() && !word.empty();
}

/// Days since 1970-01-01 of a date of the Gregorian calendar (Hinnant, "days_from_civil").
int64_t Days(int64_t year, int64_t month, int64_t day) {
  if (month <= 2) --year;
  const int64_t era = year / 400;
  const int64_t of_era = year % 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/// "2017-10-09 07:01:55" as seconds since 1970; false: it is no time.
bool Time(std::string_view word, int64_t& seconds) {
  constexpr std::string_view kShape = "dddd-dd-dd dd:dd:dd";
  if (word.size() != kShape.size()) return false;
  std::array<int64_t, 6> parts{};
  size_t part = 0;
  for (size_t i = 0; i < word.size(); ++i) {
    if (kShape[i] != 'd') {
      if (word[i] != kShape[i]) return false;
      ++part;
      continue;
    }
    if (word[i] < '0' || word[i] > '9') return false;
    parts[part] = parts[part] * 10 + (word[i] - '0');
  }
  const auto [year, month, day, hour, minute, second] = parts;
  if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) {
    return false;
  }
  seconds = Days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
  return true;
}

bool Split(std::string_view row, std::array<std::string_view, 5>& cells) {
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t comma = row.find(',');
    if ((comma == row.npos) != (i + 1 == cells.size())) return false;
    cells[i] = row.substr(0, comma);
    row.remove_prefix(std::min(cells[i].size() + 1, row.size()));
  }
  return true;
}

}  // namespace

base::Result<std::vector<RigidJob>> ReadPhilly(std::string_view csv) {
  std::vector<std::pair<RigidJob, std::string>> jobs;
  std::map<std::string, int32_t> pools;
  for (int64_t line = 1; !csv.empty(); ++line) {
    const auto wrong = [&](const std::string& what) { return Error{"line " + std::to_string(line) + ": " + what}; };
    const size_t end = std::min(csv.find('\n'), csv.size());
    std::string_view row = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (line == 1) {
      if (row != kColumns) return wrong("the first line is \"" + std::string(kColumns) + "\"");
      continue;
    }
    if (row.empty()) continue;
    std::array<std::string_view, 5> cells;
    if (!Split(row, cells)) return wrong("a row has five columns");
    RigidJob job;
    double duration = 0;
    if (!Time(cells[0], job.submit_s)) return wrong("a time is like \"2017-10-09 07:01:55\"");
    if (!Number(cells[1], duration) || !(duration >= 0 && duration <= kLongestS)) {
      return wrong("a duration is seconds, ten years at most");
    }
    if (!Number(cells[2], job.devices) || job.devices < 1 || job.devices > kMostDevicesOfJob) {
      return wrong("a job has between 1 and " + std::to_string(kMostDevicesOfJob) + " GPUs");
    }
    if (cells[4].empty()) return wrong("no cluster");
    if (jobs.size() == kMostJobs) return wrong("more than " + std::to_string(kMostJobs) + " jobs");
    job.run_s = std::max<int64_t>(1, std::llround(duration));
    job.estimate_s = job.run_s;
    jobs.emplace_back(job, cells[4]);
    pools.emplace(cells[4], 0);
  }
  if (jobs.empty()) return Error{"no jobs"};
  int32_t number = 0;
  for (auto& [name, pool] : pools) pool = number++;
  std::vector<RigidJob> out;
  for (auto& [job, cluster] : jobs) {
    job.pool = pools.at(cluster);
    out.push_back(job);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const RigidJob& a, const RigidJob& b) { return a.submit_s < b.submit_s; });
  return out;
}

}  // namespace fairlead::sim
