#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "scheduler/scheduler.h"

namespace fairlead::process::rm {

/// One queue, or the whole cluster, at one moment; memory in MiB.
struct ChartPoint {
  std::string queue;  // full name; "root" is the cluster
  int64_t used = 0;
  int64_t fair_share = 0;
  int64_t pending = 0;  // asked for and not granted
  int64_t running = 0;  // applications
  int64_t waiting = 0;
  FL_FIELDS(queue, used, fair_share, pending, running, waiting)
};

struct ChartSample {
  int64_t at_ms = 0;
  int64_t capacity = 0;  // MiB
  int64_t granted = 0;   // containers since the first sample of all, over restarts
  std::vector<ChartPoint> queues;
  FL_FIELDS(at_ms, capacity, granted, queues)
};

/// How the cluster and its queues went: an hour in steps of ten seconds, a day in steps of five minutes, a month in
/// steps of two hours. Bounded: about a thousand samples of at most kMostQueues queues each. Kept over a restart by
/// whoever keeps Encode's bytes.
class Charts {
 public:
  static constexpr base::Duration kStep = base::Duration::Seconds(10);
  static constexpr size_t kMostQueues = 64;

  /// What Encode of an earlier run gave; Error: it is damaged or of a later release, and nothing changes.
  base::Status Decode(std::string_view bytes);
  std::string Encode() const;

  /// The state at `at`; `granted`: containers since this process started. Call it every kStep.
  void Sample(base::WallTime at, const scheduler::View& view, uint64_t granted);

  /// The finest samples that reach back `ms`, the oldest first.
  const std::deque<ChartSample>& Since(int64_t ms) const;

 private:
  struct Level {
    int64_t step_ms;
    size_t most;
  };
  static constexpr std::array<Level, 3> kLevels = {{{10'000, 360}, {300'000, 288}, {7'200'000, 360}}};

  struct Stored {
    std::vector<std::vector<ChartSample>> levels;
    FL_FIELDS(levels)
  };

  std::array<std::deque<ChartSample>, kLevels.size()> kept_;
  int64_t granted_before_ = 0;  // by earlier runs
};

/// Where charts outlive a run; without a keeper nothing is sampled.
struct ChartKeeping {
  std::string last;  // what Charts::Encode of the last run gave, or empty
  std::function<void(const std::string& bytes)> keep;
};

}  // namespace fairlead::process::rm
