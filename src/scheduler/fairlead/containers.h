#pragma once

#include <cstdint>
#include <vector>

#include "base/prefetch.h"
#include "base/slot_table.h"
#include "model/ids.h"

namespace fairlead::scheduler::native {

/// One container in the books: of its application, queue and node until it ends; one that was launched stays on its
/// node (only there) until the node reports its end.
struct Container {
  static constexpr uint32_t kNone = UINT32_MAX;
  int64_t cluster_timestamp = 0;
  int64_t value = 0;
  int64_t request_id = -1;
  int64_t granted_ns = 0;
  int32_t app_number = 0;
  int32_t attempt = 0;
  int32_t priority = 0;
  uint32_t app = kNone;  // slot; kNone: ended, and only the node has not yet said so
  uint32_t node = kNone;
  uint32_t shape = 0;
  uint32_t app_next = kNone, app_previous = kNone;
  uint32_t node_next = kNone, node_previous = kNone;
  int64_t preempt_ns = 0;  // when it will be taken back; 0: not chosen
  bool in_use = false;
  bool acquired = false;
  bool launched = false;
  bool is_master = false;

  model::ContainerId id() const { return {{{cluster_timestamp, app_number}, attempt}, value}; }
};

/// Containers by id: a pool of them, and a table of pool slots.
class ContainerTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// The slot of a new container with that id; the id is not yet there.
  uint32_t Add(const model::ContainerId& id);
  void Remove(uint32_t slot);
  uint32_t Find(const model::ContainerId& id) const {
    return table_.Find(Hash(id), [&](uint32_t slot) { return pool_[slot].id() == id; });
  }
  /// As Find, without a look at the container: it may be another one.
  uint32_t Likely(const model::ContainerId& id) const { return table_.Likely(Hash(id)); }
  /// Where Find begins to look.
  void PrefetchEntry(const model::ContainerId& id) const { table_.Prefetch(Hash(id)); }
  /// What Find finds, mostly; reads where PrefetchEntry asked for.
  void PrefetchLikely(const model::ContainerId& id) const {
    if (const uint32_t slot = Likely(id); slot != kNone) base::Prefetch(&pool_[slot], sizeof(Container));
  }
  Container& operator[](uint32_t slot) { return pool_[slot]; }
  const Container& operator[](uint32_t slot) const { return pool_[slot]; }
  size_t size() const { return table_.size(); }
  /// One past the largest slot ever used.
  uint32_t slots() const { return static_cast<uint32_t>(pool_.size()); }

 private:
  static uint32_t Hash(const model::ContainerId& id);

  std::vector<Container> pool_;
  std::vector<uint32_t> spare_;
  base::SlotTable table_;
};

}  // namespace fairlead::scheduler::native
