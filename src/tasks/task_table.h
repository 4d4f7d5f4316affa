#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.h"
#include "tasks/set_events.h"

namespace fairlead::tasks {

class TaskSet;

/// One attempt of a task (Spark: TaskInfo).
struct TaskInfo {
  TaskSet* set = nullptr;  // null: the set is gone
  int32_t index = 0;
  int32_t attempt = 0;
  ExecutorNumber executor = 0;
  HostNumber host = 0;
  base::Instant launched;
  base::Instant ended;
  model::tasks::TaskId previous = -1;  // the attempt before, of the same index
  model::tasks::Level level = model::tasks::Level::kAny;
  bool speculative = false;
  bool launching = true;  // no sign of life from the executor yet
  bool finished = false;
  bool failed = false;
  bool killed_by_other = false;  // another attempt succeeded first
  bool tracked = true;           // a status of it still means something
  bool running() const { return !finished; }
};

/// Attempts by task id; ids are given in order, blocks go when all their sets are gone.
class TaskTable {
 public:
  model::tasks::TaskId next() const { return next_; }

  TaskInfo& Add() {
    const auto block = static_cast<size_t>(next_ / kBlock);
    if (block == blocks_.size()) blocks_.push_back({std::make_unique<TaskInfo[]>(kBlock), 0});
    return blocks_[block].infos[static_cast<size_t>(next_++ % kBlock)];
  }
  /// Null when the id was never given or its block is gone.
  TaskInfo* Find(model::tasks::TaskId task) {
    if (task < 0 || task >= next_) return nullptr;
    Block& block = blocks_[static_cast<size_t>(task / kBlock)];
    return block.infos ? &block.infos[static_cast<size_t>(task % kBlock)] : nullptr;
  }
  const TaskInfo* Find(model::tasks::TaskId task) const { return const_cast<TaskTable*>(this)->Find(task); }
  TaskInfo& Get(model::tasks::TaskId task) {
    return blocks_[static_cast<size_t>(task / kBlock)].infos[static_cast<size_t>(task % kBlock)];
  }
  const TaskInfo& Get(model::tasks::TaskId task) const { return const_cast<TaskTable*>(this)->Get(task); }
  /// Its set is gone.
  void Release(model::tasks::TaskId task) {
    Get(task).set = nullptr;
    Block& block = blocks_[static_cast<size_t>(task / kBlock)];
    if (++block.released == kBlock) block.infos.reset();
  }

 private:
  static constexpr int64_t kBlock = 4096;
  struct Block {
    std::unique_ptr<TaskInfo[]> infos;
    int64_t released = 0;
  };
  std::vector<Block> blocks_;
  model::tasks::TaskId next_ = 0;
};

}  // namespace fairlead::tasks
