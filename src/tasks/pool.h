#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tasks/config.h"

namespace fairlead::tasks {

class TaskSet;

/// A pool of task sets (Spark: Pool with FIFOSchedulingAlgorithm or FairSchedulingAlgorithm).
class Pool {
 public:
  explicit Pool(PoolConfig config) : config_(std::move(config)) {}

  void Add(TaskSet* set);
  void Remove(TaskSet* set);
  /// Schedulable sets in scheduling order are appended.
  void AppendSorted(std::vector<TaskSet*>& out) const;

  const PoolConfig& config() const { return config_; }
  const std::vector<TaskSet*>& sets() const { return sets_; }
  int32_t running = 0;

 private:
  PoolConfig config_;
  std::vector<TaskSet*> sets_;    // in order of arrival
  std::vector<TaskSet*> sorted_;  // under FIFO: by priority, stage, arrival
};

/// The root: under FIFO one pool of all sets, under FAIR the configured pools (Spark: SchedulableBuilder).
class PoolTree {
 public:
  explicit PoolTree(const Config& config);

  /// The pool a set of that pool name belongs to; made with defaults when unknown.
  Pool& PoolFor(const std::string& name);
  /// Schedulable sets in scheduling order, pools before that.
  std::vector<TaskSet*> Sorted() const;
  const std::vector<std::unique_ptr<Pool>>& pools() const { return pools_; }

 private:
  bool fair_;
  std::vector<std::unique_ptr<Pool>> pools_;  // in order of making
};

}  // namespace fairlead::tasks
