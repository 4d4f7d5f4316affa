#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/plan/session.h"
#include "env_posix/posix_loop.h"
#include "process/driver/job_driver.h"

namespace fairlead::engine {

/// The Session of a driver process: owns the loop thread on which the JobDriver runs and turns lineages into jobs and
/// stage plans. How executors come to be is the business of whoever made it (Local, ApplicationMaster).
class DriverSession : public Session, public process::driver::PlanSource, private process::driver::DriverListener {
 public:
  DriverSession(std::string application_id, int32_t parallelism, tasks::Config config);
  ~DriverSession() override;

  int32_t parallelism() const override { return parallelism_; }
  const std::string& application_id() const override { return application_id_; }
  int32_t NextDatasetId() override { return next_dataset_++; }
  int32_t NextShuffleId() override { return next_shuffle_++; }
  void SetPool(std::string pool) override;
  void RunJob(const std::shared_ptr<DatasetNode>& target, const std::vector<int32_t>& partitions,
              const ActionPlan& action,
              const std::function<void(int32_t output, std::string result)>& on_result) override;
  void Drop(int32_t dataset, std::vector<int32_t> shuffles) override;

  int64_t PutBroadcast(std::string value) override;
  void DropBroadcast(int64_t id) override;
  int64_t NewCounter() override { return next_counter_++; }
  int64_t CounterValue(int64_t id) const override;

  env_posix::PosixLoop& loop() { return *loop_; }
  /// Only on the loop's thread.
  process::driver::JobDriver& driver() { return *driver_; }
  /// Runs `work` on the loop's thread and waits for it.
  void OnLoop(const std::function<void()>& work);
  /// All jobs end with this error, now and later (the executors cannot be had).
  void Fail(const std::string& reason);
  /// Stops the loop and joins its thread; afterwards nothing of the driver runs.
  void Stop();

 private:
  struct Wait;
  struct RunningJob {
    std::shared_ptr<DatasetNode> target;
    ActionPlan action;
    std::shared_ptr<Wait> wait;
  };
  void OnTaskDone(const wire::engine::TaskDone& done) override;
  std::string PlanOf(const model::tasks::StageSubmitted& stage) override;
  void Describe(const std::shared_ptr<DatasetNode>& node, std::vector<model::tasks::Dataset>& out);

  const std::string application_id_;
  const int32_t parallelism_;
  std::atomic<int32_t> next_dataset_{0};
  std::atomic<int32_t> next_shuffle_{0};
  std::atomic<int64_t> next_counter_{0};
  mutable std::mutex counters_mutex_;
  std::map<int64_t, int64_t> counters_;
  std::unique_ptr<env_posix::PosixLoop> loop_;
  std::unique_ptr<process::driver::JobDriver> driver_;
  std::thread thread_;

  // On the loop's thread only.
  int32_t next_job_ = 0;
  std::map<int32_t, std::weak_ptr<DatasetNode>> nodes_;      // told to the core
  std::map<int32_t, const DatasetNode::Shuffle*> shuffles_;  // of nodes that live
  std::map<int32_t, RunningJob> jobs_;
  std::string failure_;
};

}  // namespace fairlead::engine
