#include "rm/container_maxima.h"

#include <algorithm>
#include <cstdint>

#include "rm/access.h"

namespace fairlead::rm {

ContainerMaxima::ContainerMaxima(const model::QueueTree& tree) {
  for (const model::QueueConfig& queue : tree.queues) {
    const auto& set = queue.max_container_allocation;
    if (!set || set->absolute.empty() || !set->percent.empty()) continue;
    model::Resources& most = by_queue_[FullQueueName(queue.name)];
    for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
      const auto amount = set->absolute.find(std::string(model::ResourceTypes::Name(type)));
      most[type] = amount == set->absolute.end() ? INT64_MAX : amount->second;
    }
  }
}

model::Resources ContainerMaxima::Within(model::Resources maximum, std::string_view queue) const {
  if (by_queue_.empty()) return maximum;
  std::string name = FullQueueName(queue);
  auto found = by_queue_.find(name);
  while (found == by_queue_.end()) {
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos) return maximum;
    name.resize(dot);
    found = by_queue_.find(name);
  }
  for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
    maximum[type] = std::min(maximum[type], found->second[type]);
  }
  return maximum;
}

}  // namespace fairlead::rm
