#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sim/traces/rm.h"
#include "sim/traces/scheduler.h"

namespace fairlead::sim {

/// A scheduler and, in a thread of its own and some steps behind, the rm core: both see every job, container and
/// heartbeat. The run goes on with what the scheduler decides; the rm core takes the same events as the calls of the
/// outside, and everything it tells the scheduler is compared with what the scheduler has been told.
class BothTarget final : public TraceTarget {
 public:
  explicit BothTarget(scheduler::Scheduler& scheduler);
  ~BothTarget() override;

  void Step(base::Instant now, std::vector<model::scheduler::Event>& events, scheduler::EffectSink& out) override;
  base::Instant NextDeadline() const override { return leader_.NextDeadline(); }
  std::vector<model::scheduler::Pending> Why(model::AppIndex app, base::Instant now) const override {
    return leader_.Why(app, now);
  }
  void Prefetch(const model::ContainerId& container, int step) const override { leader_.Prefetch(container, step); }
  /// Waits for the rm core to be where the scheduler is.
  std::string Finish() override;
  /// After Finish().
  const RmFollower& follower() const { return follower_; }

 private:
  void HandOver();
  void Follow();

  SchedulerTarget leader_;
  RmFollower follower_;
  std::unique_ptr<StepLog> log_;  // being written
  std::mutex mutex_;
  std::condition_variable moved_;
  std::deque<std::unique_ptr<StepLog>> full_;
  std::vector<std::unique_ptr<StepLog>> empty_;  // for reuse
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace fairlead::sim
