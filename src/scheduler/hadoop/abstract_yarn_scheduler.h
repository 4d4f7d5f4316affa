#pragma once

#include <utility>
#include <vector>

#include "model/scheduler.h"
#include "scheduler/hadoop/asks.h"
#include "scheduler/hadoop/containers.h"
#include "scheduler/hadoop/ids.h"

// What Hadoop's schedulers inherit from AbstractYarnScheduler, over the books of either. Complete (a container ends)
// and UpdateAsks differ; they are those of the books' own namespace.

namespace fairlead::scheduler::hadoop {

/// AbstractYarnScheduler.getRMContainer: a live container of the application's current attempt. O(1).
template <class Books>
ContainerSlot FindLive(const Books& books, const model::ContainerId& id) {
  const AttemptId current = books.apps.Current(books.apps.Find(id.attempt.app));
  if (!current.valid()) return {};
  const auto& attempt = books.attempts[current];
  const ContainerSlot slot = attempt.numbers.Find(id.value, id.attempt.attempt == attempt.number);
  const bool found =
      slot.valid() && books.containers[slot].live && books.containers[slot].id.attempt.attempt == id.attempt.attempt;
  return found ? slot : ContainerSlot{};
}

/// The master was told of its grants, which cannot be given back any more (RMContainerImpl.AcquiredTransition).
template <class Books>
void PickUp(Books& books, const model::scheduler::Acquired& event) {
  if (!books.apps.Alive(event.app)) return;
  for (const model::ContainerId& id : event.containers) {
    const ContainerSlot slot = FindLive(books, id);
    if (!slot.valid() || books.containers[slot].state != ContainerState::kAllocated) continue;
    books.containers.SetState(slot, ContainerState::kAcquired);
    books.containers.DropTaken(slot, books.names);
  }
}

/// releaseContainers.
template <class Books>
void ReleaseAsked(Books& books, AttemptId id, const std::vector<model::ContainerId>& releases) {
  for (const model::ContainerId& container : releases) {
    const ContainerSlot slot = FindLive(books, container);
    if (!slot.valid() || books.containers[slot].attempt != id) continue;
    Complete(books, slot, {End::kReleased, model::kExitAborted, "Container released by application"});
  }
}

/// The resource manager itself ended it.
template <class Books>
void EndByManager(Books& books, const model::scheduler::ContainerEnded& event) {
  const ContainerSlot slot = FindLive(books, event.container);
  if (!slot.valid()) return;
  const bool picked_up = books.containers[slot].state == ContainerState::kRunning;
  Complete(books, slot,
           {picked_up ? End::kKilled : End::kExpired, event.exit_status, "Container ended by the resource manager"});
}

/// containerLaunchedOnNode: what a node's report says that began there.
template <class Books>
void NoteLaunched(Books& books, NodeIndex node, const std::vector<model::ContainerId>& launched) {
  for (const model::ContainerId& id : launched) {
    if (!books.apps.Current(books.apps.Find(id.attempt.app)).valid()) continue;
    ContainerSlot slot = FindLive(books, id);
    if (slot.valid() && books.containers[slot].state == ContainerState::kAcquired) {
      books.containers.SetState(slot, ContainerState::kRunning);
    }
    if (!slot.valid() || books.containers[slot].node != node) {
      slot = books.containers.FindOn(books.nodes[node].containers, id);
    }
    if (slot.valid()) books.containers.SetLaunched(slot);
  }
}

/// recoverResourceRequestForContainer: a grant that nobody picked up is asked for again.
template <class Books>
void GiveBack(Books& books, AttemptId id, ContainerSlot slot) {
  const Taken& taken = *books.containers.TakenBy(slot);
  std::vector<Asks::Line> lines;
  for (uint32_t i = 0; i < taken.size; ++i) {
    const TakenRequest& line = taken.lines[i];
    lines.push_back({line.name, books.containers[slot].key, {1, line.relax, line.capability, line.partition}});
  }
  UpdateAsks(books, id, std::move(lines), true);
}

/// How many containers the application waits for. O(keys of its asks).
template <class Books>
int64_t PendingContainers(const Books& books, AppIndex app) {
  const AttemptId id = books.apps.Current(app);
  if (!id.valid() || books.attempts[id].stopped) return 0;
  const Asks& asks = books.attempts[id].asks;
  int64_t count = 0;
  for (const Asks::ActiveKey& key : asks.active()) count += asks.of(key).AnyCount();
  return count;
}

}  // namespace fairlead::scheduler::hadoop
