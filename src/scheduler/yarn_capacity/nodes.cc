#include "scheduler/yarn_capacity/nodes.h"

#include "scheduler/yarn_capacity/capacity.h"
#include "scheduler/yarn_capacity/containers.h"

namespace fairlead::scheduler::yarn_capacity {

namespace ms = model::scheduler;
using hadoop::End;

void Apply(Books& books, const ms::NodeAdded& event) {
  books.nodes.Add(event, books.config.include_port_in_node_name, books.names);
  std::vector<std::string>& names = books.health.nodes;
  if (names.size() <= event.node.value) names.resize(event.node.value + size_t{1});
  names[event.node.value] = event.host + ":" + std::to_string(event.port);
  const PartitionId label = event.labels.empty() ? kNoLabel : books.partitions.Intern(event.labels.front());
  books.partitions.Activate(event.node, label, event.capacity);
  UpdateCluster(books);
  UpdateCluster(books);
}

void Apply(Books& books, const ms::NodeRemoved& event) {
  const NodeIndex id = event.node;
  if (!books.nodes.Alive(id)) return;
  books.partitions.Deactivate(id, books.nodes[id].total);
  UpdateCluster(books);
  const std::vector<ContainerSlot> containers =
      books.containers.InHashOrder(books.nodes[id].containers, books.nodes[id].most_containers);
  for (const ContainerSlot slot : containers) {
    const model::ContainerId container = books.containers[slot].id;
    if (books.containers[slot].live) {
      Complete(books, slot, {End::kKilled, model::kExitAborted, "Container released on a *lost* node"});
    }
    if (!books.containers.Has(slot) || books.containers[slot].id != container) continue;
    books.nodes.TakeOff(slot, true, books.containers);
    books.killable.RemoveFromNode(id, container);
    FreeIfGone(books, slot);
  }
  if (const ContainerSlot slot = books.nodes[id].reserved; slot.valid()) {
    Complete(books, slot, {End::kKilled, model::kExitAborted, "Container released on a *lost* node"});
  }
  books.nodes.Remove(id, books.names);
  UpdateCluster(books);
}

void Apply(Books& books, const ms::NodeSchedulable& event) {
  if (books.nodes.Alive(event.node)) books.nodes.SetSchedulable(event.node, event.schedulable);
}

void Apply(Books& books, const ms::LabelsAdded& event) {
  for (const ms::ClusterLabel& label : event.labels) books.partitions.Add(label.name, label.exclusive);
}

/// FiCaSchedulerApp.nodePartitionUpdated.
static void MoveContainer(Books& books, ContainerSlot slot, PartitionId from, PartitionId to) {
  const Container& container = books.containers[slot];
  const AttemptId id = books.apps.Current(container.app);
  if (!id.valid()) return;
  Attempt& attempt = books.attempts[id];
  Queue& leaf = books.queues[attempt.queue];
  const Resources& size = container.resources;
  attempt.usage.AddUsed(from, -size);
  attempt.usage.AddUsed(to, size);
  for (const auto& [partition, by] : {std::pair(from, -size), std::pair(to, size)}) {
    leaf.own.users.AddUsed(attempt.user, by, partition, books.partitions.Of(partition), books.calc);
    books.queues.ForEachUp(attempt.queue, [&](Queue& queue) {
      queue.usage.AddUsed(partition, by);
      UpdateUsedShare(books, queue, partition);
    });
  }
  if (!container.is_master) return;
  attempt.master_partition = to;
  attempt.usage.AddMasters(from, -size);
  attempt.usage.AddMasters(to, size);
  User* user = leaf.own.users.Find(attempt.user);
  if (user == nullptr) return;
  for (const auto& [partition, by] : {std::pair(from, -size), std::pair(to, size)}) {
    user->usage.AddMasters(partition, by);
    leaf.usage.AddMasters(partition, by);
  }
}

/// CapacityScheduler.updateNodeLabelsAndQueueResource: what the label manager says of a node, also when it is the same.
static void TakeLabel(Books& books, NodeIndex id, PartitionId to) {
  const PartitionId from = books.partitions.OfNode(id);
  for (const ContainerSlot slot :
       books.containers.InHashOrder(books.nodes[id].containers, books.nodes[id].most_containers)) {
    MoveContainer(books, slot, from, to);
    const Container& container = books.containers[slot];
    if (!container.live) continue;
    const PartitionId asked = AskedLabel(books, container);
    if (asked == to) {
      books.asked_labels.erase(container.id);
    } else {
      books.asked_labels[container.id] = asked;
    }
  }
  if (const ContainerSlot slot = books.nodes[id].reserved; slot.valid()) {
    Complete(books, slot, {End::kKilled, model::kExitAborted, "Container reservation no longer required."});
  }
  books.partitions.SetLabel(id, to);
  UpdateCluster(books);
}

void Apply(Books& books, const ms::NodeRelabelled& event) {
  const NodeIndex id = event.node;
  if (!books.nodes.Alive(id)) return;
  const PartitionId from = books.partitions.OfNode(id);
  const PartitionId to = books.partitions.Intern(event.label);
  if (from == to) return;
  // The amounts of the labels change before the scheduler hears of it; the node keeps its old one until then.
  books.partitions.MoveSize(from, to, books.nodes[id].total);
  TakeLabel(books, id, to);
}

/// To the label manager the node goes and comes again.
void Apply(Books& books, const ms::NodeResized& event) {
  const NodeIndex id = event.node;
  if (!books.nodes.Alive(id)) return;
  if (books.nodes[id].total != event.capacity) {
    const PartitionId label = books.partitions.OfNode(id);
    books.partitions.Deactivate(id, books.nodes[id].total);
    UpdateCluster(books);
    books.partitions.Activate(id, label, event.capacity);
    TakeLabel(books, id, label);
    books.nodes.Resize(id, event.capacity);
  }
  UpdateCluster(books);
}

}  // namespace fairlead::scheduler::yarn_capacity
