#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/rm.h"
#include "rm/core.h"
#include "scheduler/scheduler.h"

namespace fairlead::process::rm {

/// The rm core and a scheduler as one machine: effects of one are events of the other, in order, until none is left,
/// inside one Step, so that a grant rides on the reply to the very call that asked. Pure: the daemon, the simulator and
/// `fairlead replay` step it alike.
class ResourceMachine {
 public:
  ResourceMachine(fairlead::rm::Config config, std::unique_ptr<scheduler::Scheduler> scheduler);

  /// Sees what the scheduler decided, before the rm core works on it; changes nothing.
  using Watch = std::function<void(base::WallTime wall, std::span<const model::scheduler::Effect> effects)>;
  void SetWatch(Watch watch) { watch_ = std::move(watch); }

  /// Applies a batch of outside events and appends what the outside must do. `now` is constant during the step and
  /// never earlier than before. An empty batch lets time pass.
  void Step(base::Instant now, base::WallTime wall, std::span<const model::rm::OuterEvent> events,
            std::vector<model::rm::OuterEffect>& out);

  /// When Step wants to be called again at the latest; Instant::Max() for never.
  base::Instant NextDeadline() const;
  std::string CheckInvariants() const;
  uint64_t StateHash() const;
  /// All of the state, between two steps; a machine that was made alike reads it and goes on as this one would. False:
  /// the bytes are not those of a state, and the machine is of no use. O(state).
  std::string State() const;
  bool ReadState(std::string_view bytes);
  /// An independent copy without its watch, between two steps: any thread may have it. O(state).
  std::unique_ptr<ResourceMachine> Fork() const;

  const fairlead::rm::Core& core() const { return core_; }
  void Touch(model::AppIndex app) { core_.Touch(app); }
  std::vector<model::AppIndex> TakeTouchedApps() { return core_.TakeTouchedApps(); }
  std::vector<model::NodeIndex> TakeTouchedNodes() { return core_.TakeTouchedNodes(); }
  const scheduler::Scheduler& scheduler() const { return *scheduler_; }

 private:
  ResourceMachine(const ResourceMachine& other);

  fairlead::rm::Core core_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::vector<model::scheduler::Event> to_scheduler_;
  std::vector<model::scheduler::Event> next_;
  scheduler::EffectSink from_scheduler_;
  Watch watch_;
};

}  // namespace fairlead::process::rm
