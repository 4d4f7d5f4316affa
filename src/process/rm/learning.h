#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "base/time.h"
#include "env/loop.h"
#include "env/store.h"
#include "env/timer.h"
#include "model/learned_use.h"
#include "model/scheduler.h"
#include "rm/core.h"
#include "scheduler/books/run_times.h"

namespace fairlead::process::rm {

/// Learns how long containers run from the ends of those that went well. What has changed is stored once a minute, 64
/// kinds at a time; what was learned since is learned again after an end of the process.
class Learning {
 public:
  static constexpr char kTable[] = "rm/run-times";
  using Store = std::function<void(std::vector<env::Row> rows, std::function<void()> stored)>;
  Learning(env::Loop& loop, Store store) : store_(std::move(store)), timer_(loop) {}

  /// Of an earlier run.
  void Recall(const std::vector<model::LearnedRuns>& rows, base::Instant now) { times_->Recall(rows, now); }
  /// What the scheduler decided, before `core` has worked on it. O(log kinds) an end; the first one after Share copies
  /// what is known (at most 4 MiB).
  void Take(base::Instant now, base::WallTime wall, const fairlead::rm::Core& core,
            std::span<const model::scheduler::Effect> effects);
  /// What is known now, to be read by any thread.
  std::shared_ptr<const scheduler::RunTimes> Share() const { return times_; }

 private:
  void Keep();

  Store store_;
  env::Timer timer_;
  std::set<scheduler::Kind> changed_;
  std::shared_ptr<scheduler::RunTimes> times_ = std::make_shared<scheduler::RunTimes>();
};

}  // namespace fairlead::process::rm
