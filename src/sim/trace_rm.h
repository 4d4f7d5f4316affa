#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "process/rm/machine.h"
#include "sim/trace_target.h"

namespace fairlead::sim {

/// A scheduler in the hands of the rm core, as in the daemon: what jobs and nodes do becomes the calls that clients,
/// masters and nodes would make (submission, registration, allocate, heartbeat with every running container,
/// unregistration); the store and the launcher answer at once. Nodes and masters never fall silent, so nothing expires.
class RmTarget final : public TraceTarget {
 public:
  explicit RmTarget(std::unique_ptr<scheduler::Scheduler> scheduler);
  ~RmTarget() override;

  void Step(base::Instant now, std::span<const model::scheduler::Event> events, scheduler::EffectSink& out) override;
  base::Instant NextDeadline() const override { return machine_.NextDeadline(); }
  std::vector<model::scheduler::Pending> Why(model::AppIndex app, base::Instant now) const override {
    return machine_.scheduler().Why(app, now);
  }
  const process::rm::ResourceMachine& machine() const { return machine_; }

 private:
  class Tap;
  /// A node as its agent knows it.
  struct Node {
    model::rm::NodeAddress address;
    std::vector<model::rm::NodeContainer> running;
    uint64_t batch = 0;  // of its last heartbeat
  };

  /// A node's running containers while they are part of a heartbeat in the batch: at its front.
  struct Lent {
    size_t position = 0;  // in the batch
    uint32_t node = 0;
    size_t count = 0;
  };

  void On(const model::scheduler::NodeAdded& event);
  void On(const model::scheduler::NodeRemoved& event);
  void On(const model::scheduler::NodeUpdated& event);
  void On(const model::scheduler::AppAdded& event);
  void On(const model::scheduler::AttemptAdded& event) { beginning_ = event.app; }
  void On(const model::scheduler::Allocate& event);
  void On(const model::scheduler::Acquired& event);
  /// Attempts end by the rm core's own will.
  template <class Other>
  void On(const Other&) {}
  void Finish(model::AppIndex app);
  /// The attempt if its master has registered.
  const fairlead::rm::Attempt* Registered(model::AppIndex app) const;
  void Call(const fairlead::rm::Attempt& attempt, const model::scheduler::Allocate& what);

  /// Steps the machine with the batch, then with the answers of store and launcher, until there are none.
  void Flush();
  /// Gives nodes back what the batch that was stepped had of them.
  void TakeBack();
  void Answer(const model::rm::Persist& effect);
  void Answer(const model::rm::LaunchMaster& effect);
  void Answer(const model::rm::CallRefused& effect);
  template <class Other>
  void Answer(const Other&) {}

  std::vector<model::scheduler::Effect> decided_;  // by the scheduler in this step
  process::rm::ResourceMachine machine_;
  base::Instant now_;
  std::vector<model::rm::OuterEvent> batch_;
  std::vector<model::rm::OuterEffect> effects_;
  uint64_t batches_ = 1;
  model::rm::CallToken calls_ = 0;
  std::vector<Node> nodes_;  // by NodeIndex
  std::vector<Lent> lent_;
  std::vector<uint64_t> called_batch_;  // by AppIndex: of its master's last call
  std::optional<model::AppIndex> beginning_;
};

}  // namespace fairlead::sim
