#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/state.h"
#include "model/resources.h"
#include "scheduler/hadoop/ids.h"
#include "scheduler/shared/interner.h"
#include "scheduler/yarn_capacity/usage.h"

namespace fairlead::scheduler::yarn_capacity {

using hadoop::NodeIndex;

/// Node labels: their names, which of them the cluster has, which node has which, and what the nodes of each have in
/// all (RMNodeLabelsManager). A label that queues or asks name gets a number, too. O(1).
class Partitions {
 public:
  Partitions() { names_.Intern(""); }

  PartitionId Intern(std::string_view name) { return {names_.Intern(name)}; }
  const std::string& Name(PartitionId id) const { return names_.Name(id.value); }
  size_t size() const { return names_.size(); }

  /// addToClusterNodeLabels.
  void Add(std::string_view name, bool exclusive);
  /// Of a label that the cluster has.
  bool Known(PartitionId id) const { return id != kNoLabel && id.value < labels_.size() && labels_[id.value].known; }
  bool Exclusive(PartitionId id) const { return id.value >= labels_.size() || labels_[id.value].exclusive; }

  /// What its active nodes have (getResourceByLabel).
  const Resources& Of(PartitionId id) const {
    static const Resources nothing;
    return id.value < labels_.size() ? labels_[id.value].resource : nothing;
  }
  PartitionId OfNode(NodeIndex node) const { return node.value < of_node_.size() ? of_node_[node.value] : kNoLabel; }

  /// The node counts with `size` from now on; nothing any more.
  void Activate(NodeIndex node, PartitionId label, const Resources& size);
  void Deactivate(NodeIndex node, const Resources& size);
  /// A node of this size gets another label: first the amounts change, then the node has it.
  void MoveSize(PartitionId from, PartitionId to, const Resources& size);
  void SetLabel(NodeIndex node, PartitionId label) { of_node_[node.value] = label; }
  FL_STATE(names_, labels_, of_node_)

 private:
  struct Label {
    bool known = false;
    bool exclusive = true;
    Resources resource;
    FL_STATE(known, exclusive, resource)
  };
  Label& Make(PartitionId id);

  Interner names_;
  std::vector<Label> labels_;         // by PartitionId
  std::vector<PartitionId> of_node_;  // by NodeIndex
};

}  // namespace fairlead::scheduler::yarn_capacity
