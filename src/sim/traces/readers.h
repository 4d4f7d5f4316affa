#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/traces/json.h"
#include "sim/traces/read.h"

// One reader per format, for trace_read.cc.

namespace fairlead::sim {

/// Bound of every time and duration, ten years.
inline constexpr int64_t kLongestMs = int64_t{10} * 366 * 86'400'000;

/// Takes jobs as they are read, within the bounds of a file; keeps the first mistake.
class JobCollector {
 public:
  JobCollector(const std::string& file, const TraceOptions& options) : file_(file), options_(options) {}
  void Add(TraceJob job, int line);
  void Refuse(int line, const std::string& what);
  /// False, and a mistake, when a job may not have so many tasks.
  bool MayHave(int64_t tasks, int line);
  const TraceOptions& options() const { return options_; }
  const std::string& file() const { return file_; }
  std::string& error() { return error_; }
  std::vector<TraceJob>& jobs() { return jobs_; }

 private:
  const std::string& file_;
  const TraceOptions& options_;
  std::string error_;
  std::vector<TraceJob> jobs_;
  int64_t tasks_ = 0;
};

/// Puts tasks into the stages of one job.
class JobBuilder {
 public:
  TraceJob job;

  /// The stage whose tasks are alike in priority, size and delay; made when there is none.
  size_t StageFor(int32_t priority, const model::Resources& size, base::Duration after);
  /// Adds a task that would like to run on `hosts` (the first three of them).
  void AddTask(size_t stage, int64_t run_ms, const std::vector<std::string>& hosts);
  /// A MapReduce master asks for its maps (20) before its reduces (10), although YARN would serve 10 first: orders
  /// stages by falling priority number and makes each wait for the one before.
  void Chain();

 private:
  std::map<std::pair<size_t, std::string>, uint32_t> positions_;  // of hosts, by stage
};

void ReadSlsJob(const JsonValue& object, JobCollector& jobs);
void ReadRumenJob(const JsonValue& object, JobCollector& jobs);
void ReadSynth(const JsonValue& object, JobCollector& jobs);
void ReadSwim(std::string_view text, JobCollector& jobs);
void ReadSwf(std::string_view text, JobCollector& jobs);

}  // namespace fairlead::sim
