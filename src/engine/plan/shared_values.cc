#include "engine/plan/shared_values.h"

#include <map>
#include <mutex>

namespace fairlead::engine {

namespace {

struct Values {
  std::mutex mutex;
  std::map<int64_t, std::shared_ptr<const void>> of_id;
};

Values& Here() {
  static Values values;
  return values;
}

}  // namespace

std::shared_ptr<const void> DecodedBroadcasts::Put(int64_t id, std::shared_ptr<const void> value) {
  const std::lock_guard lock(Here().mutex);
  return Here().of_id.emplace(id, std::move(value)).first->second;
}

std::shared_ptr<const void> DecodedBroadcasts::Find(int64_t id) {
  const std::lock_guard lock(Here().mutex);
  const auto found = Here().of_id.find(id);
  return found == Here().of_id.end() ? nullptr : found->second;
}

void DecodedBroadcasts::Forget(int64_t id) {
  const std::lock_guard lock(Here().mutex);
  Here().of_id.erase(id);
}

void Counter::Add(int64_t amount) const {
  if (TaskContext* const task = TaskContext::Current()) task->counters[id] += amount;
}

}  // namespace fairlead::engine
