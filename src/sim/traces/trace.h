#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/resources.h"

// What the trace simulator runs: jobs of stages of tasks, and the nodes they run on. Readers (trace_read.h) and
// generators (trace_synthetic.h) make them, TraceRun (trace_run.h) runs them.

namespace fairlead::sim {

/// Tasks of one kind within a job.
struct TraceStage {
  int32_t priority = 20;  // YARN's: the smaller number first; MapReduce gives maps 20 and reduces 10
  model::Resources size = model::Resources::Of(1024, 1);
  /// Asked for at the earliest so long after the job's master has started.
  base::Duration after;
  /// Not asked for before every task of the stages before it has ended.
  bool waits_for_previous = false;
  std::vector<uint32_t> run_ms;    // one entry per task
  std::vector<std::string> hosts;  // where tasks would like to run
  /// For each task the positions in `hosts` that it would like, filled up with kNoHost; empty: every task would like
  /// any of them.
  std::vector<std::array<uint32_t, 3>> wishes;
};
inline constexpr uint32_t kNoHost = UINT32_MAX;

struct TraceJob {
  std::string name;
  std::string queue;  // full name, or below root
  std::string user;
  int64_t submit_ms = 0;  // of virtual time
  std::vector<TraceStage> stages;
};

struct TraceNode {
  std::string host;
  std::string rack;
  model::Resources capacity;
  std::vector<std::string> labels;
};

/// Jobs in order of submission, one at a time: a day of a large cluster does not fit into memory.
class JobSource {
 public:
  virtual ~JobSource() = default;
  /// False when there is no further job.
  virtual bool Next(TraceJob& job) = 0;
  /// How many Next gives in all.
  virtual int64_t jobs() const = 0;
};

/// The jobs of a trace file, in memory; not changed by a run, so that several sources may stand on one list.
class JobList final : public JobSource {
 public:
  explicit JobList(const std::vector<TraceJob>& jobs) : jobs_(jobs) {}
  bool Next(TraceJob& job) override {
    if (next_ == jobs_.size()) return false;
    job = jobs_[next_++];
    return true;
  }
  int64_t jobs() const override { return static_cast<int64_t>(jobs_.size()); }

 private:
  const std::vector<TraceJob>& jobs_;
  size_t next_ = 0;
};

}  // namespace fairlead::sim
