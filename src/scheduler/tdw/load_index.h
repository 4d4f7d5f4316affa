#pragma once

#include <array>
#include <cstdint>

#include "base/state.h"
#include "model/resources.h"
#include "scheduler/books/books.h"
#include "scheduler/shared/free_index.h"
#include "scheduler/tdw/task_types.h"

namespace fairlead::scheduler::tdw {

using native::NodeIndex;

/// Nodes by number, with what they have free of every resource type and, for each task type, how far their load is
/// below all loads. The load of a node is its granted tasks of the type by its vcores.
class LoadIndex {
 public:
  /// `untested`: the number of a resource type that nodes never lack.
  LoadIndex(size_t types, size_t untested) : types_(types), untested_(untested), index_(types + kTaskTypes) {}

  /// The node takes containers and has so much free. O(log nodes).
  void Set(NodeIndex node, const model::Resources& free, const Counts& granted, int64_t vcores);
  void Close(NodeIndex node);
  /// One past the largest node.
  uint32_t size() const { return static_cast<uint32_t>(index_.size()); }

  /// The first node from `from` on with so much free, or FreeIndex::kNone.
  uint32_t FindFrom(uint32_t from, const model::Resources& need) const { return index_.FindFrom(from, Row(need)); }
  /// The same among those whose load of the type may be below granted/vcores; the caller looks exactly.
  uint32_t FindBelow(uint32_t from, const model::Resources& need, TaskType type, int64_t granted, int64_t vcores) const;

  /// The node takes containers and has so much free.
  bool Holds(NodeIndex node, const model::Resources& need) const {
    return node.value < index_.size() && index_.Holds(node.value, Row(need));
  }

  void Prefetch(NodeIndex node) const {
    if (node.value < index_.size()) index_.Prefetch(node.value);
  }
  bool Consistent() const { return index_.Consistent(); }
  FL_STATE(types_, untested_, index_)

 private:
  FreeIndex::Row Row(const model::Resources& amounts) const {
    FreeIndex::Row row{};
    for (size_t t = 0; t < types_; ++t) row[t] = t == untested_ ? 0 : amounts[t];
    return row;
  }
  void Grow(NodeIndex node) {
    while (index_.size() <= node.value) index_.Add();
  }

  size_t types_;
  size_t untested_;
  FreeIndex index_;
};

}  // namespace fairlead::scheduler::tdw
