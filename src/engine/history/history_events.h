#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "engine/history/stage_summary.h"
#include "engine/plan/operators.h"

// What happened in an application, as the driver's event log tells it: one JSON object a line, {"name": {fields}}.
// Times are milliseconds since 1970. Fields are only ever added; readers pass over what they do not know (Spark's
// JsonProtocol is the model, not the format).

namespace fairlead::engine::history {

struct ApplicationStarted {
  static constexpr std::string_view kName = "application_started";
  int64_t at_ms = 0;
  int32_t version = 1;
  std::string id;
  std::string program;
  std::string locality_waits;  // "process 3.0 s, node 3.0 s, rack 3.0 s"
  FL_FIELDS(at_ms, version, id, program, locality_waits)
};
struct ApplicationEnded {
  static constexpr std::string_view kName = "application_ended";
  int64_t at_ms = 0;
  std::string error;    // empty: the program returned
  bool killed = false;  // it was stopped from outside
  FL_FIELDS(at_ms, error, killed)
};
struct ExecutorJoined {
  static constexpr std::string_view kName = "executor_joined";
  int64_t at_ms = 0;
  std::string executor;
  std::string host;
  int32_t slots = 1;
  bool serves_own_files = false;
  FL_FIELDS(at_ms, executor, host, slots, serves_own_files)
};
struct ExecutorLeft {
  static constexpr std::string_view kName = "executor_left";
  int64_t at_ms = 0;
  std::string executor;
  std::string reason;
  FL_FIELDS(at_ms, executor, reason)
};
struct JobStarted {
  static constexpr std::string_view kName = "job_started";
  int64_t at_ms = 0;
  int32_t job = 0;
  std::string description;
  std::string pool;  // empty: the default one
  FL_FIELDS(at_ms, job, description, pool)
};
struct JobFinished {
  static constexpr std::string_view kName = "job_finished";
  int64_t at_ms = 0;
  int32_t job = 0;
  std::string error;  // empty: succeeded
  FL_FIELDS(at_ms, job, error)
};
struct StageStarted {
  static constexpr std::string_view kName = "stage_started";
  int64_t at_ms = 0;
  int32_t stage = 0;
  int32_t attempt = 0;
  int32_t job = 0;
  std::string name;  // of its last dataset
  int32_t tasks = 0;
  bool writes_shuffle = false;
  std::vector<int32_t> parents;
  FL_FIELDS(at_ms, stage, attempt, job, name, tasks, writes_shuffle, parents)
};
struct StageFinished {
  static constexpr std::string_view kName = "stage_finished";
  int64_t at_ms = 0;
  int32_t stage = 0;
  int32_t attempt = 0;
  std::string failure;  // empty: all partitions are there
  FL_FIELDS(at_ms, stage, attempt, failure)
};
/// Not in the log: its end says all of it.
struct TaskLaunched {
  static constexpr std::string_view kName = "task_launched";
  int64_t at_ms = 0;
  int64_t task = 0;
  int32_t stage = 0;
  int32_t stage_attempt = 0;
  int32_t partition = 0;
  int32_t attempt = 0;
  std::string executor;
  std::string level;  // as Spark prints it: "NODE_LOCAL"
  bool speculative = false;
  std::string wanted;  // places closer to its data than where it ran; empty: there are none
  std::string why;     // it did not run there
  FL_FIELDS(at_ms, task, stage, stage_attempt, partition, attempt, executor, level, speculative, wanted, why)
};
struct TaskFinished {
  static constexpr std::string_view kName = "task_finished";
  TaskLaunched launch;
  int64_t at_ms = 0;
  std::string end;     // model::tasks::EndKind: "success", ...
  std::string reason;  // of a failure
  TaskMetrics metrics;
  FL_FIELDS(launch, at_ms, end, reason, metrics)
};
/// An output that had succeeded went with its executor.
struct OutputLost {
  static constexpr std::string_view kName = "output_lost";
  int64_t at_ms = 0;
  int32_t stage = 0;
  int32_t stage_attempt = 0;
  FL_FIELDS(at_ms, stage, stage_attempt)
};
/// The log has reached its bound: ends of tasks that follow are not in it.
struct TasksOmitted {
  static constexpr std::string_view kName = "tasks_omitted";
  int64_t at_ms = 0;
  FL_FIELDS(at_ms)
};

/// What the tasks of a stage were, all together, with what people are told of it. Comes once the stage has ended, and
/// again when more has happened to it since: the last one counts. Where ends of tasks were left out, nothing else
/// tells.
struct StageSummed {
  static constexpr std::string_view kName = "stage_summed";
  int64_t at_ms = 0;
  int32_t stage = 0;
  int32_t attempt = 0;
  int64_t done = 0;
  int64_t failed = 0;
  StageSummary summary;
  std::vector<Finding> findings;
  std::vector<std::string> notes;  // of cached partitions, of merged blocks
  FL_FIELDS(at_ms, stage, attempt, done, failed, summary, findings, notes)
};

/// The blocks of the stage's shuffle were pushed to services that merge them, and that has ended.
struct ShuffleMerged {
  static constexpr std::string_view kName = "shuffle_merged";
  int64_t at_ms = 0;
  int32_t stage = 0;
  int32_t attempt = 0;
  int64_t blocks = 0;  // maps x reduce partitions
  int64_t merged = 0;  // of them
  int64_t bytes = 0;   // merged
  int32_t services = 0;
  FL_FIELDS(at_ms, stage, attempt, blocks, merged, bytes, services)
};

using Event = std::variant<ApplicationStarted, ApplicationEnded, ExecutorJoined, ExecutorLeft, JobStarted, JobFinished,
                           StageStarted, StageFinished, TaskLaunched, TaskFinished, OutputLost, TasksOmitted,
                           StageSummed, ShuffleMerged>;

/// The event as a line of the log, with its end of line.
std::string ToLine(const Event& event);
/// Nothing for a name that is not known: a later release may have written it. Malformed JSON is an error; unknown
/// fields and those left out are not.
base::Result<std::optional<Event>> ParseLine(std::string_view line);

}  // namespace fairlead::engine::history
