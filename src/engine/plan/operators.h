#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/records/buffer.h"

// How records flow inside a task: they are pushed, one call a record, from a source through narrow operators into a
// sink. A record and every view in it live until the Push returns; who keeps it copies it.

namespace fairlead::engine {

struct AnySink {
  virtual ~AnySink() = default;
};

/// Takes records of type T.
template <class T>
struct Sink : AnySink {
  virtual void Push(const T& record) = 0;
  /// So that user functions write emit(record).
  void operator()(const T& record) { Push(record); }
};

/// One block of a shuffle as it was written by one map task for one reduce partition; `bytes` are frames (frame.h).
struct ShuffleBlock {
  int32_t map_index = -1;
  uint32_t place = 0;
  std::string_view bytes;
  std::shared_ptr<const void> owner;  // keeps the bytes
};

/// The blocks of one reduce partition, in the order in which they arrive.
class ShuffleInput {
 public:
  virtual ~ShuffleInput() = default;
  /// False at the end. Throws FetchFailed or TaskKilled.
  virtual bool Next(ShuffleBlock& block) = 0;
};

/// Counts of one task, for pages and logs.
struct TaskMetrics {
  int64_t records_read = 0;
  int64_t bytes_read = 0;
  int64_t records_written = 0;
  int64_t bytes_written = 0;
  int64_t shuffle_records_read = 0;
  int64_t shuffle_bytes_local = 0;
  int64_t shuffle_bytes_remote = 0;
  int64_t shuffle_records_written = 0;
  int64_t shuffle_bytes_written = 0;
  int64_t spilled_bytes = 0;
  int64_t fetch_wait_ns = 0;
  int64_t run_ns = 0;
  int64_t bad_records = 0;
  int64_t peak_memory = 0;
  /// Partitions of cached datasets: read where they were kept, fetched from another executor, and made.
  int64_t cached_read = 0;
  int64_t cached_fetched = 0;
  int64_t cached_bytes_fetched = 0;
  int64_t cached_made = 0;
  /// Of a shuffle that was merged: blocks read in chunks of the merged partition, those read by themselves, and how
  /// many of these because a chunk could not be had or was damaged.
  int64_t blocks_read_merged = 0;
  int64_t blocks_read_single = 0;
  int64_t merged_fallbacks = 0;
  FL_FIELDS(records_read, bytes_read, records_written, bytes_written, shuffle_records_read, shuffle_bytes_local,
            shuffle_bytes_remote, shuffle_records_written, shuffle_bytes_written, spilled_bytes, fetch_wait_ns, run_ns,
            bad_records, peak_memory, cached_read, cached_fetched, cached_bytes_fetched, cached_made,
            blocks_read_merged, blocks_read_single, merged_fallbacks)
};

/// What a finished task hands back.
struct TaskOutput {
  std::string result;                // of an action
  std::vector<int64_t> block_sizes;  // of a shuffle writer, per reduce partition
};

/// The world of one running task attempt.
class TaskContext {
 public:
  virtual ~TaskContext() = default;

  int64_t task_id = 0;
  int32_t stage = 0;
  int32_t partition = 0;  // of the stage's last dataset
  int32_t attempt = 0;
  int64_t memory_bytes = 256 << 20;  // budget for what it keeps
  /// Above 0: sources read only about this many records of each partition, spread over it (for range bounds).
  int64_t sample_records = 0;
  TaskMetrics metrics;
  TaskOutput output;

  virtual std::unique_ptr<ShuffleInput> OpenShuffle(int32_t shuffle, int32_t partition) = 0;
  /// The path a file of this executor has in Spark's directory layout; its directory exists.
  virtual std::string LocalPath(const std::string& file_name) = 0;
  /// A fresh path for a spill file; removed when the task ends.
  virtual std::string ScratchPath() = 0;
  /// Asks the driver; false: another attempt commits.
  virtual bool MayCommit() = 0;
  /// Data a user wants on each machine once, by broadcast id.
  virtual std::shared_ptr<const std::string> FetchBroadcast(int64_t id) = 0;
  /// The serialized records of a cached partition that this executor keeps, or another one that can be asked; null:
  /// they are to be made.
  virtual std::shared_ptr<const Buffer> FindKept(int32_t dataset, int32_t cached_partition) {
    (void)dataset, (void)cached_partition;
    return nullptr;
  }
  /// Keeps them, as far as there is room; on disk when there is not and `disk` allows it.
  virtual void Keep(int32_t dataset, int32_t cached_partition, Buffer records, bool disk) {
    (void)dataset, (void)cached_partition, (void)records, (void)disk;
  }
  /// What the task added to the program's counters, by their ids.
  std::map<int64_t, int64_t> counters;

  /// The task that runs on this thread; null on threads that run none.
  static TaskContext* Current();
  static void SetCurrent(TaskContext* task);

  /// Throws TaskKilled when the driver asked to stop. Cheap; sources call it now and then.
  void CheckKilled() const;
  std::atomic<bool> killed{false};
};

class StageProgram;

/// A node of a running stage: knows its inputs.
struct NodeScope {
  TaskContext& task;
  const StageProgram& program;
  int32_t node = 0;

  /// Pushes the records of the input that this partition reads (narrow inputs: exactly one) into `out`.
  void RunInput(int32_t partition, AnySink& out) const;
  /// For operators with several narrow inputs of equal partitioning (zip): input `i`.
  void RunInput(size_t i, int32_t partition, AnySink& out) const;
  const PlanNode& plan() const;
};

/// Computes partitions of one dataset. Const and shared by the threads of an executor.
class Operator {
 public:
  virtual ~Operator() = default;
  /// Pushes all records of `partition` into `out`, which is a Sink of the dataset's type.
  virtual void Run(const NodeScope& scope, int32_t partition, AnySink& out) const = 0;
};

/// Ends a stage: takes all records of a partition and leaves a TaskOutput in the context.
class StageSink {
 public:
  virtual ~StageSink() = default;
  virtual void Run(TaskContext& task, const StageProgram& program, int32_t partition) const = 0;
};

/// A stage's plan with its operators made; shared by the tasks of the stage on one executor.
class StageProgram {
 public:
  /// Throws TaskError when the plan names an operator this binary does not have or its captured state is malformed.
  explicit StageProgram(StagePlan plan);
  ~StageProgram();

  const StagePlan& plan() const { return plan_; }
  /// How much of a task's memory each of its parts may keep: operators that keep records and the writer of a shuffle
  /// work at the same time, and where a shuffle is read an eighth is for input on its way.
  int64_t Share(int64_t memory_bytes) const;
  /// Pushes the records of the last node into `out`.
  void RunLast(TaskContext& task, int32_t partition, AnySink& out) const;
  void RunNode(TaskContext& task, int32_t node, int32_t partition, AnySink& out) const;
  /// Runs the whole task.
  void Run(TaskContext& task, int32_t partition) const;

 private:
  StagePlan plan_;
  std::vector<std::unique_ptr<Operator>> operators_;
  std::unique_ptr<StageSink> sink_;
};

// ---- registry ------------------------------------------------------------------------------------------------------

using OperatorFactory = std::unique_ptr<Operator> (*)(std::string_view payload);
using StageSinkFactory = std::unique_ptr<StageSink> (*)(std::string_view payload);

/// Remembers a factory under `type_name` (mangled) and gives the key under which a plan names it. Runs at static
/// initialisation; two types of one name (lambdas at the same place of two source files) get keys that differ by a
/// count, which is equal in every process of the same binary.
std::string RegisterOperator(const char* type_name, OperatorFactory factory);
std::string RegisterStageSink(const char* type_name, StageSinkFactory factory);

/// Thrown by factories.
[[noreturn]] void ThrowMalformedCapture(const char* type_name);

/// Registers Op (with a static Make(payload)) at static initialisation of every program that names Registered<Op>::key.
template <class Op>
struct Registered {
  static const std::string key;
};

}  // namespace fairlead::engine

#include <typeinfo>

namespace fairlead::engine {
template <class Op>
const std::string Registered<Op>::key = [] {
  if constexpr (std::is_base_of_v<Operator, Op>) {
    return RegisterOperator(typeid(Op).name(),
                            [](std::string_view payload) -> std::unique_ptr<Operator> { return Op::Make(payload); });
  } else {
    return RegisterStageSink(typeid(Op).name(),
                             [](std::string_view payload) -> std::unique_ptr<StageSink> { return Op::Make(payload); });
  }
}();
}  // namespace fairlead::engine
