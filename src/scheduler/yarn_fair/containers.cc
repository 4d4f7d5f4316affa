#include <algorithm>

#include "scheduler/yarn_fair/core.h"

// Containers from grant to end: FSAppAttempt.containerCompleted, AbstractYarnScheduler's reports and recovery.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;

/// FSAppAttempt.createContainer: takes the next number, also for a reservation.
ContainerSlot Core::CreateContainer(AttemptId id, NodeIndex node, const Resources& size, const RequestKey& key) {
  Attempt& attempt = attempts_[id];
  const model::ContainerId number{{apps_[attempt.app].id, attempt.number}, attempt.numbers.Next()};
  const ContainerSlot slot = containers_.Add(id, attempt.app, number, node, key, size);
  attempt.numbers.Add(slot);
  return slot;
}

/// AbstractYarnScheduler.getRMContainer: a live container of the application's current attempt.
ContainerSlot Core::FindLive(const model::ContainerId& id) const {
  const AttemptId current = apps_.Current(apps_.Find(id.attempt.app));
  if (!current.valid()) return {};
  const Attempt& attempt = attempts_[current];
  const ContainerSlot slot = attempt.numbers.Find(id.value, id.attempt.attempt == attempt.number);
  const bool found =
      slot.valid() && containers_[slot].live && containers_[slot].id.attempt.attempt == id.attempt.attempt;
  return found ? slot : ContainerSlot{};
}

void Core::FreeIfGone(ContainerSlot slot) {
  const AttemptId attempt = containers_[slot].attempt;
  if (containers_.RemoveIfGone(slot, names_)) FreeIfUnpinned(attempt);
}

/// AbstractYarnScheduler.completedContainer. The slot may be free afterwards when its node does not hold it.
void Core::Complete(ContainerSlot slot, const Ending& ending) {
  const Container& container = containers_[slot];
  const AttemptId current = apps_.Current(container.app);
  if (!current.valid()) return;
  if (container.state == ContainerState::kReserved) return Unreserve(container.attempt, container.node, false);
  if (container.live) CompleteLive(slot, ending);
  if (nodes_[container.node].alive) nodes_.TakeOff(slot, false, containers_);
  UpdateAvailable();
  if (containers_.TakenBy(slot) != nullptr && !attempts_[current].stopped) GiveBack(current, slot);
  FreeIfGone(slot);
}

/// FSAppAttempt.containerCompleted.
void Core::CompleteLive(ContainerSlot slot, const Ending& ending) {
  const Container& container = containers_[slot];
  const bool acquired = container.state != ContainerState::kAllocated;
  const bool announced = Announce(container, ending);
  Emit(ms::Finished{container.app, container.id, container.node, ending.exit_status, acquired, ending.diagnostics,
                    !announced});
  if (announced) containers_.SetState(slot, ContainerState::kEnded);
  Attempt& attempt = attempts_[container.attempt];
  if (container.marked) {
    containers_.SetMarked(slot, false);
    attempt.to_be_preempted -= container.resources;
  }
  containers_.Leave(slot, attempt.live);
  attempt.numbers.Forget(container.id.value, slot);
  allocated_ -= container.resources;
  Charge(container.attempt, container.resources, -1);
}

/// Whether RMContainerImpl's state machine knows this end in this state (else: "Invalid event", nobody is told).
bool Core::Announce(const Container& container, const Ending& ending) {
  switch (container.state) {
    case ContainerState::kAllocated:
      return ending.how == End::kKilled || ending.how == End::kExpired;
    case ContainerState::kAcquired:
      return true;
    case ContainerState::kRunning:
      return ending.how != End::kExpired;
    default:
      return false;
  }
}

/// AbstractYarnScheduler.recoverResourceRequestForContainer: a grant that nobody picked up is asked for again.
void Core::GiveBack(AttemptId id, ContainerSlot slot) {
  const Taken& taken = *containers_.TakenBy(slot);
  std::vector<Asks::Line> lines;
  for (uint32_t i = 0; i < taken.size; ++i) {
    const hadoop::TakenRequest& line = taken.lines[i];
    lines.push_back({line.name, containers_[slot].key, {1, line.relax, line.capability}});
  }
  UpdateAsks(id, std::move(lines), true);
}

/// AbstractYarnScheduler.releaseContainers.
void Core::ReleaseAsked(AttemptId id, const std::vector<model::ContainerId>& releases) {
  for (const model::ContainerId& container : releases) {
    const ContainerSlot slot = FindLive(container);
    if (!slot.valid() || containers_[slot].attempt != id) continue;
    Complete(slot, {End::kReleased, model::kExitAborted, "Container released by application"});
  }
}

void Core::Apply(const ms::ContainerEnded& event) {
  const ContainerSlot slot = FindLive(event.container);
  if (!slot.valid()) return;
  const bool picked_up = containers_[slot].state == ContainerState::kRunning;
  Complete(slot,
           {picked_up ? End::kKilled : End::kExpired, event.exit_status, "Container ended by the resource manager"});
}

/// AbstractYarnScheduler.nodeUpdate: launches, then completions.
void Core::NodeReport(NodeIndex node, const ms::NodeUpdated& event) {
  const auto find_here = [&](const model::ContainerId& id) { return containers_.FindOn(nodes_[node].containers, id); };
  for (const model::ContainerId& id : event.launched) {
    if (!apps_.Current(apps_.Find(id.attempt.app)).valid()) continue;
    ContainerSlot slot = FindLive(id);
    if (slot.valid() && containers_[slot].state == ContainerState::kAcquired) {
      containers_.SetState(slot, ContainerState::kRunning);
    }
    if (!slot.valid() || containers_[slot].node != node) slot = find_here(id);
    if (slot.valid()) containers_.SetLaunched(slot);
  }
  for (const ms::Completion& completion : event.completed) {
    ContainerSlot slot = FindLive(completion.container);
    bool here = true;
    if (slot.valid()) {
      here = containers_[slot].node == node && containers_[slot].launched_on_node;
      Complete(slot, {End::kFinished, completion.exit_status, ""});
    } else {
      slot = find_here(completion.container);
    }
    if (!here || !slot.valid()) continue;
    nodes_.TakeOff(slot, true, containers_);
    FreeIfGone(slot);
  }
}

/// AbstractYarnScheduler.recoverContainersOnNode, FSAppAttempt.recoverContainer.
void Core::Apply(const ms::ContainerRecovered& event) {
  const AttemptId id = apps_.Current(event.app);
  if (!id.valid() || attempts_[id].stopped || !nodes_.Alive(event.node) || FindLive(event.container).valid() ||
      event.resources.AnyNegative()) {
    return;
  }
  Attempt& attempt = attempts_[id];
  model::ContainerId number = event.container;
  number.attempt.app = apps_[event.app].id;
  const ContainerSlot slot = containers_.Add(id, event.app, number, event.node, {event.priority, -1}, event.resources);
  containers_.SetState(slot, ContainerState::kRunning);
  if (event.is_master) containers_.SetMaster(slot);
  attempt.numbers.AddKnown(number.value, slot);
  if (number.attempt.attempt == attempt.number) attempt.numbers.Skip(number.value);
  containers_.Join(slot, attempt.live);
  nodes_.Put(slot, true, containers_);
  allocated_ += event.resources;
  Charge(id, event.resources, 1);
  if (attempt.master.Starts()) {
    attempt.master.Start(event.resources);
    attempt.master.SetKnown();
    queues_[attempt.queue].am_used += event.resources;
  }
  UpdateAvailable();
}

}  // namespace fairlead::scheduler::yarn_fair
