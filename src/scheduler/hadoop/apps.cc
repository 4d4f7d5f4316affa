#include "scheduler/hadoop/apps.h"

#include <utility>

#include "scheduler/hadoop/calculator.h"

namespace fairlead::scheduler::hadoop {

void Apps::Add(AppIndex index, App app) {
  if (apps_.size() <= index.value) apps_.resize(index.value + size_t{1});
  ids_[app.id] = index;
  apps_[index.value] = std::move(app);
  apps_[index.value].alive = true;
}

void Apps::Remove(AppIndex index) {
  App& app = apps_[index.value];
  app.alive = false;
  app.user.clear();
  app.groups.clear();
  const auto it = ids_.find(app.id);
  if (it != ids_.end() && it->second == index) ids_.erase(it);
}

void Apps::Mix(base::StateHasher& hash) const {
  for (const App& app : apps_) {
    hash.Mix(uint64_t{app.alive} * 2 + uint64_t{app.unmanaged});
    hash.Mix(static_cast<uint64_t>(app.id.cluster_timestamp));
    hash.Mix(static_cast<uint64_t>(app.id.number));
    hash.Mix(std::string_view(app.user));
    for (const std::string& group : app.groups) hash.Mix(std::string_view(group));
    hash.Mix(app.queue.value);
    hash.Mix(app.current.value);
  }
}

void Master::Mix(base::StateHasher& hash) const {
  hash.Mix(uint64_t{unmanaged_} * 4 + uint64_t{running_} * 2 + uint64_t{known_});
  hadoop::Mix(hash, size_);
}

}  // namespace fairlead::scheduler::hadoop
