#include "scheduler/yarn_fair/core.h"

// Nodes coming, going and changing size: FairScheduler.addNode, removeNode, updateNodeResource.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;

void Core::ClusterChanged() {
  ResolveAllShares();
  InvalidateOrders();
  MarkSteady();
  UpdateAvailable();
}

/// triggerUpdate(): the update thread wakes up.
void Core::TriggerUpdate() {
  if (config_.timed_passes && config_.update_interval_ms > 0) next_update_ms_ = now_ms_;
}

void Core::Apply(const ms::NodeAdded& event) {
  nodes_.Add(event, config_.include_port_in_node_name, names_);
  ClusterChanged();
  TriggerUpdate();
}

void Core::Apply(const ms::NodeRemoved& event) {
  const NodeIndex id = event.node;
  if (!nodes_.Alive(id)) return;
  const Ending lost{End::kKilled, model::kExitAborted, "Container released on a *lost* node"};
  for (const ContainerSlot slot : containers_.InHashOrder(nodes_[id].containers, nodes_[id].most_containers)) {
    Complete(slot, lost);
    nodes_.TakeOff(slot, true, containers_);
    FreeIfGone(slot);
  }
  if (nodes_[id].reserved.valid()) Complete(nodes_[id].reserved, lost);
  nodes_.Remove(id, names_);
  for (const AttemptId attempt : promises_.Drop(id)) Unpin(attempt);
  ClusterChanged();
  TriggerUpdate();
}

void Core::Apply(const ms::NodeResized& event) {
  if (!nodes_.Alive(event.node)) return;
  nodes_.Resize(event.node, event.capacity);
  ClusterChanged();
}

void Core::Apply(const ms::NodeSchedulable& event) {
  if (event.node.value < nodes_.size()) nodes_.SetSchedulable(event.node, event.schedulable);
}

}  // namespace fairlead::scheduler::yarn_fair
