#pragma once

#include <cstddef>
#include <vector>

#include "model/scheduler.h"

namespace fairlead::sim {

/// Some steps of a SchedulerTarget in their order: what the scheduler was told and what it decided.
struct StepLog {
  /// One Scheduler::Step.
  struct Turn {
    size_t events_end = 0;
    size_t effects_end = 0;
  };
  /// One TraceTarget::Step: its first `said` events are what the run said; all others the scheduler was told because of
  /// its own effects.
  struct Step {
    base::Instant now;
    size_t said = 0;
    size_t unregistered_end = 0;
    size_t turns_end = 0;
  };
  std::vector<model::scheduler::Event> events;
  std::vector<model::scheduler::Effect> effects;
  std::vector<model::AppIndex> unregistered;  // jobs whose masters unregister at the beginning of the step
  std::vector<Turn> turns;
  std::vector<Step> steps;

  void Clear() {
    events.clear();
    effects.clear();
    unregistered.clear();
    turns.clear();
    steps.clear();
  }
};

}  // namespace fairlead::sim
