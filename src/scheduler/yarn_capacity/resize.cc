#include "scheduler/yarn_capacity/resize.h"

#include <algorithm>

#include "scheduler/yarn_capacity/activation.h"
#include "scheduler/yarn_capacity/containers.h"

namespace fairlead::scheduler::yarn_capacity {

namespace ms = model::scheduler;
using model::Refusal;

namespace {

bool NodeHasRoom(const Books& books, const Node& node, const Resources& more) {
  return node.schedulable && books.calc.FitsIn(more, node.unallocated);
}

/// A queue, leaf first, whose maximum does not hold `more`; not valid: none.
QueueId FullQueue(const Books& books, QueueId leaf, PartitionId partition, const Resources& more) {
  for (QueueId at = leaf; at.valid(); at = books.queues[at].parent) {
    const Queue& queue = books.queues[at];
    if (!books.calc.FitsIn(queue.usage.used(partition) + more, queue.shares[partition].effective_max)) return at;
  }
  return {};
}

model::Refused CheckLarger(Books& books, const Container& container, const Resources& more, const Resources& size) {
  const Attempt& attempt = books.attempts[container.attempt];
  const PartitionId partition = books.partitions.OfNode(container.node);
  if (!NodeHasRoom(books, books.nodes[container.node], more)) return {Refusal::kResizeNodeFull, {}, {size}, {}};
  if (const QueueId full = FullQueue(books, attempt.queue, partition, more); full.valid()) {
    return {Refusal::kResizeQueueMaximum, {books.queues[full].path}, {}, {}};
  }
  const Resources limit = UserLimit(books, container.attempt, partition, Mode::kRespect, nullptr);
  const User* user = books.queues[attempt.queue].own.users.Find(attempt.user);
  if (user == nullptr || books.calc.Greater(books.cluster(), user->usage.used(partition), limit)) {
    return {Refusal::kResizeUserMaximum, {attempt.user}, {}, {}};
  }
  return {};
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

void Apply(Books& books, const ms::ContainerResized& event) {
  const ContainerSlot slot = FindLive(books, event.container);
  const auto refuse = [&](model::Refused why) { books.Emit(ms::CallRefused{event.token, std::move(why)}); };
  if (!slot.valid() || !books.containers[slot].on_node) return refuse({Refusal::kUpdateUnknownContainer, {}, {}, {}});
  if (event.resources.AnyNegative() || event.resources.IsZero()) {
    return refuse({Refusal::kResizeSize, {}, {event.resources}, {}});
  }
  const Container& container = books.containers[slot];
  const Resources more = event.resources - container.resources;
  Resources grown;
  for (size_t type = 0; type < Resources::kMaxTypes; ++type) grown[type] = std::max<int64_t>(more[type], 0);
  if (!grown.IsZero()) {
    if (model::Refused refused = CheckLarger(books, container, grown, event.resources)) {
      return refuse(std::move(refused));
    }
  }
  const AttemptId id = container.attempt;
  const QueueId leaf = books.attempts[id].queue;
  const PartitionId partition = books.partitions.OfNode(container.node);
  books.nodes.ResizeContainer(slot, event.resources, books.containers);
  NoteKillable(books, slot);
  books.attempts[id].usage.AddUsed(partition, more);
  books.queues[leaf].own.active.Touch(id, false);
  Charge(books, leaf, slot, more, partition, 1);
  ChargeAbove(books, leaf, more, partition, 1);
  books.Emit(ms::ResizeAnswered{event.token});
}

}  // namespace fairlead::scheduler::yarn_capacity
