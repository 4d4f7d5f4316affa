#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "base/time.h"
#include "scheduler/books/queues.h"
#include "scheduler/fairlead/config.h"

namespace fairlead::scheduler::native {

/// `now` + (`mean` - `now`) / 2^(time / half_life), in whole numbers: the same on every machine. Amounts are below
/// 2^55, times not negative. O(1).
int64_t Decayed(int64_t mean, int64_t now, base::Duration time, base::Duration half_life);

/// What queues used in the past (fairlead.scheduler.fairness.half-lives-ms). Queues of a level with a half-life H are
/// ordered by mean / weight instead of used / weight, where
///
///   mean(t) = integral over all s before t of used(s) * ln 2 / H * 2^(-(t - s) / H)
///
/// as it will be after H / 100 more if the queue goes on as now, so that what is granted in one step counts as well.
/// Who was idle has a smaller mean and is served first until the means are even; what was two half-lives ago counts a
/// quarter. Queues below their minimum come first, by what they use now. Of a queue that went its past is kept until
/// next to nothing counts of it: who comes again under the same name is no newcomer. O(1) a change, O(log queues that
/// went) for one that comes or goes.
class PastUse {
 public:
  /// Mean and use are in parts of the cluster's 2^38.
  static constexpr int64_t kUnit = int64_t{1} << 38;

  explicit PastUse(const FairnessConfig& config);

  bool on() const { return on_; }
  /// A queue came, or went.
  void TreeChanged(const Queues& queues, const TreeChange& change, base::Instant now);
  /// The use of the queue, which has a parent, has changed, or time has passed.
  void Note(const Queues& queues, QueueId queue, base::Instant now);
  /// Note is to be called for all queues.
  bool Due(base::Instant now) const { return now >= due_; }
  void Refreshed(base::Instant now);

  /// The queue's level has a half-life.
  bool Decays(QueueId queue) const { return rows_[queue.value].half_life.ns > 0; }
  /// What it is ordered by.
  uint64_t Projected(QueueId queue) const { return rows_[queue.value].projected; }

  void Mix(base::StateHasher& hash) const;
  FL_STATE_PART(rows_, gone_, due_)

 private:
  static constexpr base::Duration kRefresh = base::Duration::Seconds(1);
  /// A mean below this counts for nothing.
  static constexpr int64_t kNothing = kUnit >> 20;
  static constexpr size_t kMostGone = 4096;

  struct Row {
    base::Duration half_life;  // 0: by what it uses now
    int64_t now = 0;
    int64_t mean = 0;
    uint64_t projected = 0;
    base::Instant at{};
    std::string name;
    FL_STATE(half_life, now, mean, projected, at, name)
  };
  void Keep(const Row& row, base::Instant now);

  std::vector<base::Duration> half_lives_;
  bool on_ = false;
  std::vector<Row> rows_;            // by QueueId
  std::map<std::string, Row> gone_;  // queues that went, by name
  base::Instant due_{};
};

}  // namespace fairlead::scheduler::native
