#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/state.h"
#include "model/resources.h"
#include "scheduler/yarn_capacity/usage.h"

namespace fairlead::scheduler::yarn_capacity {

/// What a queue may have of one partition (QueueCapacities, QueueResourceQuotas). All floats are Java's floats.
struct Share {
  bool exists = false;
  float capacity = 0;  // of the parent
  float absolute = 0;
  float maximum = 0;
  float absolute_maximum = 0;
  float used = 0;  // of the guaranteed amount
  float absolute_used = 0;
  float master_percent = 0;
  float weight = -1;
  float normalized_weight = 0;
  Resources configured_min;
  Resources configured_max;
  Resources effective_min;
  Resources effective_max;
  FL_STATE(exists, capacity, absolute, maximum, absolute_maximum, used, absolute_used, master_percent, weight,
           normalized_weight, configured_min, configured_max, effective_min, effective_max)
};

/// A queue's shares by partition. Those of the root's default partition are the whole. O(1).
class Shares {
 public:
  Shares() = default;
  explicit Shares(bool root) : root_(root) {}

  const Share& operator[](PartitionId id) const {
    static const Share none;
    return id.value < all_.size() ? all_[id.value] : none;
  }
  /// To change; it exists from then on.
  Share& Of(PartitionId id) {
    if (id.value >= all_.size()) all_.resize(id.value + size_t{1});
    all_[id.value].exists = true;
    return all_[id.value];
  }
  bool Exists(PartitionId id) const { return id.value < all_.size() && all_[id.value].exists; }
  uint32_t partitions() const { return static_cast<uint32_t>(all_.size()); }

  float capacity(PartitionId id) const { return root_ && id == kNoLabel ? 1.0F : (*this)[id].capacity; }
  float absolute(PartitionId id) const { return root_ && id == kNoLabel ? 1.0F : (*this)[id].absolute; }

  /// QueueCapacities.clearConfigurableFields: normalized weights stay.
  void ClearConfigured() {
    for (Share& one : all_) {
      one.capacity = one.maximum = one.absolute = one.absolute_maximum = 0;
      one.weight = -1;
    }
  }
  FL_STATE(root_, all_)

 private:
  bool root_ = false;
  std::vector<Share> all_;  // by PartitionId
};

}  // namespace fairlead::scheduler::yarn_capacity
