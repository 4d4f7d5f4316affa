#pragma once

#include <memory>
#include <span>

#include "base/time.h"
#include "model/scheduler.h"
#include "rm/core.h"
#include "scheduler/books/run_times.h"

namespace fairlead::process::rm {

/// Learns how long containers run from the ends of those that went well.
class Learning {
 public:
  /// What the scheduler decided, before `core` has worked on it. O(log kinds) an end; the first one after Share copies
  /// what is known (at most 4 MiB).
  void Take(base::Instant now, base::WallTime wall, const fairlead::rm::Core& core,
            std::span<const model::scheduler::Effect> effects);
  /// What is known now, to be read by any thread.
  std::shared_ptr<const scheduler::RunTimes> Share() const { return times_; }

 private:
  std::shared_ptr<scheduler::RunTimes> times_ = std::make_shared<scheduler::RunTimes>();
};

}  // namespace fairlead::process::rm
