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
  if (container.app != kNone) base::Prefetch(&apps_[container.app], sizeof(apps_[container.app]));
  base::Prefetch(&nodes_[container.node], sizeof(nodes_[container.node]));
  for (const uint32_t beside :
       {container.app_next, container.app_previous, container.node_next, container.node_previous}) {
    if (beside != kNone) base::Prefetch(&containers_[beside], sizeof(containers_[beside]));
  }
}

}  // namespace fairlead::scheduler::native
