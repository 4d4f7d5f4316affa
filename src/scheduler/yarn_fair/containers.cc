#include "scheduler/yarn_fair/containers.h"

#include <algorithm>

#include "scheduler/yarn_fair/allocate.h"
#include "scheduler/yarn_fair/applications.h"
#include "scheduler/yarn_fair/ordering.h"
#include "scheduler/yarn_fair/reserve.h"

// Containers from grant to end: FSAppAttempt.containerCompleted, AbstractYarnScheduler's reports and recovery.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;

static void CompleteLive(Books& books, ContainerSlot slot, const Ending& ending);

ContainerSlot CreateContainer(Books& books, AttemptId id, NodeIndex node, const Resources& size,
                              const RequestKey& key) {
  Attempt& attempt = books.attempts[id];
  const model::ContainerId number{{books.apps[attempt.app].id, attempt.number}, attempt.numbers.Next()};
  const ContainerSlot slot = books.containers.Add(id, attempt.app, number, node, key, size);
  attempt.numbers.Add(slot);
  return slot;
}

void FreeIfGone(Books& books, ContainerSlot slot) {
  const AttemptId attempt = books.containers[slot].attempt;
  if (books.containers.RemoveIfGone(slot, books.names)) FreeIfUnpinned(books, attempt);
}

void Complete(Books& books, ContainerSlot slot, const Ending& ending) {
  const Container& container = books.containers[slot];
  const AttemptId current = books.apps.Current(container.app);
  if (!current.valid()) return;
  if (container.state == ContainerState::kReserved) return Unreserve(books, container.attempt, container.node, false);
  if (container.live) CompleteLive(books, slot, ending);
  if (books.nodes[container.node].alive) books.nodes.TakeOff(slot, false, books.containers);
  books.UpdateAvailable();
  if (books.containers.TakenBy(slot) != nullptr && !books.attempts[current].stopped)
    hadoop::GiveBack(books, current, slot);
  FreeIfGone(books, slot);
}

/// FSAppAttempt.containerCompleted.
void CompleteLive(Books& books, ContainerSlot slot, const Ending& ending) {
  const Container& container = books.containers[slot];
  const bool acquired = container.state != ContainerState::kAllocated;
  const bool announced = hadoop::Announces(container.state, ending.how);
  books.Emit(ms::Finished{container.app, container.id, container.node, ending.exit_status, acquired, ending.diagnostics,
                          !announced});
  if (announced) books.containers.SetState(slot, ContainerState::kEnded);
  Attempt& attempt = books.attempts[container.attempt];
  if (container.marked) {
    books.containers.SetMarked(slot, false);
    attempt.to_be_preempted -= container.resources;
  }
  books.containers.Leave(slot, attempt.live);
  attempt.numbers.Forget(container.id.value, slot);
  books.totals.allocated -= container.resources;
  Charge(books, container.attempt, container.resources, -1);
}

void NodeReport(Books& books, NodeIndex node, const ms::NodeUpdated& event) {
  hadoop::NoteLaunched(books, node, event.launched);
  for (const ms::Completion& completion : event.completed) {
    ContainerSlot slot = FindLive(books, completion.container);
    bool here = true;
    if (slot.valid()) {
      here = books.containers[slot].node == node && books.containers[slot].launched_on_node;
      Complete(books, slot, {End::kFinished, completion.exit_status, ""});
    } else {
      slot = books.containers.FindOn(books.nodes[node].containers, completion.container);
    }
    if (!here || !slot.valid()) continue;
    books.nodes.TakeOff(slot, true, books.containers);
    FreeIfGone(books, slot);
  }
}

void Apply(Books& books, const ms::ContainerRecovered& event) {
  const AttemptId id = books.apps.Current(event.app);
  if (!id.valid() || books.attempts[id].stopped || !books.nodes.Alive(event.node) ||
      FindLive(books, event.container).valid() || event.resources.AnyNegative()) {
    return;
  }
  Attempt& attempt = books.attempts[id];
  model::ContainerId number = event.container;
  number.attempt.app = books.apps[event.app].id;
  const ContainerSlot slot =
      books.containers.Add(id, event.app, number, event.node, {event.priority, -1}, event.resources);
  books.containers.SetState(slot, ContainerState::kRunning);
  if (event.is_master) books.containers.SetMaster(slot);
  attempt.numbers.AddKnown(number.value, slot);
  if (number.attempt.attempt == attempt.number) attempt.numbers.Skip(number.value);
  books.containers.Join(slot, attempt.live);
  books.nodes.Put(slot, true, books.containers);
  books.totals.allocated += event.resources;
  Charge(books, id, event.resources, 1);
  if (attempt.master.Starts()) {
    attempt.master.Start(event.resources);
    attempt.master.SetKnown();
    books.queues[attempt.queue].am_used += event.resources;
  }
  books.UpdateAvailable();
}

}  // namespace fairlead::scheduler::yarn_fair
