#include <utility>

#include "rm/core.h"

// Containers from grant to the master's acknowledgement of their end (RMContainerImpl).

namespace fairlead::rm {

using model::rm::AttemptState;
using model::rm::ContainerState;

void Core::SetState(Container& container, ContainerEvent event, ContainerState to) {
  if (ContainerLife().Leads(container.state, event, to)) {
    container.state = to;
  } else {
    RefuseTransition(container.id, container.state, event, to);
  }
}

void Core::On(const model::scheduler::Granted& effect) {
  App& app = At(effect.app);
  const auto found = app.attempts.find(effect.container.attempt.attempt);
  if (!app.alive || found == app.attempts.end() || !found->second.known) return;  // it ends with its attempt
  Attempt& attempt = found->second;
  app.reservations.erase(effect.container);
  Container granted;
  granted.id = effect.container;
  granted.node = effect.node;
  granted.resources = effect.resources;
  granted.priority = effect.priority;
  granted.allocation_request_id = effect.allocation_request_id;
  granted.created = wall_;
  Container* container = app.containers.Add(std::move(granted));
  if (!container) return;
  container->expires = now_ + config_.grant_expiry;
  waiting_grants_.push_back(*container);
  ++attempt.containers_allocated;
  if (attempt.state == AttemptState::kScheduled) {
    MasterGranted(app, attempt, effect.container);
  } else {
    attempt.granted.push_back(effect.container);
  }
}

model::rm::ContainerInfo Core::InfoOf(const Container& container) const {
  const Node& node = nodes_[container.node];
  return {container.id,
          container.node,
          node.address,
          node.HttpAddress(),
          container.resources,
          container.priority,
          container.allocation_request_id,
          container.created,
          container.version,
          container.is_master};
}

std::string Core::EndDiagnostics(const Container& container, const model::scheduler::Finished& effect) const {
  if (!container.diagnostics.empty()) return container.diagnostics;
  if (!effect.diagnostics.empty()) return effect.diagnostics;
  if (effect.exit_status == model::kExitPreempted) return "Container preempted by scheduler";
  const Node* node = NodeAt(container.node);
  if (node && !node->in_scheduler) return "Container released on a *lost* node";
  if (effect.exit_status == model::kExitAborted) return "Container of a completed application";
  return "";
}

void Core::On(const model::scheduler::Finished& effect) {
  App& app = At(effect.app);
  const std::unique_ptr<Container> taken = app.containers.Take(effect.container);
  if (!taken) return;
  Container& container = *taken;
  container.StopWaiting();
  if (container.id.epoch() < epoch_) app.RememberEndedRecovered(container.id);
  model::rm::ContainerEnd end;
  end.id = effect.container;
  end.node = container.node;
  end.resources = container.resources;
  end.exit_status = container.reported_complete ? container.exit_status : effect.exit_status;
  end.diagnostics = EndDiagnostics(container, effect);
  // It stays among the node's running ones until the node says that it ended, or says nothing of it any more: so long
  // the scheduler keeps its room.
  Node& node = LiveNode(container.node);
  node.running.MarkOver(end.id);
  const bool handed_out = container.launched || container.state != ContainerState::kAllocated;
  if (!container.reported_complete && handed_out && node.index == container.node) {
    node.cleanup.insert(end.id);
    if (node.in_scheduler) {
      Emit(model::rm::StopContainers{node.index, node.address, end.id.attempt, {end.id}});
    }
  }
  const auto attempt = app.attempts.find(end.id.attempt.attempt);
  if (attempt != app.attempts.end()) {
    if (end.exit_status == model::kExitPreempted) {
      ++attempt->second.containers_preempted;
      SetState(container, ContainerEvent::kPreempted, ContainerState::kKilled);
    }
    Account(attempt->second, container);
    attempt->second.preempt_strict.erase(end.id);
    attempt->second.preempt_contract.erase(end.id);
  }
  if (effect.silent) {
    TellToForget(container.remembered_by, end.id);
    return;
  }
  DeliverEnd(app, {std::move(end), container.remembered_by});
}

// What an allocation has cost, from grant to end (RMAppAttemptMetrics).
void Core::Account(Attempt& attempt, const Container& container) {
  const int64_t ms = wall_.ms - container.created.ms;
  if (ms <= 0) return;
  attempt.memory_ms += ms * container.resources.memory_mib();
  attempt.vcore_ms += ms * container.resources.vcores();
  if (container.state == ContainerState::kKilled) {
    attempt.preempted_memory_ms += ms * container.resources.memory_mib();
    attempt.preempted_vcore_ms += ms * container.resources.vcores();
  }
}

void Core::DeliverEnd(App& app, UntoldEnd untold) {
  const model::ContainerId& id = untold.end.id;
  const auto own = app.attempts.find(id.attempt.attempt);
  const bool of_master = own != app.attempts.end() && own->second.master.id == id;
  Attempt* attempt = app.current();
  if (!of_master && attempt && attempt->known) {
    attempt->just_finished.push_back(std::move(untold));
    return;
  }
  TellToForget(untold.remembered_by, id);
  if (of_master) MasterContainerEnded(app, own->second, untold.end);
}

// Once: then nobody remembers it any more. What a node remembers ends with its registration, and a later one of the
// same name is not bothered with it.
void Core::TellToForget(model::NodeIndex& remembered_by, const model::ContainerId& id) {
  const model::NodeIndex index = std::exchange(remembered_by, {});
  if (!index.valid()) return;
  Node* node = ActiveNode(index);
  if (node && node->registered_as == nodes_[index].registered_as) node->forget.insert(id);
}

// No master will acknowledge the ends of an application that is over.
void Core::TellToForgetAll(App& app) {
  app.containers.ForEach([this](Container& container) { TellToForget(container.remembered_by, container.id); });
  Attempt* attempt = app.current();  // earlier ones have handed on what they had
  if (!attempt) return;
  for (UntoldEnd& untold : attempt->just_finished) TellToForget(untold.remembered_by, untold.end.id);
  for (ToldEnd& told : attempt->told) TellToForget(told.remembered_by, told.id);
}

void Core::On(const model::scheduler::Reserved& effect) {
  At(effect.app).reservations[effect.container] = effect.resources;
}

void Core::On(const model::scheduler::Unreserved& effect) { At(effect.app).reservations.erase(effect.container); }

// The new size reaches the master with its next answer and, for a decrease, the node with its next heartbeat.
void Core::On(const model::scheduler::ResizeAnswered& effect) {
  const ResizeAsked asked = TakeAsked<ResizeAsked>(effect.token);
  const model::rm::ContainerUpdate& update = asked.update;
  App* app = nullptr;
  Attempt* attempt = MutableAttempt(update.container.attempt, &app);
  Container* container = attempt ? app->containers.Find(update.container) : nullptr;
  if (container) {
    container->resources = update.capability;
    ++container->version;
    attempt->updated.push_back({InfoOf(*container), update.type});
    if (update.type == model::rm::UpdateType::kDecrease) {
      LiveNode(container->node).updates[update.container] = InfoOf(*container);
    }
  }
  ResizeDone(asked.call);
}

void Core::Refused(ResizeAsked& asked, uint64_t, const model::Refused& refused) {
  if (Attempt* attempt = MutableAttempt(asked.update.container.attempt)) {
    attempt->update_errors.push_back({asked.update, refused, asked.update.version});
  }
  ResizeDone(asked.call);
}

void Core::On(const model::rm::SignalContainer& event) {
  App* app = MutableApp(event.container.attempt.app);
  const Container* container = app ? app->containers.Find(event.container) : nullptr;
  if (!container) {
    return Refuse(event.call, model::Refusal::kUnknownContainerToSignal, {ToString(event.container)});
  }
  LiveNode(container->node).signals.push_back({event.container, event.command});
  Emit(model::rm::CallDone{event.call});
}

}  // namespace fairlead::rm
