#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/traces/steps.h"
#include "sim/traces/target.h"

namespace fairlead::sim {

/// A scheduler by itself, told what the rm core would tell it: attempts, the asks for their masters, which grants
/// masters have heard of, and ends of jobs. That these are the very events the rm core makes is checked whenever it
/// runs beside (BothTarget).
class SchedulerTarget final : public TraceTarget {
 public:
  explicit SchedulerTarget(scheduler::Scheduler& scheduler)
      : scheduler_(scheduler), prefetcher_(dynamic_cast<const scheduler::Prefetcher*>(&scheduler)) {}

  /// Steps are written down there from now on; null: nowhere.
  void LogTo(StepLog* log) { log_ = log; }

  void Step(base::Instant now, std::vector<model::scheduler::Event>& events, scheduler::EffectSink& out) override;
  base::Instant NextDeadline() const override { return scheduler_.NextDeadline(); }
  std::vector<model::scheduler::Pending> Why(model::AppIndex app, base::Instant now) const override {
    return scheduler_.Why(app, now);
  }
  void Prefetch(const model::ContainerId& container, int step) const override {
    if (prefetcher_) prefetcher_->Prefetch(container, step);
  }

 private:
  struct App {
    enum class State : uint8_t { kWaiting, kRunning, kUnregistering, kFinishing, kEnded };
    State state = State::kWaiting;  // for its master's container
    bool master_gone = false;
    int32_t attempt = 0;
    model::ContainerId master;
    std::vector<model::Ask> master_asks;
    std::vector<model::ContainerId> granted;  // its master has not heard of them
  };
  /// What the rm core does only when the store has answered, which is after all that the two cores had to say.
  enum class Stored : uint8_t { kSubmission, kUnregistration, kFailure };

  void Handle(model::scheduler::Event& event);
  /// Steps the scheduler until nothing follows from its effects any more.
  void Turns(base::Instant now, scheduler::EffectSink& out);
  void LogTurn(std::span<const model::scheduler::Effect> effects);
  void On(const model::scheduler::AppAccepted& effect);
  void On(const model::scheduler::Granted& effect);
  void On(const model::scheduler::Finished& effect);
  void On(const model::scheduler::AllocateAnswered& effect);
  template <class Other>
  void On(const Other&) {}
  void OnStored(uint32_t app, Stored what);
  void StartAttempt(uint32_t app);
  void End(uint32_t app);

  scheduler::Scheduler& scheduler_;
  const scheduler::Prefetcher* prefetcher_;  // null: the profile has none
  std::vector<App> apps_;                    // by AppIndex
  StepLog* log_ = nullptr;
  std::vector<model::scheduler::Event> told_;
  std::vector<std::pair<uint32_t, Stored>> stored_;
};

}  // namespace fairlead::sim
