#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scheduler/hadoop/ids.h"
#include "scheduler/yarn_capacity/partitions.h"

namespace fairlead::scheduler::yarn_capacity {

struct Books;

/// A child of a parent, with what decides its place (PriorityQueueResourcesForSorting).
struct Rival {
  hadoop::QueueId id;
  uint32_t place = 0;  // among the parent's children
  float used = 0;
  float absolute_used = 0;
  float absolute = 0;
  int32_t priority = 0;
  bool accessible = true;
  bool has_minimum = false;
};

/// The children of each parent in the order in which it offers a node of a partition to them
/// (PriorityUtilizationQueueOrderingPolicy). Hadoop sorts them for every node; here an order is kept, and a child whose
/// use has changed moves to its new place: O(log children) comparisons, O(children) bytes moved. No part of the state:
/// an order that was forgotten is sorted again, O(children log children).
class ChildOrders {
 public:
  /// The child's use of the partition has changed. O(1).
  void Touch(hadoop::QueueId parent, hadoop::QueueId child, PartitionId partition);
  /// Anything else of queues may have changed.
  void Forget() { parents_.clear(); }
  /// Valid until the order of this parent is touched, or all are forgotten.
  std::span<const Rival> Of(const Books& books, hadoop::QueueId parent, PartitionId partition);
  /// Empty, or which of the kept orders sorting does not give. O(queues log queues).
  std::string Check(const Books& books) const;

 private:
  struct Order {
    std::vector<Rival> rivals;
    std::vector<hadoop::QueueId> touched;
    bool kept = false;  // else it is sorted when it is asked for
  };

  static void Move(const Books& books, hadoop::QueueId parent, PartitionId partition, Order& order);

  std::vector<std::vector<Order>> parents_;  // by QueueId, by PartitionId
};

/// PriorityUtilizationQueueOrderingPolicy.compare.
int CompareUse(double used_a, double used_b, int32_t priority_a, int32_t priority_b);

}  // namespace fairlead::scheduler::yarn_capacity
