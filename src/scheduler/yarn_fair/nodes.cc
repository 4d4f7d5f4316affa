#include <algorithm>

#include "base/check.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/core.h"

// Nodes coming, going and changing size (FairScheduler.addNode, removeNode, updateNodeResource) and the orders in which
// Hadoop's ClusterNodeTracker hands them out.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;

namespace {

/// NodeId.hashCode.
int32_t HashOfNodeId(const std::string& host, int32_t port) {
  uint32_t hash = 493217u * 8501u + static_cast<uint32_t>(java::HashOfString(host));
  return java::Wrap(493217u * hash + static_cast<uint32_t>(port));
}

}  // namespace

void Core::ClusterChanged() {
  largest_node_valid_ = false;
  ResolveAllShares();
  InvalidateOrders();
  MarkSteady();
}

/// ClusterNodeTracker.addNode.
void Core::TrackNode(uint32_t id) {
  Node& node = nodes_[id];
  node.sequence = ++node_sequence_;
  node_of_name_[node.host] = id;
  nodes_of_rack_[node.rack].push_back(id);
  ++node_count_;
  most_nodes_ = std::max(most_nodes_, node_count_);
  cluster_ += node.total;
  node_order_valid_ = false;
}

/// ClusterNodeTracker.removeNode.
void Core::UntrackNode(uint32_t id) {
  const Node& node = nodes_[id];
  node_of_name_.erase(node.host);
  std::vector<uint32_t>& rack = nodes_of_rack_[node.rack];
  std::erase(rack, id);
  if (rack.empty()) nodes_of_rack_.erase(node.rack);
  --node_count_;
  cluster_ -= node.total;
  node_order_valid_ = false;
}

void Core::Apply(const ms::NodeAdded& event) {
  if (nodes_.size() <= event.node.value) nodes_.resize(event.node.value + size_t{1});
  FL_CHECK(!nodes_[event.node.value].alive, "a node is added once");
  Node& node = nodes_[event.node.value];
  node = Node{};
  node.alive = true;
  node.host =
      names_.Acquire(config_.include_port_in_node_name ? event.host + ":" + std::to_string(event.port) : event.host);
  node.rack = names_.Acquire(event.rack);
  node.java_hash = HashOfNodeId(event.host, event.port);
  node.total = event.capacity;
  node.unallocated = event.capacity;
  TrackNode(event.node.value);
  ClusterChanged();
  UpdateAvailable();
  if (config_.timed_passes && config_.update_interval_ms > 0) next_update_ms_ = now_ms_;  // triggerUpdate()
}

void Core::Apply(const ms::NodeRemoved& event) {
  const uint32_t id = event.node.value;
  if (id >= nodes_.size() || !nodes_[id].alive) return;
  const Ending lost{End::kKilled, model::kExitAborted, "Container released on a *lost* node"};
  for (const ContainerSlot slot : ContainersInHashOrder(nodes_[id])) {
    Complete(slot, lost);
    ReleaseFromNode(slot, true);
    FreeIfGone(slot);
  }
  if (nodes_[id].reserved != kNone) Complete(nodes_[id].reserved, lost);
  UntrackNode(id);
  Node& node = nodes_[id];
  node.alive = false;
  for (const Node::Promise& promise : node.promises) {
    --attempts_[promise.attempt].pins;
    FreeIfUnpinned(promise.attempt);
  }
  node.promises.clear();
  names_.Release(node.host);
  names_.Release(node.rack);
  ClusterChanged();
  UpdateAvailable();
  if (config_.timed_passes && config_.update_interval_ms > 0) next_update_ms_ = now_ms_;
}

/// AbstractYarnScheduler.updateNodeResource: a node of another size leaves the tracker and comes back.
void Core::Apply(const ms::NodeResized& event) {
  const uint32_t id = event.node.value;
  if (id >= nodes_.size() || !nodes_[id].alive) return;
  Node& node = nodes_[id];
  if (node.total != event.capacity) {
    UntrackNode(id);
    node.total = event.capacity;
    node.unallocated = node.total - node.allocated;
    TrackNode(id);
  }
  ClusterChanged();
  UpdateAvailable();
}

void Core::Apply(const ms::NodeSchedulable& event) {
  if (event.node.value < nodes_.size()) nodes_[event.node.value].schedulable = event.schedulable;
}

/// HashMap<NodeId, N>.values().
const std::vector<uint32_t>& Core::NodesInHashOrder() const {
  if (node_order_valid_) return node_order_;
  std::vector<uint32_t> ids;
  for (uint32_t id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id].alive) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end(), [&](uint32_t a, uint32_t b) { return nodes_[a].sequence < nodes_[b].sequence; });
  std::vector<int32_t> hashes;
  for (const uint32_t id : ids) hashes.push_back(nodes_[id].java_hash);
  node_order_.clear();
  for (const uint32_t i : java::HashOrder(hashes, java::HashCapacity(most_nodes_))) node_order_.push_back(ids[i]);
  node_order_valid_ = true;
  return node_order_;
}

/// ClusterNodeTracker.getNodesByResourceName.
std::vector<uint32_t> Core::NodesNamed(NameId name) const {
  if (name == Names::kAny) return NodesInHashOrder();
  if (const auto it = node_of_name_.find(name); it != node_of_name_.end()) return {it->second};
  const auto rack = nodes_of_rack_.find(name);
  return rack == nodes_of_rack_.end() ? std::vector<uint32_t>{} : rack->second;
}

uint32_t Core::NodesInRack(NameId rack) const {
  const auto it = nodes_of_rack_.find(rack);
  return it == nodes_of_rack_.end() ? 0 : static_cast<uint32_t>(it->second.size());
}

/// HashMap<ContainerId, ContainerInfo>.values() of FSSchedulerNode.launchedContainers.
std::vector<ContainerSlot> Core::ContainersInHashOrder(const Node& node) const {
  std::vector<ContainerSlot> slots;
  std::vector<int32_t> hashes;
  for (ContainerSlot slot = node.first; slot != kNone; slot = containers_[slot].next_on_node) {
    slots.push_back(slot);
    hashes.push_back(HashOf(containers_[slot]));
  }
  std::vector<ContainerSlot> order;
  order.reserve(slots.size());
  for (const uint32_t i : java::HashOrder(hashes, java::HashCapacity(node.most_containers))) order.push_back(slots[i]);
  return order;
}

}  // namespace fairlead::scheduler::yarn_fair
