#pragma once

#include <string>

#include "model/ids.h"
#include "model/rm.h"
#include "model/scheduler.h"
#include "rm/context.h"
#include "rm/life_cycles.h"
#include "rm/state.h"

namespace fairlead::rm {

class Apps;
class Attempts;
class Nodes;

/// Containers from grant to the master's acknowledgement of their end (RMContainerImpl). They stand in their
/// application; owned here is the list of those that nobody has launched yet.
class Containers {
 public:
  Containers(Context& context, Apps& apps, Attempts& attempts, Nodes& nodes)
      : context_(context), config_(context.config()), apps_(apps), attempts_(attempts), nodes_(nodes) {}

  void On(const model::rm::SignalContainer& event);
  void On(const model::scheduler::Granted& effect);
  void On(const model::scheduler::Finished& effect);
  void On(const model::scheduler::Reserved& effect);
  void On(const model::scheduler::Unreserved& effect);

  void SetState(Container& container, ContainerEvent event, model::rm::ContainerState to);
  /// Its master hears of it with its next call.
  void DeliverEnd(App& app, UntoldEnd untold);
  /// Tells the node that remembers the end to forget it; once: then nobody remembers it any more.
  void TellToForget(model::NodeIndex& remembered_by, const model::ContainerId& id);
  /// No master will acknowledge the ends of an application that is over.
  void TellToForgetAll(App& app);
  /// As masters and reports have it: with the names of its node.
  model::rm::ContainerInfo InfoOf(const Container& container) const;

  /// Grants that were not launched in time end.
  void ExpireGrants();
  /// When the next grant expires; Instant::Max() for never.
  base::Instant NextExpiry() const { return waiting_.empty() ? base::Instant::Max() : waiting_.front().expires; }

  /// The grants that nobody has launched, oldest first; and what they were in a state that was read.
  std::vector<model::ContainerId> Waiting() const;
  bool SetWaiting(const std::vector<model::ContainerId>& ids);

  /// Empty when the list is in order, else what is not.
  std::string Check() const;

 private:
  void Account(Attempt& attempt, const Container& container);
  std::string EndDiagnostics(const Container& container, const model::scheduler::Finished& effect) const;

  Context& context_;
  const Config& config_;
  Apps& apps_;
  Attempts& attempts_;
  Nodes& nodes_;
  WaitingGrants waiting_;
};

}  // namespace fairlead::rm
