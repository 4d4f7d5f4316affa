#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "base/time.h"
#include "model/ids.h"
#include "model/scheduler.h"
#include "rm/core.h"

namespace fairlead::process::rm {

/// What Hadoop's QueueMetrics sum of a queue and all below it since the manager began; as there, nothing of it is
/// stored.
struct QueueCounts {
  int64_t allocated = 0, released = 0;   // containers, masters too
  std::array<int64_t, 3> by_locality{};  // of those allocated that are no masters: by model::Locality
  int64_t preempted = 0;
  model::Resources preempted_size;
  int64_t preempted_mib_seconds = 0, preempted_core_seconds = 0;
  int64_t completed = 0, failed = 0, killed = 0;  // applications that have ended
};

/// Counts what the scheduler decides. Cost of a container: the depth of its queue times the logarithm of the queues.
class QueueCounters {
 public:
  /// What was decided in one step, before the rm core has worked on it.
  void Take(base::WallTime now, const fairlead::rm::Core& core, std::span<const model::scheduler::Effect> effects);
  /// An application has ended, if it is that.
  void Take(const fairlead::rm::Core& core, const model::rm::StateChanged& change);
  /// By full name, with the queues above; a queue without decisions is not there.
  const std::map<std::string, QueueCounts>& by_name() const { return by_queue_; }

 private:
  template <class Change>
  void Count(const fairlead::rm::App* app, Change change);

  std::map<std::string, QueueCounts> by_queue_;
};

}  // namespace fairlead::process::rm
