#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/described_json.h"
#include "engine/history/history_events.h"

// An application's story, put together from its events: while it runs by the driver, afterwards from the log.

namespace fairlead::engine::history {

struct TaskRow {
  int64_t task = 0;
  int32_t partition = 0;
  int32_t attempt = 0;
  uint32_t executor = 0;  // in executors()
  int64_t launched_ms = 0;
  int64_t ended_ms = 0;  // 0: it runs
  std::string level;
  bool speculative = false;
  std::string wanted;  // see TaskLaunched
  std::string why;
  std::string end;
  std::string reason;
  TaskMetrics metrics;

  bool succeeded() const { return end == "success"; }
  /// By no fault of the task: its container was taken back, its node was lost, or another try was first.
  bool taken_back() const {
    return end == "killed" || end == "commit_denied" || end == "executor_lost caused_by_app=false";
  }
  /// Milliseconds from launch to end as the driver saw it; of a finished task.
  int64_t duration_ms() const { return ended_ms - launched_ms; }
};

struct StageRow {
  StageStarted started;
  int64_t ended_ms = 0;  // 0: it runs, or its driver did not live to tell
  std::string failure;
  ShuffleMerged merged;  // its own output, when that was merged
  int64_t done = 0;      // tasks with an output that is still there
  int64_t failed = 0;    // attempts that ended otherwise, those that were taken back, too
  int64_t running = 0;
  std::vector<TaskRow> tasks;              // in order of their ends, those that run last; empty once dropped
  std::optional<StageSummary> dropped;     // what is left of them then, or was told of all
  std::unordered_map<int64_t, size_t> at;  // task -> position, of those that run
};

struct JobRow {
  JobStarted started;
  int64_t ended_ms = 0;
  std::string error;
};

struct ExecutorRow {
  ExecutorJoined joined;
  int64_t left_ms = 0;
  std::string reason;
};

/// Keeps the rows of the latest tasks and, when there are too many, of older finished stages only the summary.
class History {
 public:
  static constexpr size_t kTasksMax = 100'000;

  void Apply(const Event& event);

  const ApplicationStarted& application() const { return application_; }
  const std::optional<ApplicationEnded>& ended() const { return ended_; }
  /// "running", "done", "failed" or "killed".
  std::string state() const;
  /// Of a job or stage of the application: "running", "done", "failed", or "not ended" when the application has.
  std::string StateOf(int64_t ended_ms, const std::string& error) const;
  /// The time of the latest event.
  int64_t now_ms() const { return now_ms_; }
  bool tasks_omitted() const { return tasks_omitted_; }
  const std::vector<ExecutorRow>& executors() const { return executors_; }
  const std::map<int32_t, JobRow>& jobs() const { return jobs_; }
  /// By (stage, attempt).
  const std::map<std::pair<int32_t, int32_t>, StageRow>& stages() const { return stages_; }
  /// Of its tasks while they are kept, else what was made of them then. O(tasks log tasks).
  StageSummary Summarize(const StageRow& stage) const;

 private:
  void On(const ApplicationStarted& event) { application_ = event; }
  void On(const ApplicationEnded& event) { ended_ = event; }
  void On(const ExecutorJoined& event);
  void On(const ExecutorLeft& event);
  void On(const JobStarted& event) { jobs_[event.job].started = event; }
  void On(const JobFinished& event);
  void On(const StageStarted& event);
  void On(const StageFinished& event);
  void On(const TaskLaunched& event);
  void On(const TaskFinished& event);
  void On(const OutputLost& event);
  void On(const TasksOmitted&) { tasks_omitted_ = true; }
  void On(const StageSummed& event);
  void On(const ShuffleMerged& event);
  static void AddMerged(const ShuffleMerged& merged, StageSummary& sum);
  uint32_t ExecutorAt(const std::string& id);
  StageRow* Find(int32_t stage, int32_t attempt);
  void DropOldTasks();
  void Drop(StageRow& stage, StageSummary summary);

  ApplicationStarted application_;
  std::optional<ApplicationEnded> ended_;
  int64_t now_ms_ = 0;
  bool tasks_omitted_ = false;
  std::vector<ExecutorRow> executors_;
  std::map<std::string, uint32_t> executor_at_;
  std::map<int32_t, JobRow> jobs_;
  std::map<std::pair<int32_t, int32_t>, StageRow> stages_;
  std::deque<std::pair<int32_t, int32_t>> finished_;  // stages with rows, oldest first
  size_t rows_ = 0;
};

std::vector<Finding> FindingsOf(const StageSummary& sum);

/// In words: what became of partitions of cached datasets, if it read any, and what was merged of shuffles that the
/// stage wrote and read.
std::vector<std::string> NotesOf(const StageSummary& sum);

/// What its tasks were until now. Costs as Summarize().
StageSummed Sum(const History& history, const StageRow& stage);
/// Of all stages, as lines of a log: a log that ended early, or of an earlier release, may lack them.
std::string SumLines(const History& history);

/// For people at a terminal.
std::string ToText(const History& history);
/// One object: application, executors, jobs, stages with their summaries; no tasks.
std::string ToJson(const History& history);
/// What ToJson writes.
std::string JsonSchema(base::JsonSchemas& schemas);

/// {"total":,"tasks":[],"stages":[]}: the tasks that run now, those that were launched first before others, at most
/// kRunningShown; of stages that run what their tasks were until now (StageSummed).
inline constexpr size_t kRunningShown = 500;
std::string RunningToJson(const History& history);

/// The part of a log that can be read: all but a last line that a crash cut off. One that lacks its line end alone
/// counts.
std::string_view WholeLines(std::string_view text);
/// Reads the whole lines of a log. Any bad line is an error with its number.
base::Result<History> ReadLog(std::string_view text);

}  // namespace fairlead::engine::history
