#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "base/time.h"
#include "model/resources.h"
#include "scheduler/books/ids.h"
#include "scheduler/shared/pool.h"

namespace fairlead::scheduler::native {

/// What makes asks interchangeable when a node is looked for.
struct ShapeKey {
  model::Resources size;
  LabelId label;  // not valid: nodes without a label
  friend bool operator<(const ShapeKey& a, const ShapeKey& b) {
    return std::tie(a.size.amount, a.label) < std::tie(b.size.amount, b.label);
  }
  FL_STATE(size, label)
};

struct Shape : ShapeKey {
  bool in_use = false;
  bool blocked = false;  // no node has room
  /// No node outside `candidates` has room: the shape was blocked once, and these have got room since.
  bool exact = false;
  uint8_t shape_class = 0;
  uint32_t uses = 0;    // asks and containers
  uint32_t wanted = 0;  // asks that wait for one
  base::Instant blocked_since{};
  std::vector<NodeIndex> candidates;
  FL_STATE(size, label, in_use, blocked, exact, shape_class, uses, wanted, blocked_since, candidates)
};

/// All sizes (with labels) that containers have or asks want. Wanted shapes share 64 classes, one each until there are
/// more: a set of classes fits into a word. Knows which classes some node may have room for, and of each shape whether
/// no node, or one of few nodes, has room. O(log shapes) to find one by its key, else O(1) unless stated.
class Shapes {
 public:
  const Shape& operator[](ShapeId shape) const { return shapes_[shape]; }
  bool Knows(const ShapeKey& key) const { return by_key_.contains(key); }
  /// The shape of that key, known or new; whoever keeps the number uses it.
  ShapeId For(const ShapeKey& key);
  void Use(ShapeId shape) { ++shapes_[shape].uses; }
  /// One use less; the last one forgets the shape, which nobody wants then.
  void Drop(ShapeId shape);

  /// One ask more waits for the shape. Gives the classes that mean another shape than before: what was known about them
  /// is void.
  uint64_t Want(ShapeId shape);
  void Unwant(ShapeId shape);
  /// Classes with a shape that some node may have room for.
  uint64_t servable() const { return servable_; }
  uint64_t ClassOf(ShapeId shape) const { return uint64_t{1} << shapes_[shape].shape_class; }
  /// No other wanted shape is of its class.
  bool AloneInClass(ShapeId shape) const { return wanted_in_class_[shapes_[shape].shape_class] == 1; }

  /// No node has room. The shape is wanted and not blocked.
  void Block(ShapeId shape, base::Instant now);
  /// Its time in the queue for a reservation begins again.
  void Postpone(ShapeId shape, base::Instant now) { shapes_[shape].blocked_since = now; }
  /// The node has got room for a blocked or exact shape. O(candidates).
  void Offer(ShapeId shape, NodeIndex node);
  /// Blocked and exact ones; the order is part of the state.
  const std::vector<ShapeId>& tight() const { return tight_; }
  /// Asks of another shape, smaller in some type, can take what is freed before it is enough. O(shapes).
  bool MayBePassed(ShapeId shape, size_t types) const;

  Pool<Shape, ShapeTag>::Iterator begin() const { return shapes_.begin(); }
  Pool<Shape, ShapeTag>::Iterator end() const { return shapes_.end(); }
  size_t size() const { return shapes_.size(); }
  /// Compares with uses and wanting asks counted by shape; empty when all agree.
  std::string Check(const std::vector<uint32_t>& uses, const std::vector<uint32_t>& wanted) const;
  void Mix(base::StateHasher& hash) const;
  FL_STATE(shapes_, by_key_, tight_, wanted_in_class_, open_in_class_, servable_)

 private:
  void Unblock(ShapeId shape);
  /// The search goes through the index of all nodes again.
  void Loosen(ShapeId shape);

  static constexpr size_t kClasses = 64;
  Pool<Shape, ShapeTag> shapes_;
  std::map<ShapeKey, ShapeId> by_key_;
  std::vector<ShapeId> tight_;
  std::array<uint32_t, kClasses> wanted_in_class_{};  // shapes
  std::array<uint32_t, kClasses> open_in_class_{};    // of them, those that are not blocked
  uint64_t servable_ = 0;
};

}  // namespace fairlead::scheduler::native
