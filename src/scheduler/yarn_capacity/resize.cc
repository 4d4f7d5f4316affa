#include "scheduler/yarn_capacity/resize.h"

#include <utility>
#include <vector>

#include "scheduler/yarn_capacity/asks.h"
#include "scheduler/yarn_capacity/containers.h"

namespace fairlead::scheduler::yarn_capacity {

namespace ms = model::scheduler;
using model::Refusal;

namespace {

/// SchedulerRequestKey.create.
RequestKey GrowthKey(const Container& container) {
  return {container.key.priority, container.key.id, container.id.attempt.attempt, container.id.value};
}

/// ContainerUpdateContext.createResourceRequests; 0: what was asked for is taken back.
void AskForGrowth(Books& books, ContainerSlot slot, const Resources& more, int32_t count) {
  const Container& container = books.containers[slot];
  const Node& node = books.nodes[container.node];
  const PartitionId label = AskedLabel(books, container);
  std::vector<hadoop::Asks::Line> lines;
  for (const NameId name : {node.host, node.rack, Names::kAny}) {
    lines.push_back({name, GrowthKey(container), {count, false, more, label}});
  }
  UpdateAsks(books, container.attempt, std::move(lines), false);
}

/// Lazy preemption counts what it may take by the container's size.
void NoteKillable(Books& books, ContainerSlot slot) {
  const Container& container = books.containers[slot];
  if (!books.killable.OnNode(container.node, container.id)) return;
  const std::string& leaf = books.queues[books.attempts[container.attempt].queue].path;
  const PartitionId partition = books.partitions.OfNode(container.node);
  books.killable.RemoveFromNode(container.node, container.id);
  books.killable.RemoveFromQueue(leaf, partition, container.id);
  books.killable.AddToNode(container.node, container.id, {slot, container.resources});
  books.killable.AddToQueue(leaf, partition, container.id, {slot, container.resources});
}

}  // namespace

ContainerSlot GrowingContainer(const Books& books, const Attempt& attempt, const RequestKey& key) {
  if (!key.IsGrowth()) return {};
  return FindLive(books, {{books.apps[attempt.app].id, key.grows_attempt}, key.grows});
}

void Grow(Books& books, ContainerSlot slot, const Resources& more) {
  const Container& container = books.containers[slot];
  const AttemptId id = container.attempt;
  const QueueId leaf = books.attempts[id].queue;
  const PartitionId partition = books.partitions.OfNode(container.node);
  books.nodes.ResizeContainer(slot, container.resources + more, books.containers);
  NoteKillable(books, slot);
  books.attempts[id].usage.AddUsed(partition, more);
  books.queues[leaf].own.active.Touch(id, false);
  Charge(books, leaf, slot, more, partition, 1);
  ChargeAbove(books, leaf, more, partition, 1);
}

void EndGrowth(Books& books, ContainerSlot slot) {
  const Container& container = books.containers[slot];
  const Attempt& attempt = books.attempts[container.attempt];
  // Such asks come last.
  if (attempt.asks.active().empty() || !attempt.asks.active().back().key.IsGrowth()) return;
  const RequestKey key = GrowthKey(container);
  if (attempt.asks.Find(key) == nullptr) return;
  const ContainerSlot reserved = books.nodes[container.node].reserved;
  if (reserved.valid() && books.containers[reserved].attempt == container.attempt &&
      books.containers[reserved].key == key) {
    DropReservation(books, reserved);
  }
  AskForGrowth(books, slot, {}, 0);
}

void Apply(Books& books, const ms::ContainerResized& event) {
  const ContainerSlot slot = FindLive(books, event.container);
  const auto refuse = [&](Refusal why) { books.Emit(ms::CallRefused{event.token, {why, {}, {event.resources}, {}}}); };
  if (!slot.valid() || !books.containers[slot].on_node) return refuse(Refusal::kUpdateUnknownContainer);
  if (event.resources.AnyNegative() || event.resources.IsZero()) return refuse(Refusal::kResizeSize);
  const Resources& held = books.containers[slot].resources;
  const Resources grown = hadoop::ComponentwiseMax(event.resources, held) - held;
  EndGrowth(books, slot);
  // What the calculator does not count needs no room.
  if (!books.calc.Greater(books.cluster(), grown, {})) {
    Grow(books, slot, event.resources - held);
    return books.Emit(ms::ResizeAnswered{event.token});
  }
  AskForGrowth(books, slot, grown, 1);
  refuse(Refusal::kUpdateOutstanding);
}

}  // namespace fairlead::scheduler::yarn_capacity
