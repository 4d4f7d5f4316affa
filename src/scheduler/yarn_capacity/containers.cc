#include "scheduler/yarn_capacity/containers.h"

#include <algorithm>

#include "base/check.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/applications.h"
#include "scheduler/yarn_capacity/asks.h"
#include "scheduler/yarn_capacity/resize.h"
#include "scheduler/yarn_capacity/setup.h"

namespace fairlead::scheduler::yarn_capacity {

namespace ms = model::scheduler;
using hadoop::End;
using hadoop::Ending;

void FreeIfGone(Books& books, ContainerSlot slot) {
  const AttemptId attempt = books.containers[slot].attempt;
  if (!books.containers.RemoveIfGone(slot, books.names)) return;
  --books.attempts[attempt].held;
  FreeIfGone(books, attempt);
}

std::vector<ContainerSlot> LiveInOrder(const Books& books, AttemptId id) {
  const Attempt& attempt = books.attempts[id];
  const std::vector<ContainerSlot> slots = books.containers.OfAttempt(attempt.live);
  std::vector<int32_t> hashes;
  for (const ContainerSlot slot : slots) hashes.push_back(books.containers[slot].JavaHash());
  uint32_t capacity = 16;  // of a ConcurrentHashMap
  while (attempt.most_live >= capacity / 4 * 3) capacity *= 2;
  std::vector<ContainerSlot> order;
  for (const uint32_t i : hadoop::java::HashOrder(hashes, capacity)) order.push_back(slots[i]);
  return order;
}

std::vector<NodeIndex> ReservedNodes(const Books& books, const KeyCounts& counts) {
  std::vector<int32_t> hashes;
  for (const NodeIndex node : counts.reserved_on) hashes.push_back(books.nodes[node].java_hash);
  std::vector<NodeIndex> order;
  for (const uint32_t i : hadoop::java::HashOrder(hashes, hadoop::java::HashCapacity(counts.most_reserved))) {
    order.push_back(counts.reserved_on[i]);
  }
  return order;
}

std::vector<ContainerSlot> ReservedInOrder(const Books& books, AttemptId id) {
  std::vector<const KeyCounts*> all;
  std::vector<int32_t> hashes;
  for (const auto& [key, counts] : books.attempts[id].counts) {
    if (counts.reserved_on.empty()) continue;
    all.push_back(&counts);
    hashes.push_back(key.JavaHash());
  }
  std::vector<ContainerSlot> order;
  for (const uint32_t i : hadoop::java::HashOrder(hashes, hadoop::java::HashCapacity(all.size()))) {
    for (const NodeIndex node : ReservedNodes(books, *all[i])) order.push_back(books.nodes[node].reserved);
  }
  return order;
}

/// What a leaf's users metrics compute on the way (only with user-metrics.enable).
static void ComputeUserMetrics(Books& books, Queue& leaf, const std::string& user, PartitionId partition) {
  if (!books.file.user_metrics) return;
  leaf.own.users.LimitForActive(user, partition, Mode::kRespect, books.BasisOf(leaf));
}

/// AbstractLeafQueue.allocateResource, releaseResource.
void Charge(Books& books, QueueId leaf_id, ContainerSlot slot, const Resources& size, PartitionId partition, int sign) {
  Queue& leaf = books.queues[leaf_id];
  const Resources by = sign > 0 ? size : -size;
  leaf.usage.AddUsed(partition, by);
  UpdateUsedShare(books, leaf, partition);
  books.orders.Touch(leaf.parent, leaf_id, partition);
  const Container& container = books.containers[slot];
  if (sign > 0 && partition != kNoLabel && AskedLabel(books, container) == kNoLabel) {
    leaf.own.borrowing[partition].insert({container.id, slot});
  } else if (sign < 0) {
    // Also of a partition that the node has left since.
    for (auto& [shared, containers] : leaf.own.borrowing) containers.erase({container.id, slot});
    std::erase_if(leaf.own.borrowing, [](const auto& entry) { return entry.second.empty(); });
  }
  const std::string& user = books.attempts[container.attempt].user;
  leaf.own.users.AddUsed(user, by, partition, books.partitions.Of(partition), books.calc);
  ComputeUserMetrics(books, leaf, user, partition);
}

/// AbstractParentQueue.killContainersToEnforceMaxQueueCapacity.
static void KillAboveMaximum(Books& books, const std::string& path, QueueId id, PartitionId partition) {
  if (books.killable.empty()) return;
  const Killable::ById* killable = books.killable.OfQueue(path, partition);
  if (killable == nullptr) return;
  const Killable::ById victims = *killable;
  const Resources& total = books.partitions.Of(partition);
  for (const auto& [container, one] : victims) {
    const Queue& queue = books.queues[id];
    if (!books.calc.Greater(total, queue.usage.used(partition), queue.shares[partition].effective_max)) return;
    const ContainerSlot slot = FindLive(books, container);
    if (slot.valid()) {
      Complete(books, slot, {End::kKilled, model::kExitPreempted, "Container preempted by scheduler"});
    }
  }
}

void ChargeAbove(Books& books, QueueId leaf, const Resources& size, PartitionId partition, int sign) {
  for (QueueId id = books.queues[leaf].parent; id.valid(); id = books.queues[id].parent) {
    Queue& queue = books.queues[id];
    queue.usage.AddUsed(partition, sign > 0 ? size : -size);
    UpdateUsedShare(books, queue, partition);
    books.orders.Touch(queue.parent, id, partition);
    if (sign < 0) continue;
    const Share& share = queue.shares[partition];
    const bool over = share.effective_max.IsZero()
                          ? share.absolute_maximum < share.absolute_used
                          : books.calc.Less(books.cluster(), share.effective_max, queue.usage.used(partition));
    if (over) KillAboveMaximum(books, queue.path, id, partition);
  }
}

void MoveCharge(Books& books, ContainerSlot slot, QueueId source, QueueId target) {
  const Container& container = books.containers[slot];
  if (!books.nodes.Alive(container.node)) return;
  const PartitionId partition = books.partitions.OfNode(container.node);
  const Resources size = container.resources;
  Charge(books, source, slot, size, partition, -1);
  ChargeAbove(books, source, size, partition, -1);
  Charge(books, target, slot, size, partition, 1);
  ChargeAbove(books, target, size, partition, 1);
}

void Unreserve(Books& books, ContainerSlot slot) {
  const Container& container = books.containers[slot];
  Attempt& attempt = books.attempts[container.attempt];
  KeyCounts& counts = attempt.counts[container.key];
  const PartitionId partition = books.partitions.OfNode(container.node);
  std::erase(counts.reserved_on, container.node);
  if (counts.reserved_on.empty()) counts.most_reserved = 0;
  counts.re_reservations = 0;
  attempt.usage.AddReserved(partition, -container.resources);
  books.nodes.SetReserved(container.node, {});
  books.rounds.moved.erase(container.id);
  if (partition == kNoLabel) {
    books.queues.ForEachUp(attempt.queue, [&](Queue& queue) { queue.metrics_reserved -= container.resources; });
  }
  books.queues.ForEachUp(attempt.queue,
                         [&](Queue& queue) { queue.usage.AddReserved(partition, -container.resources); });
  books.Emit(ms::Unreserved{container.app, container.node, container.id});
}

bool MoveReservation(Books& books, ContainerSlot slot, NodeIndex to) {
  const Container& container = books.containers[slot];
  const NodeIndex from = container.node;
  if (books.nodes[to].reserved.valid() || books.partitions.OfNode(from) != books.partitions.OfNode(to) ||
      !books.rounds.moved.insert(container.id).second) {
    return false;
  }
  KeyCounts& counts = books.attempts[container.attempt].counts[container.key];
  std::erase(counts.reserved_on, from);
  counts.reserved_on.push_back(to);
  books.nodes.SetReserved(from, {});
  books.nodes.SetReserved(to, slot);
  books.containers.SetNode(slot, to);
  books.Emit(ms::Unreserved{container.app, from, container.id});
  books.Emit(ms::Reserved{container.app, to, container.id, container.resources, container.key.priority});
  return true;
}

/// AbstractLeafQueue.updateSchedulerHealthForCompletedContainer.
static void NoteEnd(Books& books, const Container& container, int32_t exit_status) {
  const bool preempted = exit_status == model::kExitPreempted;
  Note(books, container.node, books.attempts[container.attempt].queue, container.id,
       preempted ? books.health.preemption : books.health.release);
}

void DropReservation(Books& books, ContainerSlot slot) {
  const Container& container = books.containers[slot];
  const QueueId leaf = books.attempts[container.attempt].queue;
  const PartitionId partition = books.partitions.OfNode(container.node);
  const Resources size = container.resources;
  const AttemptId attempt = container.attempt;
  NoteEnd(books, container, model::kExitAborted);
  Unreserve(books, slot);
  books.queues[leaf].own.active.Touch(attempt, false);
  Charge(books, leaf, slot, size, partition, -1);
  ChargeAbove(books, leaf, size, partition, -1);
  books.asked_labels.erase(container.id);
  books.named_ambiguously.erase(container.id);
  books.attempts[attempt].numbers.Forget(container.id.value, slot);
  books.containers.SetState(slot, ContainerState::kEnded);
  FreeIfGone(books, slot);
}

/// FiCaSchedulerApp.containerCompleted.
static void CompleteLive(Books& books, ContainerSlot slot, const Ending& ending) {
  const Container& container = books.containers[slot];
  Attempt& attempt = books.attempts[container.attempt];
  const PartitionId partition = books.partitions.OfNode(container.node);
  const bool announced = hadoop::Announces(container.state, ending.how);
  books.Emit(ms::Finished{container.app, container.id, container.node, ending.exit_status,
                          container.state != ContainerState::kAllocated, ending.diagnostics, !announced});
  if (announced) books.containers.SetState(slot, ContainerState::kEnded);
  std::erase(attempt.to_preempt, container.id);
  books.containers.Leave(slot, attempt.live);
  attempt.numbers.Forget(container.id.value, slot);
  attempt.usage.AddUsed(partition, -container.resources);
}

/// Node and queues of a live container that ended.
static void ReturnRoom(Books& books, ContainerSlot slot, PartitionId partition) {
  const Container& container = books.containers[slot];
  const QueueId leaf = books.attempts[container.attempt].queue;
  const bool on_node = container.on_node;
  books.nodes.TakeOff(slot, false, books.containers);
  if (on_node && !container.on_node) books.killable.RemoveFromNode(container.node, container.id);
  books.queues[leaf].own.active.Touch(container.attempt, false);
  Charge(books, leaf, slot, container.resources, partition, -1);
  ChargeAbove(books, leaf, container.resources, partition, -1);
  books.asked_labels.erase(container.id);
  books.named_ambiguously.erase(container.id);
}

void Complete(Books& books, ContainerSlot slot, const Ending& ending) {
  const AttemptId current = books.apps.Current(books.containers[slot].app);
  if (!current.valid()) return;
  const bool reserved = books.containers[slot].state == ContainerState::kReserved;
  if (books.containers[slot].live && !reserved && books.nodes.Alive(books.containers[slot].node)) {
    NoteEnd(books, books.containers[slot], ending.exit_status);
  }
  const NodeIndex node = books.containers[slot].node;
  const model::ContainerId id = books.containers[slot].id;
  const PartitionId partition = books.partitions.OfNode(node);
  const std::string leaf = books.queues[books.attempts[books.containers[slot].attempt].queue].path;
  if (books.containers[slot].state == ContainerState::kReserved) {
    DropReservation(books, slot);
    return books.killable.RemoveFromQueue(leaf, partition, id);
  }
  if (books.nodes.Alive(node)) {
    if (books.containers[slot].live) {
      EndGrowth(books, slot);
      CompleteLive(books, slot, ending);
      ReturnRoom(books, slot, partition);
    } else {
      books.nodes.TakeOff(slot, false, books.containers);
    }
    books.killable.RemoveFromQueue(leaf, partition, id);
  }
  if (books.containers.TakenBy(slot) != nullptr && !books.attempts[current].stopped)
    hadoop::GiveBack(books, current, slot);
  FreeIfGone(books, slot);
}

void NodeReport(Books& books, NodeIndex node, const ms::NodeUpdated& event) {
  hadoop::NoteLaunched(books, node, event.launched);
  CapacityHealth::Sum& released = books.health.released;
  released = {};
  for (const ms::Completion& completion : event.completed) {
    const ContainerSlot live = FindLive(books, completion.container);
    if (live.valid()) {
      ++released.count;
      released.resources += books.containers[live].resources;
    }
    if (live.valid()) Complete(books, live, {End::kFinished, completion.exit_status, ""});
    const ContainerSlot slot = books.containers.FindOn(books.nodes[node].containers, completion.container);
    if (!slot.valid()) continue;
    books.nodes.TakeOff(slot, true, books.containers);
    books.killable.RemoveFromNode(node, completion.container);
    FreeIfGone(books, slot);
  }
}

void TakeOverContainers(Books& books, AttemptId from, AttemptId to) {
  Attempt& before = books.attempts[from];
  Attempt& now = books.attempts[to];
  before.held -= before.live.count();
  now.held += before.live.count();
  books.containers.Move(before.live, now.live, to);
  now.most_live = before.most_live;
  for (PartitionId id{0}; id.value < before.usage.partitions(); ++id.value) {
    if (before.usage.Exists(id)) now.usage.AddUsed(id, before.usage.used(id));
  }
  now.blacklist.TakeOver(before.blacklist);
  now.headroom_of = before.headroom_of;
  for (const ContainerSlot slot : books.containers.OfAttempt(now.live)) {
    now.numbers.AddKnown(books.containers[slot].id.value, slot);
  }
}

/// AbstractYarnScheduler.recoverContainersOnNode, LeafQueue.recoverContainer.
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
  ++attempt.held;
  books.containers.SetCreated(slot, books.now_ms);
  books.containers.SetState(slot, ContainerState::kRunning);
  if (event.is_master) books.containers.SetMaster(slot);
  attempt.numbers.AddKnown(number.value, slot);
  if (number.attempt.attempt == attempt.number) attempt.numbers.Skip(number.value);
  books.containers.Join(slot, attempt.live);
  attempt.most_live = std::max(attempt.most_live, attempt.live.count());
  books.nodes.Put(slot, true, books.containers);
  const PartitionId partition = books.partitions.OfNode(event.node);
  attempt.usage.AddUsed(partition, event.resources);
  Charge(books, attempt.queue, slot, event.resources, partition, 1);
  ChargeAbove(books, attempt.queue, event.resources, partition, 1);
  if (attempt.master.Starts()) {
    attempt.master.Start(event.resources);
    attempt.master.SetKnown();
  }
}

}  // namespace fairlead::scheduler::yarn_capacity
