#pragma once

#include <cstdint>
#include <vector>

#include "base/state.h"
#include "base/time.h"
#include "model/ids.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {

/// How promised starts were kept (fairlead.scheduler.backfill.promises).
struct PromiseCounts {
  int64_t made = 0;
  int64_t served = 0;     // of them
  int64_t missed = 0;     // of those served: later than promised
  int64_t withdrawn = 0;  // the ask went away, or its node did
  int64_t late_ms = 0;    // in all of those missed
  int64_t off_ms = 0;     // start - promised start in all of those served: below 0 where they started sooner
  FL_STATE(made, served, missed, withdrawn, late_ms, off_ms)
};

/// A start that is promised now.
struct PromisedStart {
  model::AppIndex app;
  model::NodeIndex node;
  base::Instant planned;
  base::Instant latest;
};

struct Promises {
  PromiseCounts counts;
  std::vector<PromisedStart> now;
};
/// Of a scheduler of profile `fairlead`; empty for others.
Promises PromisesOf(const Scheduler& scheduler);

}  // namespace fairlead::scheduler
