#include "scheduler/fairlead/containers.h"

namespace fairlead::scheduler::native {

uint64_t ContainerTable::Hash(const model::ContainerId& id) {
  uint64_t hash = static_cast<uint64_t>(id.value) * 0x9e3779b97f4a7c15;
  hash ^= (static_cast<uint64_t>(static_cast<uint32_t>(id.attempt.app.number)) << 20) +
          static_cast<uint32_t>(id.attempt.attempt);
  hash *= 0xbf58476d1ce4e5b9;
  return hash ^ (hash >> 29);
}

uint32_t ContainerTable::Add(const model::ContainerId& id) {
  if ((size_ + 1) * 2 > table_.size()) Grow();
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
  size_t at = Hash(id) & (table_.size() - 1);
  while (table_[at] != kNone) at = (at + 1) & (table_.size() - 1);
  table_[at] = slot;
  ++size_;
  return slot;
}

uint32_t ContainerTable::Find(const model::ContainerId& id) const {
  if (table_.empty()) return kNone;
  for (size_t at = Hash(id) & (table_.size() - 1); table_[at] != kNone; at = (at + 1) & (table_.size() - 1)) {
    if (pool_[table_[at]].id() == id) return table_[at];
  }
  return kNone;
}

void ContainerTable::Remove(uint32_t slot) {
  const size_t mask = table_.size() - 1;
  size_t hole = Home(slot);
  while (table_[hole] != slot) hole = (hole + 1) & mask;
  // Backward shift: an entry after the hole moves into it unless its home lies between them.
  for (size_t at = (hole + 1) & mask; table_[at] != kNone; at = (at + 1) & mask) {
    const size_t home = Home(table_[at]);
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    table_[hole] = table_[at];
    hole = at;
  }
  table_[hole] = kNone;
  pool_[slot].in_use = false;
  spare_.push_back(slot);
  --size_;
}

void ContainerTable::Grow() {
  table_.assign(table_.empty() ? 64 : table_.size() * 2, kNone);
  for (uint32_t slot = 0; slot < pool_.size(); ++slot) {
    if (!pool_[slot].in_use) continue;
    size_t at = Home(slot);
    while (table_[at] != kNone) at = (at + 1) & (table_.size() - 1);
    table_[at] = slot;
  }
}

}  // namespace fairlead::scheduler::native
