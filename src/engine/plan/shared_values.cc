#include "engine/plan/shared_values.h"

namespace fairlead::engine {

DecodedBroadcasts& DecodedBroadcasts::Here() {
  static DecodedBroadcasts values;
  return values;
}

std::shared_ptr<const void> DecodedBroadcasts::Put(int64_t id, std::shared_ptr<const void> value) {
  const std::lock_guard lock(mutex_);
  return values_.emplace(id, std::move(value)).first->second;
}

std::shared_ptr<const void> DecodedBroadcasts::Find(int64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = values_.find(id);
  return found == values_.end() ? nullptr : found->second;
}

void DecodedBroadcasts::Forget(int64_t id) {
  const std::lock_guard lock(mutex_);
  values_.erase(id);
}

}  // namespace fairlead::engine
