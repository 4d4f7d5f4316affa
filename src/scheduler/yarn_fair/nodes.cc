#include "scheduler/yarn_fair/nodes.h"

#include "scheduler/yarn_fair/applications.h"
#include "scheduler/yarn_fair/containers.h"
#include "scheduler/yarn_fair/ordering.h"
#include "scheduler/yarn_fair/queues.h"

// Nodes coming, going and changing size: FairScheduler.addNode, removeNode, updateNodeResource.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;

static void ClusterChanged(Books& books);
static void TriggerUpdate(Books& books);

void ClusterChanged(Books& books) {
  ResolveAllShares(books);
  InvalidateOrders(books);
  books.MarkSteady();
  books.UpdateAvailable();
}

/// triggerUpdate(): the update thread wakes up.
void TriggerUpdate(Books& books) {
  if (books.config.timed_passes && books.config.update_interval_ms > 0) books.due.update_ms = books.now_ms;
}

void Apply(Books& books, const ms::NodeAdded& event) {
  books.nodes.Add(event, books.config.include_port_in_node_name, books.names);
  ClusterChanged(books);
  TriggerUpdate(books);
}

void Apply(Books& books, const ms::NodeRemoved& event) {
  const NodeIndex id = event.node;
  if (!books.nodes.Alive(id)) return;
  const Ending lost{End::kKilled, model::kExitAborted, "Container released on a *lost* node"};
  for (const ContainerSlot slot :
       books.containers.InHashOrder(books.nodes[id].containers, books.nodes[id].most_containers)) {
    Complete(books, slot, lost);
    books.nodes.TakeOff(slot, true, books.containers);
    FreeIfGone(books, slot);
  }
  if (books.nodes[id].reserved.valid()) Complete(books, books.nodes[id].reserved, lost);
  books.nodes.Remove(id, books.names);
  for (const AttemptId attempt : books.promises.Drop(id)) Unpin(books, attempt);
  ClusterChanged(books);
  TriggerUpdate(books);
}

void Apply(Books& books, const ms::NodeResized& event) {
  if (!books.nodes.Alive(event.node)) return;
  books.nodes.Resize(event.node, event.capacity);
  ClusterChanged(books);
}

void Apply(Books& books, const ms::NodeSchedulable& event) {
  if (event.node.value < books.nodes.size()) books.nodes.SetSchedulable(event.node, event.schedulable);
}

}  // namespace fairlead::scheduler::yarn_fair
