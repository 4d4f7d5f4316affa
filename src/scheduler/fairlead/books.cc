#include "scheduler/fairlead/core.h"

// The books of containers: who uses what, on which node, until when.

namespace fairlead::scheduler::native {

using model::Refusal;

uint32_t Core::AddContainer(uint32_t slot, uint32_t node_index, const model::ContainerId& id, uint32_t shape) {
  const uint32_t index = containers_.Add(id);
  Container& container = containers_[index];
  App& app = apps_[slot];
  Node& node = nodes_[node_index];
  container.app = slot;
  container.node = node_index;
  container.shape = shape;
  container.granted_ns = now_.ns;
  UseShape(shape);
  const Resources& size = shapes_[shape].size;
  container.app_next = app.first_container;
  if (app.first_container != kNone) containers_[app.first_container].app_previous = index;
  app.first_container = index;
  container.node_next = node.first_container;
  if (node.first_container != kNone) containers_[node.first_container].node_previous = index;
  node.first_container = index;
  ++app.containers;
  ++node.containers;
  app.used += size;
  AddUse(node, size);
  return index;
}

void Core::AddUse(Node& node, const Resources& more) {
  node.used += more;
  if (!node.schedulable) closed_used_ += more;
}

void Core::RecordMaster(uint32_t slot, uint32_t index) {
  App& app = apps_[slot];
  containers_[index].is_master = true;
  app.needs_master = false;
  const Resources size = shapes_[containers_[index].shape].size;
  app.master_used += size;
  ChangeMasters(app.leaf, size, 1);
}

/// Adds to (count 1) or takes from (count -1) what masters use in the leaf and above.
void Core::ChangeMasters(uint32_t leaf, const Resources& size, int32_t count) {
  if (count == 0) return;
  for (uint32_t q = leaf; q != kNone; q = queues_[q].parent) {
    queues_[q].masters += count;
    queues_[q].master_used += size * count;
  }
  if (count < 0) ReopenMasters();
}

void Core::FinishContainer(uint32_t index, int32_t exit_status, std::string diagnostics) {
  Container& container = containers_[index];
  const uint32_t slot = container.app;
  App& app = apps_[slot];
  const Resources size = shapes_[container.shape].size;
  Emit(ev::Finished{app.index, container.id(), NodeIndex{container.node}, exit_status, container.acquired,
                    std::move(diagnostics)});
  if (container.app_previous != kNone) {
    containers_[container.app_previous].app_next = container.app_next;
  } else {
    app.first_container = container.app_next;
  }
  if (container.app_next != kNone) containers_[container.app_next].app_previous = container.app_previous;
  Ended(index);
  container.app = kNone;
  --app.containers;
  app.used -= size;
  if (container.is_master) {
    app.master_used -= size;
    ChangeMasters(app.leaf, size, -1);
  }
  const uint32_t leaf = app.leaf;
  RefreshApp(slot);
  RemoveUsage(leaf, size);
  RemoveDemand(leaf, size);
  ++room_version_;
  // What was launched keeps its place on the node until the node reports its end: it may still be dying.
  if (!container.launched) LeaveNode(index);
}

void Core::LeaveNode(uint32_t index) {
  Left(index);
  const Container container = containers_[index];
  Node& node = nodes_[container.node];
  if (container.node_previous != kNone) {
    containers_[container.node_previous].node_next = container.node_next;
  } else {
    node.first_container = container.node_next;
  }
  if (container.node_next != kNone) containers_[container.node_next].node_previous = container.node_previous;
  --node.containers;
  AddUse(node, Resources() - shapes_[container.shape].size);
  containers_.Remove(index);
  DropShape(container.shape);
  NodeChanged(container.node, true);
}

void Core::On(const ev::ContainerRecovered& event) {
  const uint32_t slot = AppSlot(event.app);
  if (event.node.value >= nodes_.size() || !nodes_[event.node.value].alive) return;
  if (containers_.Find(event.container) != kNone) return;
  if (event.resources.AnyNegative() || event.resources.IsZero()) return;
  for (size_t t = 0; t < types_; ++t) {
    if (event.resources[t] >= kLargestSum - cluster_used_[t]) return;
  }
  App& app = apps_[slot];
  const uint32_t shape = ShapeFor({event.resources, kNone});
  const uint32_t index = AddContainer(slot, event.node.value, event.container, shape);
  containers_[index].priority = event.priority;
  containers_[index].acquired = true;
  containers_[index].launched = true;
  if (event.container.attempt.attempt == app.attempt && event.container.epoch() == config_.epoch) {
    app.next_sequence = std::max(app.next_sequence, event.container.sequence());
  }
  AddDemand(app.leaf, event.resources);
  if (event.is_master) {
    RecordMaster(slot, index);
    SetStarting(slot, false);
  }
  NodeChanged(event.node.value, false);
  Started(index);
  RefreshApp(slot);
  AddUsage(app.leaf, event.resources);
}

void Core::On(const ev::ContainerResized& event) {
  const uint32_t index = containers_.Find(event.container);
  if (index == kNone || containers_[index].app == kNone) {
    return Emit(ev::CallRefused{event.token, {Refusal::kUpdateUnknownContainer, {}, {}, {}}});
  }
  Container& container = containers_[index];
  const uint32_t slot = container.app;
  App& app = apps_[slot];
  const Resources old_size = shapes_[container.shape].size;
  const Resources more = event.resources - old_size;
  Resources grown;
  for (size_t t = 0; t < Resources::kMaxTypes; ++t) grown[t] = std::max<int64_t>(more[t], 0);
  model::Refused refused;
  if (event.resources.AnyNegative() || event.resources.IsZero()) {
    refused = {Refusal::kResizeSize, {}, {event.resources}, {}};
  } else if (!grown.FitsIn(Free(nodes_[container.node]))) {
    refused = {Refusal::kResizeNodeFull, {}, {event.resources}, {}};
  } else if (const Limit limit = FindLimit(app.leaf, grown, false); limit.kind == Limit::Kind::kQueueMaximum) {
    refused = {Refusal::kResizeQueueMaximum, {queues_[limit.queue].name}, {}, {}};
  }
  if (refused) return Emit(ev::CallRefused{event.token, std::move(refused)});
  ShapeKey resized = shapes_[container.shape];
  resized.size = event.resources;
  const uint32_t shape = ShapeFor(resized);
  UseShape(shape);
  DropShape(container.shape);
  containers_[index].shape = shape;
  AddUse(nodes_[container.node], more);
  app.used += more;
  if (container.is_master) {
    app.master_used += more;
    for (uint32_t q = app.leaf; q != kNone; q = queues_[q].parent) queues_[q].master_used += more;
  }
  RefreshApp(slot);
  AddDemand(app.leaf, more);
  RemoveUsage(app.leaf, Resources{} - more);
  NodeChanged(container.node, true);
  Emit(ev::ResizeAnswered{event.token});
}

}  // namespace fairlead::scheduler::native
