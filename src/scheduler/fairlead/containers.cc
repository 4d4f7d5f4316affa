#include "scheduler/fairlead/containers.h"

namespace fairlead::scheduler::native {

/// Eight containers that follow each other in an application share a cache line of the table.
uint32_t ContainerTable::Hash(const model::ContainerId& id) {
  const auto value = static_cast<uint64_t>(id.value);
  uint64_t hash = (value >> 3) * 0x9e3779b97f4a7c15;
  hash ^= (static_cast<uint64_t>(static_cast<uint32_t>(id.attempt.app.number)) << 20) +
          static_cast<uint32_t>(id.attempt.attempt);
  hash *= 0xbf58476d1ce4e5b9;
  return static_cast<uint32_t>(hash >> 32 << 3 | (value & 7));
}

uint32_t ContainerTable::Add(const model::ContainerId& id) {
  uint32_t slot;
  if (spare_.empty()) {
    slot = static_cast<uint32_t>(pool_.size());
    pool_.emplace_back();
  } else {
    slot = spare_.back();
    spare_.pop_back();
    pool_[slot] = Container{};
  }
  Container& container = pool_[slot];
  container.in_use = true;
  container.cluster_timestamp = id.attempt.app.cluster_timestamp;
  container.app_number = id.attempt.app.number;
  container.attempt = id.attempt.attempt;
  container.value = id.value;
  table_.Add(Hash(id), slot);
  return slot;
}

void ContainerTable::Remove(uint32_t slot) {
  table_.Remove(Hash(pool_[slot].id()), slot);
  pool_[slot].in_use = false;
  spare_.push_back(slot);
}

}  // namespace fairlead::scheduler::native
