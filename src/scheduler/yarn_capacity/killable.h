#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/state.h"
#include "model/ids.h"
#include "scheduler/hadoop/containers.h"
#include "scheduler/yarn_capacity/usage.h"

namespace fairlead::scheduler::yarn_capacity {

using hadoop::ContainerSlot;
using hadoop::NodeIndex;

/// Containers that lazy preemption may take when their room is needed: by node and by queue (PreemptionManager,
/// FiCaSchedulerNode). O(log n) unless stated.
class Killable {
 public:
  struct One {
    ContainerSlot slot;
    Resources size;
    uint64_t order = 0;  // in which they came to nodes
    FL_STATE(slot, size, order)
  };
  using ById = std::map<model::ContainerId, One>;

  bool empty() const { return on_node_.empty() && in_queue_.empty(); }
  bool OnNode(NodeIndex node, const model::ContainerId& id) const;
  /// In order of their ids; nullptr: none.
  const ById* OfNode(NodeIndex node) const;
  Resources TotalOfNode(NodeIndex node) const;
  void AddToNode(NodeIndex node, const model::ContainerId& id, One one);
  void RemoveFromNode(NodeIndex node, const model::ContainerId& id);

  /// The queue may have killable containers from now on (PreemptionManager.refreshQueues).
  void Know(const std::string& path) { known_.insert(path); }
  /// Adds to, and takes from, the queue and those above it.
  void AddToQueue(const std::string& path, PartitionId partition, const model::ContainerId& id, const One& one);
  void RemoveFromQueue(const std::string& path, PartitionId partition, const model::ContainerId& id);
  const ById* OfQueue(const std::string& path, PartitionId partition) const;
  Resources TotalOfQueue(const std::string& path, PartitionId partition) const;
  /// Of the queue in any partition. O(killable).
  bool Any(const model::ContainerId& id) const;
  FL_STATE(on_node_, next_order_, known_, in_queue_)

 private:
  std::map<NodeIndex, ById> on_node_;
  uint64_t next_order_ = 0;
  std::set<std::string> known_;
  std::map<std::string, std::map<PartitionId, ById>> in_queue_;
};

}  // namespace fairlead::scheduler::yarn_capacity
