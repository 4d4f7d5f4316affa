#pragma once

#include <cstdint>
#include <vector>

#include "base/prefetch.h"
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

/// Containers by id: a pool, and an open-addressing table of pool slots (linear probing, half full at most; up to 2^31
/// containers).
class ContainerTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// The slot of a new container with that id; the id is not yet there.
  uint32_t Add(const model::ContainerId& id);
  void Remove(uint32_t slot);
  uint32_t Find(const model::ContainerId& id) const;
  /// As Find, without a look at the container: it may be another one.
  uint32_t Likely(const model::ContainerId& id) const;
  /// Where Find begins to look.
  void PrefetchEntry(const model::ContainerId& id) const {
    if (!table_.empty()) base::Prefetch(&table_[Hash(id) & (table_.size() - 1)]);
  }
  Container& operator[](uint32_t slot) { return pool_[slot]; }
  const Container& operator[](uint32_t slot) const { return pool_[slot]; }
  size_t size() const { return size_; }
  /// One past the largest slot ever used.
  uint32_t slots() const { return static_cast<uint32_t>(pool_.size()); }

 private:
  static uint32_t Hash(const model::ContainerId& id);
  /// Half of the hash stands beside the slot: probing and moving touch the pool only for a likely match.
  struct Entry {
    uint32_t slot = kNone;
    uint32_t hash = 0;
  };
  size_t Home(const Entry& entry) const { return entry.hash & (table_.size() - 1); }
  void Insert(Entry entry);
  void Grow();

  std::vector<Container> pool_;
  std::vector<uint32_t> spare_;
  std::vector<Entry> table_;
  size_t size_ = 0;
};

}  // namespace fairlead::scheduler::native
