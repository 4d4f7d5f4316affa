#include "base/prefetch.h"

#include "rm/core.h"

// What a heartbeat and its containers touch, brought near before the call: in a large cluster all of it has long left
// the cache since the node's last one.

namespace fairlead::rm {

void Nodes::Prefetch(model::NodeIndex index, int step) const {
  if (step == 0) return table_.PrefetchPlace(index);
  const Node* node = table_.Find(index);
  if (node == nullptr) return;
  if (step == 1) return base::PrefetchUpTo(node, &node->ip);
  if (step > 2) return;
  table_.PrefetchName(*node);
  node->running.Prefetch();
  base::Prefetch(node->forget.begin().get_ptr());
  base::Prefetch(node->running_apps.begin().get_ptr());
  base::Prefetch(node->finished_apps.begin().get_ptr());
}

void Core::Prefetch(model::NodeIndex index, int step) const { nodes_.Prefetch(index, step); }

void Core::Prefetch(model::AppIndex index, const model::ContainerId& container, int step) const {
  if (step == 0) return apps_.table().PrefetchPlace(index);
  const App* app = apps_.table().Find(index);
  if (app == nullptr) return;
  if (step == 1) return base::PrefetchUpTo(app, &app->submission.user);
  if (step == 2) {
    apps_.table().PrefetchId(*app);
    app->containers.PrefetchEntry(container);
    if (const Attempt* attempt = app->current()) base::PrefetchUpTo(attempt, &attempt->master);
  }
  if (step == 3) app->containers.PrefetchContainer(container);
}

void Core::Prefetch(model::AppIndex index, int step) const {
  if (step < 3) return Prefetch(index, {}, step);
  const App* app = apps_.table().Find(index);
  const Attempt* attempt = app ? app->current() : nullptr;
  if (attempt == nullptr) return;
  if (step == 3) {
    base::Prefetch(attempt->granted.data(), attempt->granted.size() * sizeof(model::ContainerId));
    base::Prefetch(attempt->just_finished.data(), attempt->just_finished.size() * sizeof(UntoldEnd));
    return base::Prefetch(attempt->told.data(), attempt->told.size() * sizeof(ToldEnd));
  }
  for (const model::ContainerId& id : attempt->granted) {
    if (step == 4) app->containers.PrefetchEntry(id);
    if (step == 5) app->containers.PrefetchContainer(id);
  }
  for (const ToldEnd& end : attempt->told) {
    if (step == 4) nodes_.table().PrefetchPlace(end.remembered_by);
    if (const Node* node = step == 5 ? nodes_.table().Find(end.remembered_by) : nullptr)
      base::PrefetchUpTo(node, &node->running);
  }
}

}  // namespace fairlead::rm
