#include "scheduler/hadoop/nodes.h"

#include <algorithm>

#include "base/check.h"
#include "scheduler/hadoop/calculator.h"
#include "scheduler/hadoop/java.h"

namespace fairlead::scheduler::hadoop {
namespace {

/// NodeId.hashCode.
int32_t HashOfNodeId(const std::string& host, int32_t port) {
  const uint32_t hash = 493217u * 8501u + static_cast<uint32_t>(java::HashOfString(host));
  return java::Wrap(493217u * hash + static_cast<uint32_t>(port));
}

}  // namespace

/// ClusterNodeTracker.addNode.
void Nodes::Track(NodeIndex id) {
  Node& node = nodes_[id.value];
  node.sequence = ++sequence_;
  of_name_[node.host] = id;
  of_rack_[node.rack].push_back(id);
  ++count_;
  most_ = std::max(most_, count_);
  total_ += node.total;
  hash_order_valid_ = largest_valid_ = false;
}

/// ClusterNodeTracker.removeNode.
void Nodes::Untrack(NodeIndex id) {
  const Node& node = nodes_[id.value];
  of_name_.erase(node.host);
  std::vector<NodeIndex>& rack = of_rack_[node.rack];
  std::erase(rack, id);
  if (rack.empty()) of_rack_.erase(node.rack);
  --count_;
  total_ -= node.total;
  hash_order_valid_ = largest_valid_ = false;
}

void Nodes::Add(const model::scheduler::NodeAdded& event, bool with_port, Names& names) {
  if (nodes_.size() <= event.node.value) nodes_.resize(event.node.value + size_t{1});
  Node& node = nodes_[event.node.value];
  FL_CHECK(!node.alive, "a node is added once");
  node = Node{};
  node.alive = true;
  node.host = names.Acquire(with_port ? event.host + ":" + std::to_string(event.port) : event.host);
  node.rack = names.Acquire(event.rack);
  node.java_hash = HashOfNodeId(event.host, event.port);
  node.total = event.capacity;
  node.unallocated = event.capacity;
  Track(event.node);
}

void Nodes::Remove(NodeIndex id, Names& names) {
  Untrack(id);
  Node& node = nodes_[id.value];
  node.alive = false;
  names.Release(node.host);
  names.Release(node.rack);
}

void Nodes::Resize(NodeIndex id, const model::Resources& total) {
  Node& node = nodes_[id.value];
  if (node.total == total) return;
  Untrack(id);
  node.total = total;
  node.unallocated = node.total - node.allocated;
  Track(id);
}

void Nodes::Put(ContainerSlot slot, bool launched, Containers& containers) {
  const Container& container = containers[slot];
  Node& node = nodes_[container.node.value];
  containers.Put(slot, node.containers, launched);
  node.most_containers = std::max(node.most_containers, node.containers.count());
  node.unallocated -= container.resources;
  node.allocated += container.resources;
}

void Nodes::TakeOff(ContainerSlot slot, bool by_node, Containers& containers) {
  const Container& container = containers[slot];
  Node& node = nodes_[container.node.value];
  if (!containers.TakeOff(slot, node.containers, by_node)) return;
  node.unallocated += container.resources;
  node.allocated -= container.resources;
}

void Nodes::ResizeContainer(ContainerSlot slot, const model::Resources& size, Containers& containers) {
  const Container& container = containers[slot];
  Node& node = nodes_[container.node.value];
  const model::Resources more = size - container.resources;
  node.unallocated -= more;
  node.allocated += more;
  containers.SetSize(slot, size);
}

uint32_t Nodes::CountIn(NameId rack) const {
  const auto it = of_rack_.find(rack);
  return it == of_rack_.end() ? 0 : static_cast<uint32_t>(it->second.size());
}

model::Resources Nodes::Largest() const {
  if (largest_valid_) return largest_;
  largest_valid_ = true;
  largest_ = {};
  for (const Node& node : nodes_) {
    if (node.alive) largest_ = ComponentwiseMax(largest_, node.total);
  }
  return largest_;
}

const std::vector<NodeIndex>& Nodes::InHashOrder() const {
  if (hash_order_valid_) return hash_order_;
  hash_order_valid_ = true;
  std::vector<NodeIndex> ids;
  for (uint32_t id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id].alive) ids.push_back({id});
  }
  std::sort(ids.begin(), ids.end(),
            [&](NodeIndex a, NodeIndex b) { return (*this)[a].sequence < (*this)[b].sequence; });
  std::vector<int32_t> hashes;
  for (const NodeIndex id : ids) hashes.push_back((*this)[id].java_hash);
  hash_order_.clear();
  for (const uint32_t i : java::HashOrder(hashes, java::HashCapacity(most_))) hash_order_.push_back(ids[i]);
  return hash_order_;
}

std::vector<NodeIndex> Nodes::Named(NameId name) const {
  if (name == Names::kAny) return InHashOrder();
  if (const auto it = of_name_.find(name); it != of_name_.end()) return {it->second};
  const auto rack = of_rack_.find(name);
  return rack == of_rack_.end() ? std::vector<NodeIndex>{} : rack->second;
}

std::string Nodes::Check(const Containers& containers, const Names& names) const {
  std::string wrong;
  model::Resources total;
  uint32_t count = 0;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (!node.alive) continue;
    ++count;
    total += node.total;
    std::string here;
    const model::Resources used = containers.CheckNode(node.containers, {i}, here);
    if (node.allocated != used || node.unallocated != node.total - used) {
      here += "allocated is " + model::ToString(node.allocated) + ", counted " + model::ToString(used) + "\n";
    }
    if (node.reserved.valid() && (containers[node.reserved].state != ContainerState::kReserved ||
                                  containers[node.reserved].node != NodeIndex{i})) {
      here += "holds a reservation that is none\n";
    }
    if (!here.empty()) wrong += "node " + names.Text(node.host) + ": " + here;
  }
  if (total != total_ || count != count_) wrong += "the cluster is not the sum of its nodes\n";
  return wrong;
}

void Nodes::Mix(base::StateHasher& hash) const {
  for (const Node& node : nodes_) {
    hash.Mix(node.alive);
    hash.Mix(node.schedulable);
    hash.Mix(static_cast<uint64_t>(node.java_hash));
    hash.Mix(node.host.value);
    hash.Mix(node.rack.value);
    hash.Mix(node.sequence);
    hadoop::Mix(hash, node.total);
    hadoop::Mix(hash, node.unallocated);
    hash.Mix(node.containers.first().value);
    hash.Mix(node.containers.count());
    hash.Mix(node.most_containers);
    hash.Mix(node.reserved.value);
  }
  hash.Mix(most_);
  hash.Mix(sequence_);
}

}  // namespace fairlead::scheduler::hadoop
