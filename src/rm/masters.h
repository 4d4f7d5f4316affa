#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/ids.h"
#include "model/rm.h"
#include "model/scheduler.h"
#include "rm/context.h"
#include "rm/state.h"

namespace fairlead::rm {

class Apps;
class Attempts;
class Containers;
class Nodes;

/// The calls of application masters (ApplicationMasterService, DefaultAMSProcessor). Owns nothing.
class Masters {
 public:
  Masters(Context& context, Apps& apps, Attempts& attempts, Containers& containers, Nodes& nodes)
      : context_(context),
        config_(context.config()),
        apps_(apps),
        attempts_(attempts),
        containers_(containers),
        nodes_(nodes) {}

  void On(const model::rm::RegisterMaster& event);
  void On(const model::rm::AllocateCall& event);
  void On(const model::rm::FinishMaster& event);
  void On(const model::scheduler::AllocateAnswered& effect);
  void On(const model::scheduler::PreemptionNotice& effect);
  void On(const model::scheduler::ResizeAnswered& effect);
  void Refused(const AllocateAsked&, uint64_t token, const model::Refused& refused) { context_.Refuse(token, refused); }
  void Refused(const ResizeAsked& asked, uint64_t token, const model::Refused& refused);

 private:
  /// The attempt whose answers have come that far: else the call has been answered.
  bool IsInTurn(const model::rm::AllocateCall& event, const App& app, const Attempt& attempt);
  /// True when readers see something new.
  bool TakeProgress(const model::rm::AllocateCall& event, Attempt& attempt);
  model::Refused CheckAllocate(const App& app, const Attempt& attempt, const model::rm::AllocateCall& call) const;
  /// Asks the scheduler for the updates that are allowed, and gives their number; the others are errors.
  size_t RequestUpdates(App& app, Attempt& attempt, model::rm::CallToken call,
                        const std::vector<model::rm::ContainerUpdate>& updates);
  model::Refused CheckUpdate(const App& app, const Container* container,
                             const model::rm::ContainerUpdate& update) const;
  /// The scheduler has answered all that the call wanted of it.
  void AllocateDone(model::rm::CallToken call, const AllocateAsked& asked);
  void ResizeDone(model::rm::CallToken call);
  /// What a master hears when there is nothing to tell.
  model::rm::AllocateAnswer NothingNewFor(const App& app, const Attempt& attempt) const;
  /// `over`: its application ends, and the scheduler need not hear of it any more.
  void AnswerAllocate(App& app, Attempt& attempt, model::rm::CallToken call, const model::Resources& headroom,
                      int32_t cluster_nodes, bool over);
  void HandOver(App& app, Attempt& attempt, model::rm::AllocateAnswer& answer, bool over);

  Context& context_;
  const Config& config_;
  Apps& apps_;
  Attempts& attempts_;
  Containers& containers_;
  Nodes& nodes_;
};

}  // namespace fairlead::rm
