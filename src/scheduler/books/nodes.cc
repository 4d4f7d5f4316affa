#include "scheduler/books/nodes.h"

#include <algorithm>

#include "base/check.h"
#include "scheduler/books/limits.h"

namespace fairlead::scheduler::native {
namespace {

using model::Resources;

constexpr int64_t kLargestNode = int64_t{1} << 40;

/// A capacity from outside within the bounds that sums are safe with.
Resources Bounded(Resources capacity, const Resources& total) {
  for (size_t t = 0; t < Resources::kMaxTypes; ++t) {
    capacity[t] = std::clamp<int64_t>(capacity[t], 0, std::min(kLargestNode, kLargestSum - 1 - total[t]));
  }
  return capacity;
}

}  // namespace

uint32_t Partition::Add(NodeIndex node) {
  const uint32_t position = positions.Take();
  if (position == nodes.size()) {
    index.Add();
    nodes.push_back(node);
  } else {
    nodes[position] = node;
  }
  return position;
}

void Partition::Remove(uint32_t position) {
  index.Close(position);
  nodes[position] = NodeIndex{};
  positions.Give(position);
}

void Nodes::Add(const model::scheduler::NodeAdded& event, Places& places) {
  FL_CHECK(event.node.valid(), "a node needs an index");
  if (event.node.value >= nodes_.size()) nodes_.resize(event.node.value + 1);
  Node& node = nodes_[event.node.value];
  FL_CHECK(!node.alive, "a node index is used once");
  const bool changed = node.changed;
  node = Node{};
  node.changed = changed;  // it stands in changed_ since its earlier life
  node.alive = true;
  node.host = places.Mention(event.host);
  node.rack = places.Mention(event.rack.empty() ? "/default-rack" : event.rack);
  node.port = event.port;
  node.capacity = node.offered = Bounded(event.capacity, total_);
  places.AddNode(node.host, event.node);
  places.AddNode(node.rack, event.node);
  std::vector<uint32_t> wanted;
  for (const std::string& label : event.labels) {
    if (!label.empty()) wanted.push_back(Which(LabelFor(label)));
  }
  if (wanted.empty()) wanted.push_back(Which(LabelId{}));
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  for (const uint32_t partition : wanted) {
    node.partitions.emplace_back(partition, partitions_[partition].Add(event.node));
    ++partitions_[partition].open_nodes;
  }
  if (node.rack.value < racks_.size() && racks_[node.rack.value]) {
    node.rack_position = racks_[node.rack.value]->Add(event.node);
  }
  ++alive_;
  total_ += node.capacity;
  schedulable_ += node.capacity;
  Changed(event.node, true);
}

void Nodes::Remove(NodeIndex index, Places& places) {
  SetSchedulable(index, false);
  Node& node = nodes_[index.value];
  for (const auto& [which, position] : node.partitions) partitions_[which].Remove(position);
  places.RemoveNode(node.host, index);
  places.RemoveNode(node.rack, index);
  places.Forget(node.host);
  places.Forget(node.rack);
  if (node.rack.value < racks_.size()) racks_[node.rack.value].reset();  // made again when asked for
  node.alive = false;
  --alive_;
  total_ -= node.capacity;
  Changed(index, false);
}

void Nodes::Resize(NodeIndex index, const Resources& capacity) {
  Node& node = nodes_[index.value];
  total_ -= node.capacity;
  if (node.schedulable) schedulable_ -= node.capacity;
  node.capacity = node.offered = Bounded(capacity, total_);
  total_ += node.capacity;
  if (node.schedulable) schedulable_ += node.capacity;
  Changed(index, true);
}

void Nodes::SetSchedulable(NodeIndex index, bool schedulable) {
  Node& node = nodes_[index.value];
  if (node.schedulable == schedulable) return;
  node.schedulable = schedulable;
  for (const auto& [which, position] : node.partitions) partitions_[which].open_nodes += schedulable ? 1 : -1;
  if (schedulable) {
    schedulable_ += node.capacity;
    closed_used_ -= node.used;
  } else {
    schedulable_ -= node.capacity;
    closed_used_ += node.used;
  }
  Changed(index, schedulable);
}

void Nodes::Offer(NodeIndex index, const Resources& extra) {
  Node& node = nodes_[index.value];
  const Resources offered = node.capacity + extra;
  if (node.offered == offered) return;
  const bool more = !offered.FitsIn(node.offered);
  node.offered = offered;
  Changed(index, more);
}

void Nodes::SetBusy(NodeIndex index, bool busy) {
  if (nodes_[index.value].busy == busy) return;
  nodes_[index.value].busy = busy;
  Changed(index, !busy);
}

void Nodes::AddUse(NodeIndex index, const Resources& more) {
  nodes_[index.value].used += more;
  if (!nodes_[index.value].schedulable) closed_used_ += more;
}

void Nodes::Reserve(NodeIndex index, ReservationId reservation, const Resources& size) {
  nodes_[index.value].reservations.push_back(reservation);
  nodes_[index.value].reserved += size;
}

void Nodes::Unreserve(NodeIndex index, ReservationId reservation, const Resources& size) {
  std::erase(nodes_[index.value].reservations, reservation);
  nodes_[index.value].reserved -= size;
  Changed(index, true);
}

void Nodes::Changed(NodeIndex index, bool freed) {
  Node& node = nodes_[index.value];
  node.freed = node.freed || freed;
  if (node.changed) return;
  node.changed = true;
  changed_.push_back(index);
}

void Nodes::Publish(NodeIndex index) {
  const Node& node = nodes_[index.value];
  const bool open = node.open();
  const Resources free = node.free();
  for (const auto& [which, position] : node.partitions) {
    if (open) {
      partitions_[which].index.Set(position, free);
    } else {
      partitions_[which].index.Close(position);
    }
  }
  if (node.rack.value >= racks_.size() || !racks_[node.rack.value]) return;
  if (open) {
    racks_[node.rack.value]->index.Set(node.rack_position, free);
  } else {
    racks_[node.rack.value]->index.Close(node.rack_position);
  }
}

void Nodes::Prefetch(NodeIndex index) const {
  const Node& node = nodes_[index.value];
  for (const auto& [which, position] : node.partitions) partitions_[which].index.Prefetch(position);
  if (const Partition* made = rack(node.rack)) made->index.Prefetch(node.rack_position);
}

LabelId Nodes::LabelFor(std::string_view label) {
  if (label.empty()) return {};
  const LabelId id{labels_.Intern(label)};
  while (partitions_.size() <= labels_.size()) partitions_.emplace_back(types_);
  return id;
}

void Nodes::MoveCursor(LabelId label, NodeIndex index) {
  const uint32_t wanted = Which(label);
  for (const auto& [which, position] : nodes_[index.value].partitions) {
    if (which == wanted) partitions_[which].cursor = position + 1;
  }
}

void Nodes::IndexRack(PlaceId rack, const Places& places) {
  if (places[rack].nodes.empty()) return;
  if (racks_.size() < places.size()) racks_.resize(places.size());
  std::optional<Partition>& made = racks_[rack.value];
  if (made) return;
  made.emplace(types_);
  for (const NodeIndex index : places[rack].nodes) {
    Node& node = nodes_[index.value];
    node.rack_position = made->Add(index);
    if (node.open()) made->index.Set(node.rack_position, node.free());
  }
}

std::string Nodes::Check() const {
  Resources total;
  Resources schedulable;
  Resources closed_used;
  int32_t alive = 0;
  std::vector<int32_t> open(partitions_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (!node.alive) continue;
    const std::string name = "node " + std::to_string(i);
    ++alive;
    total += node.capacity;
    (node.schedulable ? schedulable : closed_used) += node.schedulable ? node.capacity : node.used;
    for (const auto& [which, position] : node.partitions) {
      open[which] += node.schedulable ? 1 : 0;
      if (partitions_[which].nodes[position].value != i) return name + ": place in the index";
      // Only a node that shrank, or came back with more than it holds, may be over-committed; the index must say so.
      if (node.free().AnyNegative() && partitions_[which].index.FindFrom(position, Resources{}) == position)
        return name + ": index";
    }
  }
  if (total != total_ || schedulable != schedulable_ || alive != alive_) return "what the cluster has";
  if (closed_used != closed_used_) return "usage of the nodes that take no containers";
  for (size_t which = 0; which < partitions_.size(); ++which) {
    if (!partitions_[which].index.Consistent()) return "index of free resources";
    if (partitions_[which].open_nodes != open[which]) return "open nodes of a label";
  }
  return "";
}

void Nodes::Mix(base::StateHasher& hash) const {
  const auto mix = [&](const Resources& amounts) {
    for (const int64_t amount : amounts.amount) hash.Mix(static_cast<uint64_t>(amount));
  };
  for (const Node& node : nodes_) {
    hash.Mix(uint64_t{node.busy} * 16 + uint64_t{node.alive} * 8 + uint64_t{node.schedulable} * 4 +
             uint64_t{node.changed} * 2 + uint64_t{node.freed});
    if (!node.alive) continue;
    hash.Mix(node.host.value);
    hash.Mix(node.rack.value);
    hash.Mix(node.containers.first().value);
    mix(node.capacity);
    if (node.offered != node.capacity) mix(node.offered);
    mix(node.used);
    mix(node.reserved);
    for (const auto& [which, position] : node.partitions) hash.Mix(uint64_t{which} << 32 | position);
    for (const ReservationId reservation : node.reservations) hash.Mix(reservation.value);
  }
  for (uint32_t label = 0; label < labels_.size(); ++label) hash.Mix(labels_.Name(label));
  for (const Partition& partition : partitions_) {
    hash.Mix(partition.cursor);
    for (const uint32_t spare : partition.positions.spare()) hash.Mix(spare);
  }
  for (const NodeIndex node : changed_) hash.Mix(node.value);
}

}  // namespace fairlead::scheduler::native
