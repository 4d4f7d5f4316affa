#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/scheduler.h"
#include "rm/core.h"

namespace fairlead::process::rm {

/// What the diagnostics of an application say while it has no master yet: Hadoop's state and sentence, where it has one
/// (SchedulerApplicationAttempt.AMState, MaxRunningAppsEnforcer, FSAppAttempt, AbstractLeafQueue), then the numbers and
/// the remedy of `why`; `launch` says why its node has not taken a granted one yet, or "". `scheduler`: FairScheduler
/// or CapacityScheduler, whose sentence it is.
std::string WaitingText(const fairlead::rm::App& app, const std::vector<model::scheduler::Pending>& why,
                        const std::string& launch, std::string_view scheduler, base::WallTime now);

/// The same for many who ask again and again: an application's text is kept for a second, and each second has
/// kAsked dry passes of the scheduler; beyond them the text is the last one.
class WaitingTexts {
 public:
  static constexpr int kAsked = 100;
  static constexpr size_t kKept = 4096;

  using Make = std::function<std::string()>;
  /// Cost: at most one call of `make`.
  std::string Of(model::AppIndex app, base::Instant now, const Make& make);

 private:
  struct Told {
    base::Instant at;
    std::string text;
  };
  std::map<model::AppIndex, Told> told_;
  base::Instant second_;  // its begin
  int asked_ = 0;         // in it
};

}  // namespace fairlead::process::rm
