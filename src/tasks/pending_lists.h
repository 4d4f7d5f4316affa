#pragma once

#include <cstdint>
#include <vector>

#include "tasks/hash_order.h"

namespace fairlead::tasks {

/// A stack of task indices; may hold stale entries, which go when they are met from the end.
using TaskStack = std::vector<int32_t>;

/// One stack per name (executor, host or rack), walked in the order of Spark's hash map. A name may be in it with an
/// empty stack: Spark drops names only in the walk of the allowed level.
class StackMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  bool empty() const { return order_.size() == 0; }
  size_t size() const { return order_.size(); }

  /// The stack of `key`, made when missing; `hash` is the hash code of the name.
  TaskStack& Make(uint32_t key, int32_t hash) {
    if (key >= slots_.size()) slots_.resize(key + 1, kNone);
    if (slots_[key] == kNone) {
      slots_[key] = static_cast<uint32_t>(stacks_.size());
      stacks_.emplace_back();
    }
    if (!order_.Contains(key)) order_.Insert(key, hash);
    return stacks_[slots_[key]];
  }
  /// The stack of `key`, or null.
  TaskStack* Find(uint32_t key) {
    return key < slots_.size() && slots_[key] != kNone ? &stacks_[slots_[key]] : nullptr;
  }
  const TaskStack* Find(uint32_t key) const { return const_cast<StackMap*>(this)->Find(key); }

  /// Drops the name; its stack must be empty.
  void Drop(uint32_t key) { order_.Erase(key); }

  /// Visits (name, stack) in order until `visit` returns true.
  template <class Visitor>
  bool Any(Visitor&& visit) {
    return order_.Any([&](uint32_t key) { return visit(key, stacks_[slots_[key]]); });
  }
  template <class Visitor>
  bool AnyName(Visitor&& visit) const {
    return order_.Any(visit);
  }
  std::vector<uint32_t> Names() const { return order_.Keys(); }

 private:
  HashMapOrder order_;
  std::vector<uint32_t> slots_;  // by name; stays when the name is dropped
  std::vector<TaskStack> stacks_;
};

/// What waits, by how close it would run (Spark: PendingTasksByLocality). Tasks are pushed from the highest index to
/// the lowest and taken from the end.
struct PendingLists {
  StackMap by_executor;
  StackMap by_host;
  StackMap by_rack;
  TaskStack no_preference;
  TaskStack all;
};

}  // namespace fairlead::tasks
