#include "scheduler/yarn_capacity/killable.h"

#include "scheduler/yarn_capacity/queues.h"

namespace fairlead::scheduler::yarn_capacity {
namespace {

Resources Sum(const Killable::ById* containers) {
  Resources sum;
  if (containers == nullptr) return sum;
  for (const auto& [id, one] : *containers) sum += one.size;
  return sum;
}

}  // namespace

const Killable::ById* Killable::OfNode(NodeIndex node) const {
  const auto it = on_node_.find(node);
  return it == on_node_.end() ? nullptr : &it->second;
}
bool Killable::OnNode(NodeIndex node, const model::ContainerId& id) const {
  const ById* here = OfNode(node);
  return here != nullptr && here->contains(id);
}
Resources Killable::TotalOfNode(NodeIndex node) const { return Sum(OfNode(node)); }

void Killable::AddToNode(NodeIndex node, const model::ContainerId& id, One one) {
  one.order = next_order_++;
  on_node_[node].try_emplace(id, one);
}

void Killable::RemoveFromNode(NodeIndex node, const model::ContainerId& id) {
  const auto it = on_node_.find(node);
  if (it == on_node_.end()) return;
  it->second.erase(id);
  if (it->second.empty()) on_node_.erase(it);
}

const Killable::ById* Killable::OfQueue(const std::string& path, PartitionId partition) const {
  const auto queue = in_queue_.find(path);
  if (queue == in_queue_.end()) return nullptr;
  const auto it = queue->second.find(partition);
  return it == queue->second.end() ? nullptr : &it->second;
}
Resources Killable::TotalOfQueue(const std::string& path, PartitionId partition) const {
  return in_queue_.empty() ? Resources{} : Sum(OfQueue(path, partition));
}

void Killable::AddToQueue(const std::string& path, PartitionId partition, const model::ContainerId& id,
                          const One& one) {
  if (!known_.contains(path)) return;
  for (std::string at = path; !at.empty(); at = PathAbove(at)) in_queue_[at][partition].insert_or_assign(id, one);
}

void Killable::RemoveFromQueue(const std::string& path, PartitionId partition, const model::ContainerId& id) {
  if (in_queue_.empty()) return;
  for (std::string at = path; !at.empty(); at = PathAbove(at)) {
    const auto queue = in_queue_.find(at);
    if (queue == in_queue_.end()) continue;
    const auto it = queue->second.find(partition);
    if (it == queue->second.end()) continue;
    it->second.erase(id);
    if (it->second.empty()) queue->second.erase(it);
    if (queue->second.empty()) in_queue_.erase(queue);
  }
}

bool Killable::Any(const model::ContainerId& id) const {
  for (const auto& [path, partitions] : in_queue_) {
    for (const auto& [partition, containers] : partitions) {
      if (containers.contains(id)) return true;
    }
  }
  return false;
}

}  // namespace fairlead::scheduler::yarn_capacity
