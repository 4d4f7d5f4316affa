#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "scheduler/scheduler.h"
#include "scheduler/shared/prefetcher.h"

namespace fairlead::sim {

/// What a TraceRun drives: it is told what clients, masters and nodes do, and says what the scheduler decides. Of the
/// scheduler's events these come from a run: nodes (added, removed, updated), jobs (AppAdded: submitted; AppRemoved:
/// its master unregisters), and Allocate: a master's call, whose answer takes along all grants so far. The rest
/// follows.
class TraceTarget {
 public:
  virtual ~TraceTarget() = default;
  /// As Scheduler::Step. At most one NodeUpdated a node and one Allocate a job; the events are used up.
  virtual void Step(base::Instant now, std::vector<model::scheduler::Event>& events, scheduler::EffectSink& out) = 0;
  virtual base::Instant NextDeadline() const = 0;
  virtual std::vector<model::scheduler::Pending> Why(model::AppIndex app, base::Instant now) const = 0;
  /// As scheduler::Prefetcher::Prefetch.
  virtual void Prefetch(const model::ContainerId& container, int step) const = 0;
  /// After the last step: what went wrong, empty when nothing did.
  virtual std::string Finish() { return ""; }
};

}  // namespace fairlead::sim
