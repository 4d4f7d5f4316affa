#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "process/ask/correction.h"
#include "process/ask/future.h"
#include "process/ask/present.h"
#include "scheduler/books/run_times.h"

namespace fairlead::process::ask {

/// What an application waits for of one priority and allocation request id.
struct AskWhen {
  int32_t priority = 0;
  int64_t request = -1;
  model::Resources size;
  int64_t count = 0;
  When first;  // its first container starts
  When all;    // nothing of it waits any more
  std::string reason;
};

/// When what waits will start: from kFutures futures of one present, each with run times drawn from what was learned.
/// Never changed once made, so that any thread may read it.
class Forecast {
 public:
  static constexpr int kFutures = 20;

  /// Run times of the future of that number; what it gives is one thread's.
  using Drawn = std::function<RunTimeOf(uint64_t future)>;

  /// Cost: kFutures times that of a Future within the bounds. Where Bounds::ended ends it, it says nothing of any ask.
  Forecast(std::shared_ptr<const Present> present, std::shared_ptr<const scheduler::RunTimes> learned, Bounds bounds,
           Correction correction = {});
  /// The same by run times that come from elsewhere.
  Forecast(std::shared_ptr<const Present> present, const Drawn& drawn, Bounds bounds, Correction correction = {});

  /// Of each ask that the application had at the present moment, the lowest number of priority first. An application
  /// that is not `visible` to whoever asks is not named. Cost: its starts.
  using Visible = std::function<bool(const Present::App&)>;
  std::vector<AskWhen> Of(model::AppIndex app, const Visible& visible) const;
  /// An ask that waits, and when its next container starts.
  struct Next {
    model::ApplicationId app;
    int32_t priority = 0;
    int64_t request = -1;
    base::Duration foreseen;  // the p50 of its futures
    When when;                // as it is told: with both
  };
  /// Asks that have no estimate are left out.
  const std::vector<Next>& nexts() const { return nexts_; }
  const Present& present() const { return *present_; }
  base::Duration ahead() const { return ahead_; }

 private:
  using Key = std::pair<int32_t, int64_t>;                  // priority, allocation request id
  using Starts = std::vector<std::vector<base::Duration>>;  // by future
  struct First {
    model::AppIndex frees;  // whose container ends before the first start, on its node
    base::Duration at;
    int64_t before = 0;  // that start for others until then
  };

  void ListNexts();
  std::string ReasonOf(model::AppIndex app, const Key& key, const AskWhen& ask, const Visible& visible) const;

  std::shared_ptr<const Present> present_;
  Correction correction_;
  base::Duration ahead_;  // as far as all futures were followed
  int64_t endless_ = 0;
  bool ended_ = false;  // before all futures were followed
  std::map<model::AppIndex, std::map<Key, Starts>> starts_;
  std::map<std::pair<model::AppIndex, Key>, First> first_;  // of the first future that starts it
  std::vector<Next> nexts_;
};

}  // namespace fairlead::process::ask
