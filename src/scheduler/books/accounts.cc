#include "model/taken_back.h"
#include "scheduler/books/core.h"

// Containers begin and end, room is reserved: who uses what, on which node, until when.

namespace fairlead::scheduler::native {

ContainerSlot Core::AddContainer(AppSlot slot, NodeIndex node, const model::ContainerId& id, ShapeId shape) {
  const ContainerSlot container =
      books_.containers.Add(id, slot, books_.apps.chain(slot), node, books_.nodes.chain(node), shape, books_.now);
  books_.shapes.Use(shape);
  UseMore(slot, books_.shapes[shape].size);
  books_.nodes.AddUse(node, books_.shapes[shape].size);
  return container;
}

/// The application's containers use `size` more, or less, and so do those of its user and groups.
void Core::UseMore(AppSlot slot, const Resources& size) {
  books_.apps.AddUse(slot, size);
  if (!books_.users.counts_use()) return;
  ForHolders(books_.apps[slot], [&](UserId holder) { books_.users.AddUse(holder, size); });
}

void Core::RecordMaster(AppSlot slot, ContainerSlot container) {
  books_.containers.SetMaster(container);
  books_.apps.GotMaster(slot);
  const Resources& size = books_.shapes[books_.containers[container].shape].size;
  books_.apps.AddMasterUse(slot, size);
  ChangeMasters(books_.apps[slot].leaf, size, 1);
}

void Core::AddDemand(QueueId leaf, const Resources& size) {
  books_.queues.AddDemand(leaf, size);
  policy_->DemandChanged(books_, leaf);
}

void Core::Grant(AppSlot slot, Ask& ask, const Spot& spot, const model::ContainerId* reserved) {
  const App& app = books_.apps[slot];
  const Resources size = books_.shapes[ask.shape].size;
  const model::ContainerId id = reserved ? *reserved : books_.apps.NextId(slot, books_.config.epoch);
  const ContainerSlot container = AddContainer(slot, spot.node, id, ask.shape);
  books_.containers.SetAsk(container, ask.priority, ask.request_id, spot.locality);
  policy_->Publish(books_, spot.node);
  if (spot.locality == Locality::kOffSwitch && !books_.shapes[ask.shape].exact) {
    books_.nodes.MoveCursor(books_.shapes[ask.shape].label, spot.node);
  }
  const bool master = app.needs_master;
  Emit(ev::Granted{app.index, id, spot.node, ask.priority, ask.request_id, size, spot.locality, reserved != nullptr,
                   master});
  CountGrant(slot, ask, spot);
  if (master) RecordMaster(slot, container);
  policy_->ContainerStarted(books_, container);
  if (ask.count == 0 || master) {
    AsksChanged(slot);
  } else {
    policy_->AppChanged(books_, slot);
  }
  books_.queues.AddUsage(app.leaf, size);
  policy_->UsageChanged(books_, app.leaf, false);
}

void Core::Finish(ContainerSlot slot, int32_t exit_status, std::string diagnostics) {
  const Container& container = books_.containers[slot];
  const AppSlot app_slot = container.app;
  const App& app = books_.apps[app_slot];
  const Resources& size = books_.shapes[container.shape].size;
  const Resources less = -size;
  Emit(
      ev::Finished{app.index, container.id(), container.node, exit_status, container.acquired, std::move(diagnostics)});
  policy_->ContainerEnds(books_, slot, exit_status);
  books_.containers.LeaveApp(slot, books_.apps.chain(app_slot));
  UseMore(app_slot, less);
  if (container.is_master) {
    books_.apps.AddMasterUse(app_slot, less);
    ChangeMasters(app.leaf, less, -1);
  }
  policy_->AppChanged(books_, app_slot);
  books_.queues.AddUsage(app.leaf, less);
  policy_->UsageChanged(books_, app.leaf, true);
  AddDemand(app.leaf, less);
  books_.gangs.NoteRoom();
  const bool unheard_of = !container.acquired && !container.is_master;
  if (unheard_of && app.active && books_.config.ask_again) AskAgain(app_slot, container);
  // What was launched keeps its place on the node until the node reports its end: it may still be dying.
  if (!container.launched) LeaveNode(slot);
}

/// The node's part of a container is over.
void Core::LeaveNode(ContainerSlot slot) {
  policy_->ContainerLeaves(books_, slot);
  const NodeIndex node = books_.containers[slot].node;
  const ShapeId shape = books_.containers[slot].shape;
  books_.nodes.AddUse(node, -books_.shapes[shape].size);
  books_.containers.Remove(slot, books_.nodes.chain(node));
  books_.shapes.Drop(shape);
  books_.nodes.Changed(node, true);
}

ReservationId Core::Reserve(AppSlot slot, Ask& ask, NodeIndex node, base::Duration duration) {
  Reservation made;
  made.node = node;
  made.app = slot;
  made.ask = ask.serial;
  made.serial = books_.next_serial++;
  made.size = books_.shapes[ask.shape].size;
  made.id = books_.apps.NextId(slot, books_.config.epoch);
  const ReservationId id = books_.reservations.Add(books_.nodes, made);
  ++ask.reserved;
  policy_->Publish(books_, node);
  books_.timers.Push({books_.now + duration, TimerKind::kReservationEnds, id.value, made.serial});
  Emit(ev::Reserved{books_.apps[slot].index, node, made.id, made.size});
  return id;
}

void Core::Unreserve(ReservationId id) {
  const Reservation& one = books_.reservations[id];
  Emit(ev::Unreserved{books_.apps[one.app].index, one.node, one.id});
  if (Ask* ask = books_.apps.FindAsk(one.app, one.ask)) {
    --ask->reserved;
    books_.shapes.Postpone(ask->shape, books_.now);  // others come first before it gets the next one
  }
  // What was to be taken for it stays.
  for (const model::ContainerId& victim : one.victims) {
    const ContainerSlot container = books_.containers.Find(victim);
    if (container.valid()) books_.containers.SetTakenBack(container, Instant{});
  }
  books_.reservations.Remove(books_.nodes, id);
}

void Core::TakeVictims(ReservationId id) {
  for (const model::ContainerId& victim : books_.reservations.TakeVictims(id)) {
    const ContainerSlot container = books_.containers.Find(victim);
    if (!container.valid() || !books_.containers[container].app.valid() || !books_.containers[container].chosen()) {
      continue;
    }
    Finish(container, model::kExitPreempted, model::DiagnosticsOf(model::TakenBackFor::kQueue));
  }
}

}  // namespace fairlead::scheduler::native
