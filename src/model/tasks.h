#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/ids.h"
#include "base/time.h"

// Events and effects of the tasks core (tasks/tasks.h): a job comes in as a graph of datasets, launches of tasks go
// out. Variant indices and field lists are only ever appended: journals hold them. Meanings and names follow Spark's
// DAGScheduler, TaskSchedulerImpl, TaskSetManager, MapOutputTracker and OutputCommitCoordinator.

namespace fairlead::model::tasks {

struct ExecutorTag;
/// Dense index of an executor; chosen by the engine in order of registration from 0, never used again.
using ExecutorIndex = base::Index<ExecutorTag>;

/// Ids the engine chooses, each counted from 0 within one driver and never used again.
using DatasetId = int32_t;
using ShuffleId = int32_t;
using JobId = int32_t;
/// Ids the core gives: stages and task attempts ("tid") count from 0.
using StageId = int32_t;
using TaskId = int64_t;

/// How close a task runs to its data; a smaller one is stricter (Spark: TaskLocality).
enum class Level : uint8_t { kProcessLocal, kNodeLocal, kNoPref, kRackLocal, kAny };
/// "PROCESS_LOCAL", ... as Spark prints them.
std::string_view EnumName(Level level);

/// A place that makes a partition cheap to compute (Spark: TaskLocation).
struct TaskLocation {
  enum class Kind : uint8_t {
    kHost,       // on a disk of `host`
    kExecutor,   // in the memory of executor `executor` on `host`
    kHdfsCache,  // in the HDFS cache of `host`: as good as every executor there
  };
  Kind kind = Kind::kHost;
  std::string host;
  std::string executor;  // Spark-like executor id (ExecutorAdded::id); only for kExecutor
  FL_FIELDS(kind, host, executor)
  friend bool operator==(const TaskLocation&, const TaskLocation&) = default;
};

/// How a dataset's partition needs its parent's partitions.
struct Dependency {
  enum class Kind : uint8_t {
    kOneToOne,  // partition i needs parent partition i
    kRange,     // partitions [out_start, out_start+length) need [in_start, in_start+length) one to one
    kNarrow,    // partition i needs parents[i] (coalesce, cartesian, any fixed list)
    kShuffle,   // every partition needs every parent partition, through shuffle `shuffle`
  };
  Kind kind = Kind::kOneToOne;
  DatasetId dataset = -1;  // the parent
  int32_t in_start = 0;
  int32_t out_start = 0;
  int32_t length = 0;
  std::vector<std::vector<int32_t>> parents;  // of kNarrow
  ShuffleId shuffle = -1;
  FL_FIELDS(kind, dataset, in_start, out_start, length, parents, shuffle)
};

/// Whether computing a partition again gives the same rows (Spark: DeterministicLevel). It spreads along dependencies.
enum class Determinism : uint8_t {
  kDeterminate,    // same rows, same order
  kUnordered,      // same rows, order may differ (a plain shuffle read)
  kIndeterminate,  // rows may differ (sample, round-robin repartition over unordered input)
};

/// One node of the lineage (Spark: RDD). Defined once, in the first job that uses it; later jobs name it by id.
struct Dataset {
  DatasetId id = -1;
  std::string name;  // what a person calls it; appears in failures ("textFile input.txt")
  int32_t partitions = 0;
  std::vector<Dependency> dependencies;
  /// Preferred locations per partition; empty: none for any.
  std::vector<std::vector<TaskLocation>> preferred;
  /// May have cached partitions: BlockCached events are honoured and stages may stop at it.
  bool cached = false;
  /// What this dataset adds by itself: kDeterminate = depends on its parents only; kUnordered never needs saying for
  /// shuffle reads; kIndeterminate = random by nature. `order_sensitive` makes it kIndeterminate as soon as one of its
  /// inputs is kUnordered (round-robin repartition, sample without a per-row seed, zip with index).
  Determinism determinism = Determinism::kDeterminate;
  bool order_sensitive = false;
  /// A shuffle read that sorts its whole input is kDeterminate again although its input is kUnordered.
  bool sorts_input = false;
  FL_FIELDS(id, name, partitions, dependencies, preferred, cached, determinism, order_sensitive, sorts_input)
};

// ---- events --------------------------------------------------------------------------------------------------------

/// An action. Answered by JobEnded, or JobRejected when the graph is malformed (unknown dataset, cycle, partition out
/// of range, ...): nothing has changed then.
struct SubmitJob {
  static constexpr std::string_view kName = "submit_job";
  JobId job = -1;                 // growing; smaller = older = first under FIFO
  std::vector<Dataset> datasets;  // those not defined before, parents before children
  DatasetId target = -1;
  std::vector<int32_t> partitions;  // of the target, in the order of the job's outputs; empty = a job of no task
  std::string group;                // spark.jobGroup.id; empty: none
  std::string pool;                 // spark.scheduler.pool; empty: default
  std::string description;
  FL_FIELDS(job, datasets, target, partitions, group, pool, description)
};
struct CancelJob {
  static constexpr std::string_view kName = "cancel_job";
  JobId job = -1;
  std::string reason;
  FL_FIELDS(job, reason)
};
/// Cancels all live jobs of the group.
struct CancelGroup {
  static constexpr std::string_view kName = "cancel_group";
  std::string group;
  std::string reason;
  FL_FIELDS(group, reason)
};
/// Cancels every job that needs the stage.
struct CancelStage {
  static constexpr std::string_view kName = "cancel_stage";
  StageId stage = -1;
  std::string reason;
  FL_FIELDS(stage, reason)
};

struct ExecutorAdded {
  static constexpr std::string_view kName = "executor_added";
  ExecutorIndex executor;
  std::string id;     // unique spelling, as in TaskLocation::executor
  std::string host;   // as in TaskLocation::host
  std::string rack;   // empty: unknown
  int32_t slots = 1;  // tasks at a time
  /// Its shuffle files go with it, also where a service keeps those of others (Config::external_shuffle_service).
  bool serves_own_files = false;
  FL_FIELDS(executor, id, host, rack, slots, serves_own_files)
};
/// Why an executor went (Spark: ExecutorLossReason).
enum class LossKind : uint8_t {
  kExitedByApp,     // the process ended and user code may be guilty: running tasks count as failed
  kExitedNotByApp,  // preempted, node lost, ...: running tasks do not count
  kKilled,          // we asked for it
  kDecommissioned,  // gone as announced
  kProcessLost,     // connection lost; guilt unknown: counts
};
std::string_view EnumName(LossKind kind);
struct ExecutorLost {
  static constexpr std::string_view kName = "executor_lost";
  ExecutorIndex executor;
  LossKind kind = LossKind::kProcessLost;
  bool host_lost = false;  // the machine went: all shuffle outputs on the host are lost, also with a shuffle service
  std::string message;
  FL_FIELDS(executor, kind, host_lost, message)
};
/// Runs what it has, gets nothing new.
struct ExecutorDecommissioning {
  static constexpr std::string_view kName = "executor_decommissioning";
  ExecutorIndex executor;
  FL_FIELDS(executor)
};
/// Measured load for the "load_weight" switch: work queued or running besides our own tasks, in thousandths of a slot.
struct ExecutorLoad {
  static constexpr std::string_view kName = "executor_load";
  ExecutorIndex executor;
  int32_t milli_slots = 0;
  FL_FIELDS(executor, milli_slots)
};
/// A partition of a cached dataset is now (not) held by the executor.
struct BlockCached {
  static constexpr std::string_view kName = "block_cached";
  DatasetId dataset = -1;
  int32_t partition = -1;
  ExecutorIndex executor;
  bool present = true;
  FL_FIELDS(dataset, partition, executor, present)
};

/// The executor has begun the task (first sign of life; before it the task counts as "launching").
struct TaskStarted {
  static constexpr std::string_view kName = "task_started";
  TaskId task = -1;
  FL_FIELDS(task)
};
struct TaskSucceeded {
  static constexpr std::string_view kName = "task_succeeded";
  TaskId task = -1;
  /// Map tasks: size per reduce partition on the one-byte scale of map_outputs.h (EncodeSize); else empty.
  std::vector<uint8_t> sizes;
  /// Metrics that policies use: time spent in fetching remote input and its bytes (adaptive delay).
  int64_t remote_read_ns = 0;
  int64_t remote_read_bytes = 0;
  int64_t run_ns = 0;  // on the executor
  FL_FIELDS(task, sizes, remote_read_ns, remote_read_bytes, run_ns)
};
/// Why a task attempt failed (Spark: TaskFailedReason).
enum class FailureKind : uint8_t {
  kException,     // user code threw; counts
  kKilled,        // as asked; does not count
  kCommitDenied,  // another attempt commits; does not count
  kResultLost,    // finished but its result could not be fetched; counts
  kFetchFailed,   // could not read a shuffle input; the output named in TaskFailed is lost; does not count
};
std::string_view EnumName(FailureKind kind);
struct TaskFailed {
  static constexpr std::string_view kName = "task_failed";
  TaskId task = -1;
  FailureKind kind = FailureKind::kException;
  std::string message;  // for a person, with the user's own words and place
  /// Of kFetchFailed: what could not be read and from where. map_index -1: the whole location is suspect.
  ShuffleId shuffle = -1;
  int32_t map_index = -1;
  ExecutorIndex source;  // executor whose output it is
  FL_FIELDS(task, kind, message, shuffle, map_index, source)
};
/// A task asks whether it may commit its output (Spark: OutputCommitCoordinator). Answered by CommitAnswered.
struct AskCommit {
  static constexpr std::string_view kName = "ask_commit";
  TaskId task = -1;
  uint64_t token = 0;
  FL_FIELDS(task, token)
};
/// The dataset and its shuffles will not be used again: drops map outputs and cached places.
struct ForgetDatasets {
  static constexpr std::string_view kName = "forget_datasets";
  std::vector<DatasetId> datasets;
  std::vector<ShuffleId> shuffles;
  FL_FIELDS(datasets, shuffles)
};

/// In which rack a host stands that has no executor of ours (its blocks still make a rack close).
struct HostRack {
  static constexpr std::string_view kName = "host_rack";
  std::string host;
  std::string rack;
  FL_FIELDS(host, rack)
};

/// The blocks of the shuffle are being merged by services on these hosts, each a run of reduce partitions
/// (tasks/merge_rule.h): reducers are better off there. No host: they are not, after all.
struct MergePlaced {
  static constexpr std::string_view kName = "merge_placed";
  ShuffleId shuffle = -1;
  std::vector<std::string> hosts;
  FL_FIELDS(shuffle, hosts)
};

using Event = std::variant<SubmitJob, CancelJob, CancelGroup, CancelStage, ExecutorAdded, ExecutorLost,
                           ExecutorDecommissioning, ExecutorLoad, BlockCached, TaskStarted, TaskSucceeded, TaskFailed,
                           AskCommit, ForgetDatasets, HostRack, MergePlaced>;

// ---- effects -------------------------------------------------------------------------------------------------------

/// Start this task now; the slot is taken. What to run follows from (stage, partition): see StageSubmitted.
struct LaunchTask {
  static constexpr std::string_view kName = "launch_task";
  TaskId task = -1;
  ExecutorIndex executor;
  StageId stage = -1;
  int32_t stage_attempt = 0;
  int32_t index = 0;      // within the task set
  int32_t partition = 0;  // of the stage's dataset
  int32_t attempt = 0;    // of this index in this task set
  Level level = Level::kAny;
  bool speculative = false;
  bool for_load = false;  // it would have waited for its own places, but they are busier (load_weight_milli)
  FL_FIELDS(task, executor, stage, stage_attempt, index, partition, attempt, level, speculative, for_load)
};
/// With `templates` on: several launches of one task set on one executor in one message; task ids are
/// first_task, first_task+1, ... in the order of `indices`.
struct LaunchBatch {
  static constexpr std::string_view kName = "launch_batch";
  ExecutorIndex executor;
  StageId stage = -1;
  int32_t stage_attempt = 0;
  std::vector<LaunchTask> tasks;
  FL_FIELDS(executor, stage, stage_attempt, tasks)
};
/// Stop the attempt if it still runs; its end must still be reported (TaskFailed kKilled, or what came first).
struct KillTask {
  static constexpr std::string_view kName = "kill_task";
  TaskId task = -1;
  ExecutorIndex executor;
  std::string reason;
  FL_FIELDS(task, executor, reason)
};
/// A task set is about to be launched: the recipe of its tasks. Comes before its first LaunchTask.
struct StageSubmitted {
  static constexpr std::string_view kName = "stage_submitted";
  StageId stage = -1;
  int32_t attempt = 0;
  JobId job = -1;                 // the job on whose behalf (its pool and priority)
  DatasetId dataset = -1;         // the last dataset of the stage
  ShuffleId shuffle = -1;         // written by the stage; -1 for a result stage
  int32_t reduce_partitions = 0;  // of that shuffle
  std::vector<StageId> parents;
  std::vector<int32_t> partitions;  // to compute, by task index
  std::vector<ShuffleId> reads;     // shuffles its tasks read
  int64_t epoch = 0;                // map-output epoch: an executor that cached an older table must drop it
  FL_FIELDS(stage, attempt, job, dataset, shuffle, reduce_partitions, parents, partitions, reads, epoch)
};
struct StageCompleted {
  static constexpr std::string_view kName = "stage_completed";
  StageId stage = -1;
  int32_t attempt = 0;
  std::string failure;  // empty: all partitions are there
  FL_FIELDS(stage, attempt, failure)
};
/// How a task attempt ended, as the core judged it (for logs and pages).
enum class EndKind : uint8_t {
  kSuccess,
  kException,
  kKilled,
  kCommitDenied,
  kResultLost,
  kFetchFailed,
  kExecutorLost,
  kExecutorLostByApp,
  kResubmitted,  // had succeeded, but its output went with its executor
};
std::string_view EnumName(EndKind kind);
struct TaskEnded {
  static constexpr std::string_view kName = "task_ended";
  TaskId task = -1;
  StageId stage = -1;
  int32_t stage_attempt = 0;
  int32_t index = 0;
  ExecutorIndex executor;
  EndKind kind = EndKind::kSuccess;
  FL_FIELDS(task, stage, stage_attempt, index, executor, kind)
};
/// The result of this attempt of a result stage is the one that counts: hand it to the job's user. Exactly once per
/// (job, output); `output` is the position in SubmitJob::partitions.
struct ResultAccepted {
  static constexpr std::string_view kName = "result_accepted";
  JobId job = -1;
  int32_t output = 0;
  TaskId task = -1;
  FL_FIELDS(job, output, task)
};
/// One task's bad end, for the story of a failed job.
struct TaskTrouble {
  TaskId task = -1;
  int32_t attempt = 0;
  std::string executor;
  std::string host;
  std::string reason;
  FL_FIELDS(task, attempt, executor, host, reason)
};
struct JobEnded {
  static constexpr std::string_view kName = "job_ended";
  JobId job = -1;
  bool succeeded = false;
  bool cancelled = false;
  /// Names the stage, its dataset, the task and the last reason. Empty on success.
  std::string error;
  StageId failed_stage = -1;
  int32_t failed_partition = -1;
  std::string failed_dataset;         // its name
  std::vector<TaskTrouble> troubles;  // all failed attempts of that task, oldest first
  FL_FIELDS(job, succeeded, cancelled, error, failed_stage, failed_partition, failed_dataset, troubles)
};
struct JobRejected {
  static constexpr std::string_view kName = "job_rejected";
  JobId job = -1;
  std::string error;
  FL_FIELDS(job, error)
};
/// Failures made this executor (or host, `executor` invalid) unfit: for the whole application, or one stage attempt.
struct ExecutorExcluded {
  static constexpr std::string_view kName = "executor_excluded";
  ExecutorIndex executor;
  std::string host;
  StageId stage = -1;  // -1: the whole application
  int32_t stage_attempt = 0;
  base::Instant until = base::Instant::Max();
  FL_FIELDS(executor, host, stage, stage_attempt, until)
};
struct CommitAnswered {
  static constexpr std::string_view kName = "commit_answered";
  TaskId task = -1;
  uint64_t token = 0;
  bool granted = false;
  FL_FIELDS(task, token, granted)
};
/// Outputs of the shuffle appeared as a whole or were lost; readers with an older epoch must ask again.
struct MapOutputsChanged {
  static constexpr std::string_view kName = "map_outputs_changed";
  ShuffleId shuffle = -1;
  int64_t epoch = 0;
  FL_FIELDS(shuffle, epoch)
};
/// How many tasks could run at once if there were executors: for dynamic allocation. Sent when a number changed in
/// this Step.
struct DemandChanged {
  static constexpr std::string_view kName = "demand_changed";
  int64_t pending = 0;
  int64_t running = 0;
  int64_t speculative = 0;
  FL_FIELDS(pending, running, speculative)
};

using Effect =
    std::variant<LaunchTask, LaunchBatch, KillTask, StageSubmitted, StageCompleted, TaskEnded, ResultAccepted, JobEnded,
                 JobRejected, ExecutorExcluded, CommitAnswered, MapOutputsChanged, DemandChanged>;

}  // namespace fairlead::model::tasks
