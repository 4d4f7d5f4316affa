#include "base/prefetch.h"

#include "rm/core.h"

// What a heartbeat and its containers touch, brought near before the call: in a large cluster all of it has long left
// the cache since the node's last one.

namespace fairlead::rm {

void Core::Prefetch(model::NodeIndex index, int step) const {
  const Node* node = NodeAt(index);
  if (node == nullptr) return;
  if (step == 0) base::Prefetch(node, sizeof(Node));
  if (step == 1) node->running.Prefetch();
}

void Core::Prefetch(model::AppIndex index, const model::ContainerId& container, int step) const {
  const App* app = apps_.Find(index);
  if (app == nullptr) return;
  if (step == 0) return base::PrefetchUpTo(app, &app->submission);
  if (step == 2) return app->containers.PrefetchContainer(container);
  app->containers.PrefetchEntry(container);
  if (const Attempt* attempt = app->current()) base::PrefetchUpTo(attempt, &attempt->master);
}

}  // namespace fairlead::rm
