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

void ContainerTable::Insert(Entry entry) {
  size_t at = Home(entry);
  while (table_[at].slot != kNone) at = (at + 1) & (table_.size() - 1);
  table_[at] = entry;
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
  Insert({slot, Hash(id)});
  ++size_;
  return slot;
}

uint32_t ContainerTable::Find(const model::ContainerId& id) const {
  if (table_.empty()) return kNone;
  const uint32_t hash = Hash(id);
  const size_t mask = table_.size() - 1;
  for (size_t at = hash & mask; table_[at].slot != kNone; at = (at + 1) & mask) {
    if (table_[at].hash == hash && pool_[table_[at].slot].id() == id) return table_[at].slot;
  }
  return kNone;
}

uint32_t ContainerTable::Likely(const model::ContainerId& id) const {
  if (table_.empty()) return kNone;
  const uint32_t hash = Hash(id);
  const size_t mask = table_.size() - 1;
  size_t at = hash & mask;
  while (table_[at].slot != kNone && table_[at].hash != hash) at = (at + 1) & mask;
  return table_[at].slot;
}

void ContainerTable::Remove(uint32_t slot) {
  const size_t mask = table_.size() - 1;
  size_t hole = Hash(pool_[slot].id()) & mask;
  while (table_[hole].slot != slot) hole = (hole + 1) & mask;
  // Backward shift: an entry after the hole moves into it unless its home lies between them.
  for (size_t at = (hole + 1) & mask; table_[at].slot != kNone; at = (at + 1) & mask) {
    if (((at - Home(table_[at])) & mask) < ((at - hole) & mask)) continue;
    table_[hole] = table_[at];
    hole = at;
  }
  table_[hole] = Entry{};
  pool_[slot].in_use = false;
  spare_.push_back(slot);
  --size_;
}

void ContainerTable::Grow() {
  std::vector<Entry> old(table_.empty() ? 64 : table_.size() * 2);
  old.swap(table_);
  for (const Entry& entry : old) {
    if (entry.slot != kNone) Insert(entry);
  }
}

}  // namespace fairlead::scheduler::native
