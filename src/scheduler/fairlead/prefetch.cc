#include "base/prefetch.h"

#include "scheduler/fairlead/core.h"

// What the end of a container touches, brought near before it is told: in a large cluster all of it has long left the
// cache since the container was granted.

namespace fairlead::scheduler::native {

void Core::Prefetch(const model::ContainerId& id, int step) const {
  if (step == 0) return containers_.PrefetchEntry(id);
  const uint32_t index = containers_.Likely(id);
  if (index == kNone) return;
  const Container& container = containers_[index];
  if (step == 1) return base::Prefetch(&container, sizeof(container));
  const Node& node = nodes_[container.node];
  const App* app = container.app == kNone ? nullptr : &apps_[container.app];
  if (step == 2) {
    base::PrefetchUpTo(&node, &node.port);
    if (app) base::PrefetchUpTo(app, &app->pending);
    for (const uint32_t beside :
         {container.app_next, container.app_previous, container.node_next, container.node_previous}) {
      if (beside == kNone) continue;
      base::Prefetch(&containers_[beside].app_next);
      base::Prefetch(&containers_[beside].node_previous);
    }
    return;
  }
  if (step == 3) {
    PrefetchFree(container.node);
    base::Prefetch(&places_[node.host].waiters);
    base::Prefetch(&places_[node.rack].waiters);
  } else {
    base::Prefetch(places_[node.host].waiters.data());
    base::Prefetch(places_[node.rack].waiters.data());
  }
  if (!app) return;
  if (step == 3) return base::PrefetchUpTo(&queues_[app->leaf], &queues_[app->leaf].low);
  PrefetchOrder(container.app);
}

void Core::PrefetchFree(uint32_t index) const {
  const Node& node = nodes_[index];
  for (const auto& [partition, position] : node.places) partitions_[partition].index.Prefetch(position);
  if (const std::optional<Partition>& rack = racks_[node.rack]) rack->index.Prefetch(node.rack_position);
}

void Core::PrefetchOrder(uint32_t slot) const {
  if (!apps_[slot].starting) queues_[apps_[slot].leaf].order.Prefetch(apps_[slot].slot);
}

}  // namespace fairlead::scheduler::native
