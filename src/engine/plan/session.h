#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/node.h"

namespace fairlead::engine {

/// The driver side of a running program: makes datasets and runs actions on executors. Thread-safe: several threads of
/// a program may run actions at once.
class Session {
 public:
  virtual ~Session() = default;

  /// Slots of all executors asked for: the usual number of partitions of a shuffle.
  virtual int32_t parallelism() const = 0;
  /// Unique among all sessions: names temporary output.
  virtual const std::string& application_id() const = 0;

  virtual int32_t NextDatasetId() = 0;
  virtual int32_t NextShuffleId() = 0;
  /// No handle to the dataset is left: what it and its shuffles keep on executors can go.
  virtual void Drop(int32_t dataset, std::vector<int32_t> shuffles) = 0;

  /// A value that tasks can fetch by the id; once per executor.
  virtual int64_t PutBroadcast(std::string value) = 0;
  /// Nobody will ask for it any more.
  virtual void DropBroadcast(int64_t id) = 0;
  virtual int64_t NewCounter() = 0;
  /// What tasks that succeeded have added so far.
  virtual int64_t CounterValue(int64_t id) const = 0;

  /// Actions of the calling thread go to this pool from now on (spark.scheduler.pool); "": to the default one.
  virtual void SetPool(std::string pool) = 0;

  /// Runs the action on `partitions` of the dataset and waits; on_result is called on another thread, one call at a
  /// time, with the position in `partitions` and what the task's sink left. Throws JobError.
  virtual void RunJob(const std::shared_ptr<DatasetNode>& target, const std::vector<int32_t>& partitions,
                      const ActionPlan& action,
                      const std::function<void(int32_t output, std::string result)>& on_result) = 0;
};

}  // namespace fairlead::engine
