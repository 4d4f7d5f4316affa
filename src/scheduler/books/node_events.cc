#include <algorithm>

#include "base/check.h"
#include "scheduler/books/core.h"

// What nodes and the resource manager tell of nodes and containers.

namespace fairlead::scheduler::native {

using model::Refusal;

void Core::On(const ev::NodeAdded& event) {
  books_.nodes.Add(event, books_.places);
  policy_->Publish(books_, event.node);
  TotalChanged();
}

void Core::On(const ev::NodeRemoved& event) {
  Nodes& nodes = books_.nodes;
  FL_CHECK(nodes.Alive(event.node), "unknown node index");
  nodes.SetSchedulable(event.node, false);
  while (!nodes[event.node].reservations.empty()) Unreserve(nodes[event.node].reservations.back());
  policy_->Publish(books_, event.node);
  while (nodes[event.node].containers.first().valid()) {
    const ContainerSlot container = nodes[event.node].containers.first();
    if (books_.containers[container].app.valid()) {
      books_.containers.SetGone(container);
      Finish(container, model::kExitAborted, "Container released on a *lost* node");
    } else {
      LeaveNode(container);
    }
  }
  nodes.Remove(event.node, books_.places);
  policy_->NodeGone(books_, event.node);
  WakeNeighbours(nodes[event.node]);
  TotalChanged();
}

void Core::On(const ev::NodeResized& event) {
  FL_CHECK(books_.nodes.Alive(event.node), "unknown node index");
  books_.nodes.Resize(event.node, event.capacity);
  TotalChanged();
  WakeNeighbours(books_.nodes[event.node]);
}

void Core::On(const ev::NodeSchedulable& event) {
  Nodes& nodes = books_.nodes;
  FL_CHECK(nodes.Alive(event.node), "unknown node index");
  if (nodes[event.node].schedulable == event.schedulable) return;
  nodes.SetSchedulable(event.node, event.schedulable);
  if (event.schedulable) return;
  while (!nodes[event.node].reservations.empty()) Unreserve(nodes[event.node].reservations.back());
  WakeNeighbours(nodes[event.node]);
}

void Core::On(const ev::NodeMeasured& event) {
  FL_CHECK(event.node.value < books_.nodes.size(), "unknown node index");
  if (books_.nodes.Alive(event.node)) policy_->NodeMeasured(*this, event);
}

void Core::On(const ev::NodeWindows& event) {
  FL_CHECK(event.node.value < books_.nodes.size(), "unknown node index");
  if (books_.nodes.Alive(event.node)) policy_->NodeWindows(*this, event);
}

void Core::On(const ev::NodeUpdated& event) {
  FL_CHECK(event.node.value < books_.nodes.size(), "unknown node index");
  Containers& containers = books_.containers;
  for (const model::ContainerId& id : event.launched) {
    const ContainerSlot container = containers.Find(id);
    if (container.valid() && containers[container].node == event.node) containers.SetLaunched(container);
  }
  for (const ev::Completion& completion : event.completed) {
    const ContainerSlot container = containers.Find(completion.container);
    if (!container.valid() || containers[container].node != event.node) continue;
    containers.SetAcquired(container);  // else its node had not got it
    containers.SetGone(container);
    if (containers[container].app.valid()) {
      Finish(container, completion.exit_status, "");
    } else {
      LeaveNode(container);
    }
  }
}

void Core::WakeNeighbours(const Node& node) {
  const auto wake = [this](AppSlot slot, uint64_t serial) {
    SetPark(slot, *books_.apps.FindAsk(slot, serial), Park::kNo);
  };
  books_.places.WakeAt(node.host, true, wake);
  books_.places.WakeAt(node.rack, false, wake);
}

void Core::On(const ev::Acquired& event) {
  // Granted some time ago, they have left the cache: all are asked for before the first is needed.
  for (const model::ContainerId& id : event.containers) books_.containers.PrefetchEntry(id);
  for (const model::ContainerId& id : event.containers) books_.containers.PrefetchLikely(id);
  for (const model::ContainerId& id : event.containers) {
    const ContainerSlot container = books_.containers.Find(id);
    if (container.valid()) books_.containers.SetAcquired(container);
  }
}

void Core::On(const ev::ContainerEnded& event) {
  const ContainerSlot container = books_.containers.Find(event.container);
  if (container.valid() && books_.containers[container].app.valid()) Finish(container, event.exit_status, "");
}

void Core::On(const ev::ContainerRecovered& event) {
  const AppSlot slot = books_.apps.Find(event.app);
  if (!slot.valid() || !books_.nodes.Alive(event.node) || books_.containers.Find(event.container).valid()) return;
  if (event.resources.AnyNegative() || event.resources.IsZero()) return;
  const QueueId leaf = books_.apps[slot].leaf;
  for (size_t t = 0; t < books_.types; ++t) {
    if (event.resources[t] >= kLargestSum - books_.queues[kRoot].used[t]) return;
  }
  const ShapeId shape = books_.shapes.For({event.resources, LabelId{}});
  const ContainerSlot container = AddContainer(slot, event.node, event.container, shape);
  books_.containers.SetAsk(container, event.priority, -1, Locality::kOffSwitch);
  books_.containers.SetLaunched(container);
  if (event.container.attempt.attempt == books_.apps[slot].attempt && event.container.epoch() == books_.config.epoch) {
    books_.apps.SawSequence(slot, event.container.sequence());
  }
  AddDemand(leaf, event.resources);
  if (event.is_master) RecordMaster(slot, container);
  policy_->ContainerRecovered(books_, container);
  books_.nodes.Changed(event.node, false);
  policy_->ContainerStarted(books_, container);
  policy_->AppChanged(books_, slot);
  books_.queues.AddUsage(leaf, event.resources);
  policy_->UsageChanged(books_, leaf, false);
}

void Core::On(const ev::ContainerResized& event) {
  const ContainerSlot slot = books_.containers.Find(event.container);
  if (!slot.valid() || !books_.containers[slot].app.valid()) {
    return Refuse(event.token, {Refusal::kUpdateUnknownContainer, {}, {}, {}});
  }
  const Container& container = books_.containers[slot];
  const QueueId leaf = books_.apps[container.app].leaf;
  const Resources more = event.resources - books_.shapes[container.shape].size;
  Resources grown;
  for (size_t t = 0; t < Resources::kMaxTypes; ++t) grown[t] = std::max<int64_t>(more[t], 0);
  model::Refused refused;
  if (event.resources.AnyNegative() || event.resources.IsZero()) {
    refused = {Refusal::kResizeSize, {}, {event.resources}, {}};
  } else if (!grown.FitsIn(books_.nodes[container.node].booked_free())) {
    refused = {Refusal::kResizeNodeFull, {}, {event.resources}, {}};
  } else if (const Limit limit = books_.FindLimit(books_.apps[container.app], grown, false);
             limit.kind == Limit::Kind::kUserMaximum) {
    refused = {Refusal::kResizeUserMaximum, {InWords(books_.users[limit.user].name)}, {}, {}};
  } else if (limit.kind != Limit::Kind::kFree) {
    refused = {Refusal::kResizeQueueMaximum, {books_.queues[limit.queue].name}, {}, {}};
  }
  if (refused) return Refuse(event.token, std::move(refused));
  const ShapeId shape = books_.shapes.For({event.resources, books_.shapes[container.shape].label});
  books_.shapes.Use(shape);
  books_.shapes.Drop(container.shape);
  books_.containers.SetShape(slot, shape);
  books_.nodes.AddUse(container.node, more);
  UseMore(container.app, more);
  if (container.is_master) {
    books_.apps.AddMasterUse(container.app, more);
    books_.queues.AddMasters(leaf, more, 0);
  }
  policy_->AppChanged(books_, container.app);
  AddDemand(leaf, more);
  books_.queues.AddUsage(leaf, more);
  policy_->UsageChanged(books_, leaf, true);
  books_.nodes.Changed(container.node, true);
  Emit(ev::ResizeAnswered{event.token});
}

}  // namespace fairlead::scheduler::native
