#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/plan/operators.h"
#include "process/executor/executor_core.h"
#include "process/executor/merged_chunks.h"
#include "wire/engine/messages.h"

namespace fairlead::engine {

/// One block that a reducer wants.
struct BlockRequest {
  int32_t shuffle = -1;
  int32_t map_index = -1;
  int64_t map_task = -1;  // names the file
  int32_t reduce = 0;
  int64_t bytes = 0;  // about
  uint32_t place = 0;
};

/// A chunk of a merged partition, and the blocks that it holds.
struct ChunkRequest {
  wire::engine::Merger by;
  int32_t chunk = 0;
  std::vector<BlockRequest> blocks;
  int64_t bytes = 0;  // about
};

/// A partition of a cached dataset that another executor has written for others.
struct KeptBlock {
  int32_t dataset = -1;
  int32_t partition = -1;
  wire::engine::Place place;
  int64_t bytes = 0;
  uint64_t checksum = 0;
};

/// Brings blocks that other executors wrote, from their shuffle services. Thread-safe.
class RemoteBlocks {
 public:
  virtual ~RemoteBlocks() = default;
  /// Starts to fetch `blocks` and `chunks`; they arrive in any order, within bounded bytes in flight. A chunk that
  /// cannot be had, or is damaged, is replaced by its blocks. The input ends after the last one and throws FetchFailed
  /// for the first block that cannot be had.
  virtual std::unique_ptr<ShuffleInput> Fetch(std::vector<BlockRequest> blocks, std::vector<ChunkRequest> chunks,
                                              const std::map<uint32_t, wire::engine::Place>& places,
                                              TaskContext& task) = 0;
  /// Which of `wanted`, the blocks of the reduce partition, can be had in chunks that `by` has merged. Waits; throws
  /// TaskKilled.
  virtual process::executor::MergedInput FindMerged(int32_t shuffle, int32_t reduce,
                                                    std::vector<tasks::MapOutputTable::Block> wanted,
                                                    const wire::engine::Merger& by, TaskContext& task) = 0;
  /// The bytes of `block`, whole; null when they cannot be had as they were written. Waits; throws TaskKilled.
  virtual std::shared_ptr<const Buffer> FetchKept(const KeptBlock& block, TaskContext& task) = 0;
};

struct ExecutorOptions {
  int32_t slots = 1;
  int64_t memory_bytes = 512 << 20;            // for all tasks together
  std::vector<std::string> local_directories;  // block manager directories (Spark's layout), made when missing
  std::string scratch_directory;
  /// A task has written its output of a shuffle; called from any thread, before the driver hears of it. May be empty.
  std::function<void(int32_t shuffle, int32_t map, int64_t task)> on_written;
};

/// An executor: threads that run tasks as the driver's messages say. Needs nothing of the network but two functions:
/// one that carries messages to the driver (called from any thread), and RemoteBlocks for shuffle input of other
/// executors.
class Executor {
 public:
  /// `more`: other messages will follow at once.
  using SendFunction = std::function<void(wire::engine::Message, bool more)>;
  Executor(ExecutorOptions options, SendFunction send, RemoteBlocks* remote);
  /// Kills what runs, joins the threads, removes the scratch directory.
  ~Executor();

  /// A message of the driver.
  void OnMessage(wire::engine::Message message);
  /// The index by which the driver and map outputs call this executor.
  void set_index(uint32_t index) { index_ = index; }

 private:
  class Context;
  using Work = process::executor::ExecutorCore::Work;
  using Outputs = process::executor::ExecutorCore::Outputs;
  using Kept = process::executor::KeptPartitions::Kept;

  void WorkerLoop();
  void Execute(const Work& work, Context& context);
  void RemoveFiles(const process::executor::ExecutorCore::Outcome& outcome);
  /// Calls `look` under the lock until it gives something; throws TaskKilled.
  template <class Look>
  auto WaitFor(const TaskContext& task, Look look);
  template <class Ask, class Take>
  auto AskDriver(const TaskContext& task, Ask ask, Take take);

  /// Waits for the table of a shuffle; throws TaskKilled.
  Outputs WaitForOutputs(int32_t shuffle, const TaskContext& task);
  bool WaitForCommit(int64_t task_id, const TaskContext& task);
  std::shared_ptr<const Buffer> FindKept(int32_t dataset, int32_t partition);
  std::shared_ptr<const Buffer> FetchKept(int32_t dataset, int32_t partition, TaskContext& task);
  void Keep(int32_t dataset, int32_t partition, Buffer records, const std::string& disk_path);
  /// Has a thread write the partition's block file, which others are to read, and tells the driver.
  void Publish(int32_t dataset, int32_t partition);
  void PublishLoop();
  wire::engine::KeptPublished WriteForOthers(int32_t dataset, int32_t partition);
  std::string FilePath(const std::string& name) const;
  std::shared_ptr<const std::string> WaitForBroadcast(int64_t id, const TaskContext& task);

  ExecutorOptions options_;
  SendFunction send_;
  RemoteBlocks* remote_;
  uint32_t index_ = 0;

  std::mutex mutex_;
  std::condition_variable work_ready_;
  std::condition_variable answer_ready_;
  bool stopping_ = false;
  process::executor::ExecutorCore core_;
  std::map<int64_t, Context*> running_;
  std::deque<std::pair<int32_t, int32_t>> to_publish_;
  std::condition_variable publish_ready_;
  std::thread publisher_;  // once something is to be published: tasks may keep all others for long
  uint64_t next_scratch_ = 1;
  std::vector<std::thread> threads_;
};

}  // namespace fairlead::engine
