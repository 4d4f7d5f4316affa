#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "base/time.h"
#include "model/ids.h"
#include "model/scheduler.h"
#include "rm/core.h"

namespace fairlead::process::rm {

/// What Hadoop's QueueMetrics sum of a queue and all below it since the manager began; as there, nothing of it is
/// stored.
struct QueueCounts {
  int64_t allocated = 0, released = 0;   // containers, masters too
  std::array<int64_t, 3> by_locality{};  // of those allocated: by model::Locality
  int64_t preempted = 0;
  model::Resources preempted_size;
  int64_t preempted_mib_seconds = 0, preempted_core_seconds = 0;
  int64_t completed = 0, failed = 0, killed = 0;  // applications that have ended
};

/// A queue by its full name, and a user.
using QueueUser = std::pair<std::string, std::string>;

/// Are there numbers of users, too? FairScheduler has them always, CapacityScheduler by `user-metrics.enable`.
bool CountsUsers(const fairlead::rm::Core& core);

/// Counts what the scheduler decides. Cost of a container: the depth of its queue times the logarithm of the queues.
class QueueCounters {
 public:
  /// So many users of queues at most, as strangers choose their names: one more, and the half of them is forgotten for
  /// which nothing was counted for longest.
  static constexpr size_t kMostUsers = 1000;

  /// What was decided in one step, before the rm core has worked on it.
  void Take(base::WallTime now, const fairlead::rm::Core& core, std::span<const model::scheduler::Effect> effects);
  /// An application has ended, if it is that.
  void Take(const fairlead::rm::Core& core, const model::rm::StateChanged& change);
  /// By full name, with the queues above; a queue without decisions is not there.
  const std::map<std::string, QueueCounts>& by_name() const { return by_queue_; }
  /// Likewise, of each user.
  std::map<QueueUser, QueueCounts> by_user() const;

 private:
  struct UserCounts {
    QueueCounts counts;
    uint64_t touched = 0;
  };

  template <class Change>
  void Count(const fairlead::rm::Core& core, const fairlead::rm::App* app, Change change);
  QueueCounts& OfUser(const std::string& queue, const std::string& user);

  std::map<std::string, QueueCounts> by_queue_;
  std::map<QueueUser, UserCounts> by_user_;
  uint64_t touches_ = 0;
};

}  // namespace fairlead::process::rm
