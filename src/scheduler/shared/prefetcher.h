#pragma once

#include "model/ids.h"

namespace fairlead::scheduler {

/// A caller that knows which containers end soon (the simulator does) may say so, and what their end touches is brought
/// into the cache. Profiles that can do that implement this beside Scheduler. Decides nothing.
class Prefetcher {
 public:
  static constexpr int kSteps = 5;

  /// Called with `step` 0 to kSteps - 1, some time apart, each for what the one before has brought.
  virtual void Prefetch(const model::ContainerId& container, int step) const = 0;

 protected:
  ~Prefetcher() = default;
};

}  // namespace fairlead::scheduler
