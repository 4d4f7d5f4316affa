#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/time.h"
#include "env/loop.h"
#include "process/driver/job_driver.h"

namespace fairlead::process::driver {

/// What would be lost with each executor if it ended now: its running tasks, the cached partitions that it keeps, and
/// the map outputs that a live stage may still read, where they go with it. Told to the resource manager, which takes
/// back containers with the least lost work first. Cost: O(log) for a task, O(running tasks and partitions) for Of.
class LostWork final : public DriverListener {
 public:
  LostWork(env::Loop& loop, const tasks::Tasks& core) : loop_(loop), core_(core) {}

  void OnEvent(const model::tasks::Event& event) override;
  void OnEffect(const model::tasks::Effect& effect) override;

  /// As a container's time to run: of tasks beside each other each counts its part. Of an unknown executor nothing.
  base::Duration Of(model::tasks::ExecutorIndex executor) const;

 private:
  struct Running {
    base::Instant began;
    int32_t partition = 0;
  };
  struct Executor {
    int32_t slots = 1;
    bool files_go = false;  // its map outputs go with it
    std::map<model::tasks::TaskId, Running> running;
    std::map<model::tasks::ShuffleId, base::Duration> outputs;
    std::map<std::pair<model::tasks::DatasetId, int32_t>, base::Duration> blocks;
  };
  void Begin(const model::tasks::LaunchTask& launch);
  void End(const model::tasks::TaskEnded& ended);
  void OnBlock(const model::tasks::BlockCached& block);
  void Forget(const model::tasks::ForgetDatasets& forgotten);

  env::Loop& loop_;
  const tasks::Tasks& core_;
  std::map<uint32_t, Executor> executors_;
  /// The shuffle that a stage's tasks write, of stages that run.
  std::map<model::tasks::StageId, model::tasks::ShuffleId> shuffles_;
};

}  // namespace fairlead::process::driver
