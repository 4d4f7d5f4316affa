#include "rm/containers.h"

#include <memory>
#include <utility>

#include "base/codec.h"
#include "model/taken_back.h"
#include "rm/apps.h"
#include "rm/attempts.h"
#include "rm/nodes.h"

namespace fairlead::rm {

namespace {
constexpr size_t kSignalsMax = 1000;  // that wait for a node's heartbeat
}

using model::rm::AttemptState;
using model::rm::ContainerState;

void Containers::SetState(Container& container, ContainerEvent event, ContainerState to) {
  if (ContainerLife().Leads(container.state, event, to)) {
    container.state = to;
  } else {
    context_.RefuseTransition(container.id, container.state, event, to);
  }
}

void Containers::On(const model::scheduler::Granted& effect) {
  App& app = apps_.At(effect.app);
  if (Container* known = app.containers.Find(effect.container); known && app.current()) {
    // It waited for a larger size.
    known->resources = effect.resources;
    ++known->version;
    app.current()->updated.push_back({InfoOf(*known), model::rm::UpdateType::kIncrease});
    return;
  }
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
  granted.created = context_.wall();
  Container* container = app.containers.Add(std::move(granted));
  if (!container) return;
  container->expires = context_.now() + config_.grant_expiry;
  waiting_.push_back(*container);
  ++attempt.containers_allocated;
  if (attempt.state == AttemptState::kScheduled) {
    attempts_.MasterGranted(app, attempt, effect.container);
  } else {
    attempt.granted.push_back(effect.container);
  }
}

model::rm::ContainerInfo Containers::InfoOf(const Container& container) const {
  const Node& node = nodes_.table()[container.node];
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

std::string Containers::EndDiagnostics(const Container& container, const model::scheduler::Finished& effect) const {
  if (!container.diagnostics.empty()) return container.diagnostics;
  if (!effect.diagnostics.empty()) return effect.diagnostics;
  if (effect.exit_status == model::kExitPreempted) return model::DiagnosticsOf(model::TakenBackFor::kQueue);
  const Node* node = nodes_.table().Find(container.node);
  if (node && !node->in_scheduler) return "Container released on a *lost* node";
  if (effect.exit_status == model::kExitAborted) return "Container of a completed application";
  return "";
}

void Containers::On(const model::scheduler::Finished& effect) {
  App& app = apps_.At(effect.app);
  const Owned<Container> taken = app.containers.Take(effect.container);
  if (!taken) return;
  Container& container = *taken;
  container.StopWaiting();
  if (container.id.epoch() < context_.epoch()) app.RememberEndedRecovered(container.id);
  model::rm::ContainerEnd end;
  end.id = effect.container;
  end.node = container.node;
  end.resources = container.resources;
  end.exit_status = container.reported_complete ? container.exit_status : effect.exit_status;
  end.diagnostics = EndDiagnostics(container, effect);
  // It stays among the node's running ones until the node says that it ended, or says nothing of it any more: so long
  // the scheduler keeps its room.
  Node& node = nodes_.Live(container.node);
  node.running.MarkOver(end.id);
  const bool handed_out = container.launched || container.state != ContainerState::kAllocated;
  if (!container.reported_complete && handed_out && node.index == container.node) {
    node.cleanup.insert(end.id);
    if (node.in_scheduler) {
      context_.Emit(model::rm::StopContainers{node.index, node.address, end.id.attempt, {end.id}});
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
void Containers::Account(Attempt& attempt, const Container& container) {
  const int64_t ms = context_.wall().ms - container.created.ms;
  if (ms <= 0) return;
  attempt.memory_ms += ms * container.resources.memory_mib();
  attempt.vcore_ms += ms * container.resources.vcores();
  if (container.state == ContainerState::kKilled) {
    attempt.preempted_memory_ms += ms * container.resources.memory_mib();
    attempt.preempted_vcore_ms += ms * container.resources.vcores();
  }
}

void Containers::DeliverEnd(App& app, UntoldEnd untold) {
  const model::ContainerId& id = untold.end.id;
  const auto own = app.attempts.find(id.attempt.attempt);
  const bool of_master = own != app.attempts.end() && own->second.master.id == id;
  Attempt* attempt = app.current();
  if (!of_master && attempt && attempt->known) {
    attempt->just_finished.push_back(std::move(untold));
    return;
  }
  TellToForget(untold.remembered_by, id);
  if (of_master) attempts_.MasterContainerEnded(app, own->second, untold.end);
}

// What a node remembers ends with its registration, and a later one of the
// same name is not bothered with it.
void Containers::TellToForget(model::NodeIndex& remembered_by, const model::ContainerId& id) {
  const model::NodeIndex index = std::exchange(remembered_by, {});
  if (!index.valid()) return;
  Node* node = nodes_.Active(index);
  if (node && node->registered_as == nodes_.At(index).registered_as) node->forget.insert(id);
}

void Containers::TellToForgetAll(App& app) {
  app.containers.ForEach([this](Container& container) { TellToForget(container.remembered_by, container.id); });
  Attempt* attempt = app.current();  // earlier ones have handed on what they had
  if (!attempt) return;
  for (UntoldEnd& untold : attempt->just_finished) TellToForget(untold.remembered_by, untold.end.id);
  for (ToldEnd& told : attempt->told) TellToForget(told.remembered_by, told.id);
}

void Containers::On(const model::scheduler::Reserved& effect) {
  apps_.At(effect.app).reservations[effect.container] = effect.resources;
}

void Containers::On(const model::scheduler::Unreserved& effect) {
  apps_.At(effect.app).reservations.erase(effect.container);
}

void Containers::On(const model::rm::SignalContainer& event) {
  App* app = apps_.Find(event.container.attempt.app);
  const Container* container = app ? app->containers.Find(event.container) : nullptr;
  if (!container) {
    return context_.Refuse(event.call, model::Refusal::kUnknownContainerToSignal, {ToString(event.container)});
  }
  std::vector<model::rm::ContainerSignal>& signals = nodes_.Live(container->node).signals;
  // The node may be away. What was asked for first is late by then.
  if (signals.size() >= kSignalsMax) signals.erase(signals.begin());
  signals.push_back({event.container, event.command});
  context_.Emit(model::rm::CallDone{event.call});
}

void Containers::ExpireGrants() {
  while (!waiting_.empty() && waiting_.front().expires <= context_.now()) {
    Container& container = waiting_.front();
    container.StopWaiting();
    SetState(container, ContainerEvent::kExpire, model::rm::ContainerState::kExpired);
    container.diagnostics = "Container expired since it was unused";
    context_.Tell(model::scheduler::ContainerEnded{container.id, model::kExitAborted});
  }
}

std::vector<model::ContainerId> Containers::Waiting() const {
  std::vector<model::ContainerId> ids;
  for (const Container& container : waiting_) ids.push_back(container.id);
  return ids;
}

bool Containers::SetWaiting(const std::vector<model::ContainerId>& ids) {
  for (const model::ContainerId& id : ids) {
    App* app = apps_.Find(id.attempt.app);
    Container* container = app ? app->containers.Find(id) : nullptr;
    if (!container || container->waits()) return false;
    waiting_.push_back(*container);
  }
  return true;
}

std::string Containers::Check() const {
  base::Instant earlier;
  for (const Container& container : waiting_) {
    if (container.launched) return "a launched container is waited for: " + ToString(container.id);
    if (container.expires < earlier) return "grants expire out of order: " + ToString(container.id);
    earlier = container.expires;
  }
  return "";
}

}  // namespace fairlead::rm
