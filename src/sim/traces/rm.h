#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "process/rm/machine.h"
#include "sim/traces/steps.h"

namespace fairlead::sim {

/// The rm core beside a run, as in the daemon: what jobs and nodes do becomes the calls that clients, masters and nodes
/// would make (submission, registration, allocate, heartbeat with every running container, unregistration); the store
/// and the launcher answer at once. Nodes and masters never fall silent, so nothing expires. In the place of its
/// scheduler it has what the run's scheduler has decided, and what it tells it must be what that one was told.
class RmFollower {
 public:
  RmFollower();
  ~RmFollower();

  /// Takes the steps in order.
  void Follow(const StepLog& log);
  /// The first thing that the rm core told or answered otherwise than foreseen, after which it follows no further.
  const std::string& problem() const;
  const process::rm::ResourceMachine& machine() const { return machine_; }

 private:
  class Echo;
  /// A node as its agent knows it.
  struct Node {
    model::rm::NodeAddress address;
    std::vector<model::ContainerId> running;  // in order of ids
    model::MeasuredUse use;                   // not yet told
    std::vector<model::ContainerUse> each;    // nor this
  };

  /// A node's running containers while they are part of a heartbeat in the batch.
  struct Lent {
    size_t position = 0;  // in the batch
    uint32_t node = 0;
  };

  void On(const model::scheduler::NodeAdded& event);
  void On(const model::scheduler::NodeRemoved& event);
  void On(const model::scheduler::NodeMeasured& event);
  void On(const model::scheduler::NodeUpdated& event);
  void On(const model::scheduler::AppAdded& event);
  void On(const model::scheduler::Allocate& event);
  template <class Other>
  void On(const Other&) {}
  void Unregister(model::AppIndex app);
  /// The attempt if its master has registered, else a problem.
  const fairlead::rm::Attempt* Registered(model::AppIndex app);

  /// Asks for what the next events and effects of the log will touch; `event` and `effect` come next.
  void PrefetchAhead(const StepLog& log, size_t event, size_t effect);
  void Prefetch(const model::scheduler::Event& event, int step) const;
  void Prefetch(const model::scheduler::Effect& effect, int step) const;

  /// Steps the machine with the batch, then with the answers of store and launcher, until there are none.
  void Flush();
  /// Gives nodes back what the batch that was stepped had of them.
  void TakeBack();
  void Answer(const model::rm::Persist& effect);
  void Answer(const model::rm::LaunchMaster& effect);
  void Answer(const model::rm::CallRefused& effect);
  template <class Other>
  void Answer(const Other&) {}

  explicit RmFollower(std::unique_ptr<Echo> echo);
  void Fail(std::string problem);

  Echo& echo_;  // the machine's scheduler
  process::rm::ResourceMachine machine_;
  base::Instant now_;
  std::vector<model::rm::OuterEvent> batch_;
  std::vector<model::rm::OuterEffect> effects_;
  model::rm::CallToken calls_;
  std::vector<Node> nodes_;  // by NodeIndex
  std::vector<Lent> lent_;
  static constexpr int kSteps = 1 + fairlead::rm::Core::kPrefetchSteps;
  std::array<size_t, kSteps> events_ahead_{};  // of the log, by step: those before are prefetched
  std::array<size_t, kSteps> effects_ahead_{};
};

}  // namespace fairlead::sim
