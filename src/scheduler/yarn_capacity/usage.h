#pragma once

#include <cstdint>
#include <vector>

#include "base/state.h"
#include "model/resources.h"
#include "scheduler/hadoop/calculator.h"
#include "scheduler/hadoop/ids.h"

namespace fairlead::scheduler::yarn_capacity {

using hadoop::kNoLabel;
using hadoop::PartitionId;
using model::Resources;

/// Amounts of one queue, user or application by partition (ResourceUsage): used, pending, reserved, of masters, the
/// limit of masters. A partition exists once anything of it was set. O(1).
class Usage {
 public:
  const Resources& used(PartitionId id) const { return Of(id).used; }
  const Resources& pending(PartitionId id) const { return Of(id).pending; }
  const Resources& reserved(PartitionId id) const { return Of(id).reserved; }
  const Resources& masters(PartitionId id) const { return Of(id).masters; }
  const Resources& master_limit(PartitionId id) const { return Of(id).master_limit; }

  void AddUsed(PartitionId id, const Resources& by) { Make(id).used += by; }
  void AddPending(PartitionId id, const Resources& by) { Make(id).pending += by; }
  void AddReserved(PartitionId id, const Resources& by) { Make(id).reserved += by; }
  void AddMasters(PartitionId id, const Resources& by) { Make(id).masters += by; }
  void SetMasters(PartitionId id, const Resources& to) { Make(id).masters = to; }
  void SetMasterLimit(PartitionId id, const Resources& to) { Make(id).master_limit = to; }

  /// The default partition always does.
  bool Exists(PartitionId id) const { return id == kNoLabel || (id.value < all_.size() && all_[id.value].exists); }
  /// One past the largest that exists.
  uint32_t partitions() const { return all_.empty() ? 1 : static_cast<uint32_t>(all_.size()); }
  /// Memory over all partitions.
  int64_t used_memory() const {
    int64_t sum = 0;
    for (const Amounts& one : all_) sum += one.used[0];
    return sum;
  }
  int64_t pending_memory() const {
    int64_t sum = 0;
    for (const Amounts& one : all_) sum += one.pending[0];
    return sum;
  }
  FL_STATE(all_)

 private:
  struct Amounts {
    bool exists = false;
    Resources used;
    Resources pending;
    Resources reserved;
    Resources masters;
    Resources master_limit;
    FL_STATE(exists, used, pending, reserved, masters, master_limit)
  };
  static const Amounts& Nothing() {
    static const Amounts nothing;
    return nothing;
  }
  const Amounts& Of(PartitionId id) const { return id.value < all_.size() ? all_[id.value] : Nothing(); }
  Amounts& Make(PartitionId id) {
    if (id.value >= all_.size()) all_.resize(id.value + size_t{1});
    all_[id.value].exists = true;
    return all_[id.value];
  }

  std::vector<Amounts> all_;  // by PartitionId
};

}  // namespace fairlead::scheduler::yarn_capacity
