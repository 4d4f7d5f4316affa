#pragma once

#include <span>
#include <vector>

#include "base/time.h"
#include "scheduler/scheduler.h"

namespace fairlead::sim {

/// What a TraceRun drives: it is told what jobs and nodes do and says what the scheduler decides.
class TraceTarget {
 public:
  virtual ~TraceTarget() = default;
  /// As Scheduler::Step.
  virtual void Step(base::Instant now, std::span<const model::scheduler::Event> events, scheduler::EffectSink& out) = 0;
  virtual base::Instant NextDeadline() const = 0;
  virtual std::vector<model::scheduler::Pending> Why(model::AppIndex app, base::Instant now) const = 0;
};

/// A scheduler by itself.
class SchedulerTarget final : public TraceTarget {
 public:
  explicit SchedulerTarget(scheduler::Scheduler& scheduler) : scheduler_(scheduler) {}
  void Step(base::Instant now, std::span<const model::scheduler::Event> events, scheduler::EffectSink& out) override {
    scheduler_.Step(now, events, out);
  }
  base::Instant NextDeadline() const override { return scheduler_.NextDeadline(); }
  std::vector<model::scheduler::Pending> Why(model::AppIndex app, base::Instant now) const override {
    return scheduler_.Why(app, now);
  }

 private:
  scheduler::Scheduler& scheduler_;
};

}  // namespace fairlead::sim
