#include <algorithm>

#include "base/check.h"
#include "scheduler/fairlead/core.h"

// Nodes: their capacity, the indexes they stand in, and who is woken when one gets room.

namespace fairlead::scheduler::native {
namespace {

constexpr int64_t kLargestNode = int64_t{1} << 40;

/// A capacity from outside within the bounds that sums are safe with.
Resources Bounded(Resources capacity, const Resources& total) {
  for (size_t t = 0; t < Resources::kMaxTypes; ++t) {
    capacity[t] = std::clamp<int64_t>(capacity[t], 0, std::min(kLargestNode, kLargestSum - 1 - total[t]));
  }
  return capacity;
}

}  // namespace

void Core::On(const ev::NodeAdded& event) {
  FL_CHECK(event.node.valid(), "a node needs an index");
  if (event.node.value >= nodes_.size()) nodes_.resize(event.node.value + 1);
  FL_CHECK(!nodes_[event.node.value].alive, "a node index is used once");
  Node& node = nodes_[event.node.value];
  node = Node{};
  node.alive = true;
  node.host = names_.Intern(event.host);
  node.rack = names_.Intern(event.rack.empty() ? "/default-rack" : event.rack);
  node.port = event.port;
  node.capacity = Bounded(event.capacity, total_);
  places_.resize(names_.size());
  racks_.resize(names_.size());
  places_[node.host].nodes.push_back(event.node.value);
  places_[node.rack].nodes.push_back(event.node.value);
  std::vector<uint32_t> wanted;
  for (const std::string& label : event.labels) {
    if (!label.empty()) wanted.push_back(labels_.Intern(label) + 1);
  }
  if (wanted.empty()) wanted.push_back(0);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  while (partitions_.size() <= labels_.size()) partitions_.emplace_back(types_);
  for (const uint32_t partition : wanted) node.places.emplace_back(partition, 0);
  ++alive_nodes_;
  total_ += node.capacity;
  schedulable_ += node.capacity;
  EnterIndexes(event.node.value);
  TotalChanged();
  NodeChanged(event.node.value, true);
}

void Core::On(const ev::NodeRemoved& event) {
  FL_CHECK(event.node.value < nodes_.size() && nodes_[event.node.value].alive, "unknown node index");
  Node& node = nodes_[event.node.value];
  if (node.schedulable) {
    schedulable_ -= node.capacity;
    closed_used_ += node.used;
  }
  DropHoldsOn(event.node.value);
  for (const auto& [partition, position] : node.places) partitions_[partition].open_nodes -= node.schedulable ? 1 : 0;
  node.schedulable = false;
  PublishFree(event.node.value);
  while (node.first_container != kNone) {
    const uint32_t container = node.first_container;
    if (containers_[container].app != kNone) {
      containers_[container].launched = false;  // the node will not report its end
      FinishContainer(container, -100, "Container released on a *lost* node");
    } else {
      LeaveNode(container);
    }
  }
  LeaveIndexes(event.node.value);
  node.alive = false;
  NodeChanged(event.node.value, false);
  WakeNeighbours(node);
  --alive_nodes_;
  total_ -= node.capacity;
  TotalChanged();
}

void Core::On(const ev::NodeResized& event) {
  FL_CHECK(event.node.value < nodes_.size() && nodes_[event.node.value].alive, "unknown node index");
  Node& node = nodes_[event.node.value];
  total_ -= node.capacity;
  if (node.schedulable) schedulable_ -= node.capacity;
  node.capacity = Bounded(event.capacity, total_);
  total_ += node.capacity;
  if (node.schedulable) schedulable_ += node.capacity;
  TotalChanged();
  NodeChanged(event.node.value, true);
  WakeNeighbours(node);
}

void Core::On(const ev::NodeUpdated& event) {
  FL_CHECK(event.node.value < nodes_.size(), "unknown node index");
  for (const model::ContainerId& id : event.launched) {
    const uint32_t container = containers_.Find(id);
    if (container != kNone && containers_[container].node == event.node.value) containers_[container].launched = true;
  }
  for (const ev::Completion& completion : event.completed) {
    const uint32_t container = containers_.Find(completion.container);
    if (container == kNone || containers_[container].node != event.node.value) continue;
    containers_[container].launched = false;
    if (containers_[container].app != kNone) {
      FinishContainer(container, completion.exit_status, "");
    } else {
      LeaveNode(container);
    }
  }
}

void Core::On(const ev::NodeSchedulable& event) {
  FL_CHECK(event.node.value < nodes_.size() && nodes_[event.node.value].alive, "unknown node index");
  Node& node = nodes_[event.node.value];
  if (node.schedulable == event.schedulable) return;
  node.schedulable = event.schedulable;
  for (const auto& [partition, position] : node.places) partitions_[partition].open_nodes += event.schedulable ? 1 : -1;
  if (event.schedulable) {
    schedulable_ += node.capacity;
    closed_used_ -= node.used;
  } else {
    schedulable_ -= node.capacity;
    closed_used_ += node.used;
  }
  if (!event.schedulable) DropHoldsOn(event.node.value);
  NodeChanged(event.node.value, event.schedulable);
  if (!event.schedulable) WakeNeighbours(node);
}

void Core::EnterIndexes(uint32_t index) {
  Node& node = nodes_[index];
  for (auto& [which, position] : node.places) {
    Partition& partition = partitions_[which];
    if (partition.spare.empty()) {
      position = partition.index.Add();
      partition.nodes.push_back(index);
    } else {
      position = partition.spare.back();
      partition.spare.pop_back();
      partition.nodes[position] = index;
    }
    ++partition.open_nodes;
  }
  if (racks_[node.rack]) {
    node.rack_position = racks_[node.rack]->index.Add();
    racks_[node.rack]->nodes.push_back(index);
  }
  PublishFree(index);
}

void Core::LeaveIndexes(uint32_t index) {
  Node& node = nodes_[index];
  for (const auto& [which, position] : node.places) {
    Partition& partition = partitions_[which];
    partition.index.Close(position);
    partition.nodes[position] = kNone;
    partition.spare.push_back(position);
  }
  std::erase(places_[node.host].nodes, index);
  std::erase(places_[node.rack].nodes, index);
  racks_[node.rack].reset();  // made again when asked for
}

void Core::PublishFree(uint32_t index) {
  const Node& node = nodes_[index];
  const bool open = Open(node);
  const Resources free = Free(node);
  for (const auto& [which, position] : node.places) {
    if (open) {
      partitions_[which].index.Set(position, free);
    } else {
      partitions_[which].index.Close(position);
    }
  }
  if (std::optional<Partition>& rack = racks_[node.rack]) {
    if (open) {
      rack->index.Set(node.rack_position, free);
    } else {
      rack->index.Close(node.rack_position);
    }
  }
}

FreeIndex& Core::RackIndex(uint32_t rack) {
  std::optional<Partition>& made = racks_[rack];
  if (!made) {
    made.emplace(types_);
    for (const uint32_t index : places_[rack].nodes) {
      nodes_[index].rack_position = made->index.Add();
      made->nodes.push_back(index);
      if (Open(nodes_[index])) made->index.Set(nodes_[index].rack_position, Free(nodes_[index]));
    }
  }
  return made->index;
}

bool Core::HasLabel(uint32_t node, uint32_t label) const {
  const uint32_t wanted = label == kNone ? 0 : label + 1;
  for (const auto& [partition, position] : nodes_[node].places) {
    if (partition == wanted) return true;
  }
  return false;
}

void Core::NodeChanged(uint32_t index, bool freed) {
  Node& node = nodes_[index];
  node.freed = node.freed || freed;
  if (node.changed) return;
  node.changed = true;
  changed_nodes_.push_back(index);
}

void Core::PublishChanged() {
  for (size_t i = 0; i < changed_nodes_.size(); ++i) {  // serving a hold may append
    const uint32_t index = changed_nodes_[i];
    Node& node = nodes_[index];
    node.changed = false;
    if (!node.alive) continue;
    PublishFree(index);
    const bool freed = node.freed;
    node.freed = false;
    if (freed && !node.holds.empty()) ServeHolds(index);
    if (freed) NodeFreed(index);
  }
  changed_nodes_.clear();
}

void Core::NodeFreed(uint32_t index) {
  Node& node = nodes_[index];
  if (!Open(node)) return;
  ++room_version_;
  const Resources free = Free(node);
  for (size_t i = tight_shapes_.size(); i-- > 0;) {  // OfferNode may take the shape out of the list
    const uint32_t shape = tight_shapes_[i];
    if (shapes_[shape].size.FitsIn(free) && HasLabel(index, shapes_[shape].label)) OfferNode(shape, index);
  }
  WakeNeighbours(node);
  if (!any_waiters_.empty()) {
    std::vector<std::pair<uint32_t, uint64_t>> waiters;
    waiters.swap(any_waiters_);
    WakeWaiters(waiters, Park::kAny);
  }
}

/// Requests that wait for the node's host or rack are tried again: there is room, or nothing to wait for any more.
void Core::WakeNeighbours(const Node& node) {
  WakeAt(places_[node.host], true);
  WakeAt(places_[node.rack], false);
}

void Core::WakeAt(Place& place, bool host) {
  std::erase_if(place.waiters, [this, host](uint32_t index) {
    const WaitsFor what = waits_for_[index];
    if (what == WaitsFor::kGone) {
      if (--waiters_[index].entries == 0) spare_waiters_.push_back(index);
      return true;
    }
    if (what == WaitsFor::kPlace || (host && what == WaitsFor::kHost)) {
      const Waiter& waiter = waiters_[index];
      SetPark(waiter.app, *FindWant(waiter.app, waiter.serial), Park::kNo);
    }
    return false;
  });
}

void Core::WakeWaiters(const std::vector<std::pair<uint32_t, uint64_t>>& waiters, Park park) {
  for (const auto& [slot, serial] : waiters) {
    Want* want = FindWant(slot, serial);
    if (want && want->park == park) SetPark(slot, *want, Park::kNo);
  }
}

/// Every share is another part of the cluster now; done once, before the next placing.
void Core::TotalChanged() { keys_stale_ = true; }

}  // namespace fairlead::scheduler::native
