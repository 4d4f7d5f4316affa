#pragma once

#include <memory>

#include "scheduler/books/config.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {

/// The order and placement of Spark's Standalone master on the events of the other profiles, for comparison on one
/// trace: masters (drivers) first, then applications in order of submission, each given as much as fits before the
/// next; nodes by free cores, most first, equal ones by larger number; one container at a time around the ring (spread
/// out) or node after node (pack). No queues' shares, no locality, no preemption; limits of queues and users hold.
struct StandaloneConfig {
  BooksConfig base;
  bool spread_out = true;  // spark.deploy.spreadOutApps
};

/// A pass costs O(waiting applications + grants x log nodes), and runs when something changed.
std::unique_ptr<Scheduler> MakeStandalone(const StandaloneConfig& config);

}  // namespace fairlead::scheduler
