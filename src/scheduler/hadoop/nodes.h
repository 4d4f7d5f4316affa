#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "model/resources.h"
#include "model/scheduler.h"
#include "scheduler/hadoop/containers.h"
#include "scheduler/hadoop/ids.h"
#include "scheduler/hadoop/names.h"

namespace fairlead::scheduler::hadoop {

/// SchedulerNode.
struct Node {
  bool alive = false;
  bool schedulable = true;
  NameId host = Names::kAny;  // its name: host, or host:port
  NameId rack = Names::kAny;
  int32_t java_hash = 0;  // of its NodeId
  uint64_t sequence = 0;  // of its insertion into the node map
  model::Resources total;
  model::Resources allocated;
  model::Resources unallocated;
  Chain containers;
  uint32_t most_containers = 0;  // decides the size of the hash table
  ContainerSlot reserved;
  FL_STATE(alive, schedulable, host, rack, java_hash, sequence, total, allocated, unallocated, containers,
           most_containers, reserved)
};

/// Nodes, what is on them, what the cluster has in all, and the orders in which Hadoop's ClusterNodeTracker hands nodes
/// out. O(1) unless stated.
class Nodes {
 public:
  const Node& operator[](NodeIndex node) const { return nodes_[node.value]; }
  /// One past the largest index ever added.
  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
  bool Alive(NodeIndex node) const { return node.value < nodes_.size() && nodes_[node.value].alive; }

  /// The index is not in use. `with_port`: nodes are named host:port.
  void Add(const model::scheduler::NodeAdded& event, bool with_port, Names& names);
  /// No container and no reservation is left on it.
  void Remove(NodeIndex node, Names& names);
  /// AbstractYarnScheduler.updateNodeResource: a node of another size leaves the tracker and comes back.
  void Resize(NodeIndex node, const model::Resources& total);
  void SetSchedulable(NodeIndex node, bool schedulable) { nodes_[node.value].schedulable = schedulable; }
  /// Not valid: no container is reserved there.
  void SetReserved(NodeIndex node, ContainerSlot slot) { nodes_[node.value].reserved = slot; }

  /// SchedulerNode.allocateContainer, and its end (see Containers::TakeOff).
  void Put(ContainerSlot slot, bool launched, Containers& containers);
  void TakeOff(ContainerSlot slot, bool by_node, Containers& containers);
  /// A container that is on its node gets another size.
  void ResizeContainer(ContainerSlot slot, const model::Resources& size, Containers& containers);

  /// Sum and number of the nodes that are there.
  const model::Resources& total() const { return total_; }
  uint32_t count() const { return count_; }
  uint32_t CountIn(NameId rack) const;
  /// The largest amount of each type that one of them has. O(nodes) after a change of nodes.
  model::Resources Largest() const;
  /// HashMap order of NodeId. O(nodes log nodes) after a change of nodes.
  const std::vector<NodeIndex>& InHashOrder() const;
  /// ClusterNodeTracker.getNodesByResourceName: of a host, a rack or "*".
  std::vector<NodeIndex> Named(NameId name) const;

  /// Recomputes sums and chains; empty when all agree.
  std::string Check(const Containers& containers, const Names& names) const;
  void Mix(base::StateHasher& hash) const;
  FL_STATE(nodes_, of_name_, of_rack_, total_, count_, most_, sequence_, hash_order_, hash_order_valid_, largest_,
           largest_valid_)

 private:
  void Track(NodeIndex node);
  void Untrack(NodeIndex node);

  std::vector<Node> nodes_;  // by NodeIndex
  std::unordered_map<NameId, NodeIndex> of_name_;
  std::unordered_map<NameId, std::vector<NodeIndex>> of_rack_;
  model::Resources total_;
  uint32_t count_ = 0;
  uint32_t most_ = 0;  // ever
  uint64_t sequence_ = 0;
  // Made when looked at.
  mutable std::vector<NodeIndex> hash_order_;
  mutable bool hash_order_valid_ = false;
  mutable model::Resources largest_;
  mutable bool largest_valid_ = false;
};

}  // namespace fairlead::scheduler::hadoop
