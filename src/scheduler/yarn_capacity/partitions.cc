#include "scheduler/yarn_capacity/partitions.h"

namespace fairlead::scheduler::yarn_capacity {

Partitions::Label& Partitions::Make(PartitionId id) {
  if (id.value >= labels_.size()) labels_.resize(id.value + size_t{1});
  return labels_[id.value];
}

void Partitions::Add(std::string_view name, bool exclusive) {
  Label& label = Make(Intern(name));
  if (!label.known) label.exclusive = exclusive;
  label.known = true;
}

void Partitions::Activate(NodeIndex node, PartitionId label, const Resources& size) {
  if (node.value >= of_node_.size()) of_node_.resize(node.value + size_t{1}, kNoLabel);
  of_node_[node.value] = label;
  Make(label).resource += size;
}

void Partitions::MoveSize(PartitionId from, PartitionId to, const Resources& size) {
  Make(from).resource -= size;
  Make(to).resource += size;
}

void Partitions::Deactivate(NodeIndex node, const Resources& size) { Make(OfNode(node)).resource -= size; }

}  // namespace fairlead::scheduler::yarn_capacity
