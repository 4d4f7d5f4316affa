#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/prefetch.h"
#include "base/state.h"
#include "scheduler/shared/pool.h"

namespace fairlead::scheduler {

/// Place of a child in its parent's order: smaller tier first, then smaller num/den (compared exactly by cross products
/// of at most 46 + 80 bits), then smaller tie.
struct OrderKey {
  int32_t tier = 0;
  uint32_t tie = 0;
  uint64_t num = 0;           // below 2^46
  unsigned __int128 den = 1;  // above 0, below 2^80

  friend bool operator<(const OrderKey& a, const OrderKey& b) {
    using Wide = unsigned __int128;
    // The usual case without a branch on which is smaller: nobody could foretell that.
    if (((a.den ^ b.den) | static_cast<uint32_t>(a.tier ^ b.tier)) == 0) [[likely]]
      return (Wide{a.num} << 64 | a.tie) < (Wide{b.num} << 64 | b.tie);
    if (a.tier != b.tier) return a.tier < b.tier;
    const Wide left = b.den * a.num;
    const Wide right = a.den * b.num;
    if (left != right) return left < right;
    return a.tie < b.tie;
  }
  friend bool operator==(const OrderKey&, const OrderKey&) = default;
  FL_STATE(tier, tie, num, den)
};

/// Keeps children in order as a winner tree in flat arrays. Each child carries a set of up to 64 classes of requests
/// that it waits for; a query names the classes that can be served now and gets the first child in order that waits for
/// one of them. An update costs O(log n); a query costs O(1) when the first child qualifies, and otherwise looks, level
/// by level, only at subtrees that have a servable class and whose first child comes before the best one found.
class Tournament {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// A new child without classes; `item` is the caller's name for it. Returns its slot.
  uint32_t Add(uint32_t item);
  /// Frees the slot.
  void Remove(uint32_t slot);
  /// Moves the child to `key` with `classes`.
  void Update(uint32_t slot, const OrderKey& key, uint64_t classes) {
    OrderKey& to = keys_[slot];  // by field: see scheduler/fairlead/keys.h
    to.tier = key.tier;
    to.tie = key.tie;
    to.num = key.num;
    to.den = key.den;
    Play(slot, classes);
  }

  uint32_t item(uint32_t slot) const { return items_[slot]; }
  const OrderKey& key(uint32_t slot) const { return keys_[slot]; }
  uint64_t classes(uint32_t slot) const { return nodes_[capacity_ + slot].classes; }
  /// Classes of all children.
  uint64_t classes() const { return nodes_.size() < 2 ? 0 : nodes_[1].classes; }
  /// The item of the first child in order with a class in `servable`, or kNone.
  uint32_t First(uint64_t servable) const {
    if (!(classes() & servable)) return kNone;
    return items_[FirstBelow(1, servable, kNone)];
  }
  /// Slots in use and free ones; an unused slot's item is kNone.
  size_t slots() const { return items_.size(); }
  /// Brings near what Update of the child reads and writes; near the top that is the same for all and near anyway.
  void Prefetch(uint32_t slot) const {
    constexpr int kMatches = 4;
    base::Prefetch(&keys_[slot]);
    size_t node = capacity_ + slot;
    for (int match = 0; match < kMatches && node > 1; ++match, node /= 2) base::Prefetch(&nodes_[node]);
  }
  /// Recomputes every match and compares; false when an update was missed.
  bool Consistent() const;
  FL_STATE(capacity_, nodes_, keys_, items_, slots_)

 private:
  struct Node {
    uint64_t classes = 0;
    uint32_t winner = kNone;  // slot; of the children with any class
    FL_STATE(classes, winner)
  };
  uint32_t Better(uint32_t a, uint32_t b) const {
    if (a == kNone) return b;
    if (b == kNone) return a;
    return keys_[b] < keys_[a] ? b : a;
  }
  /// The matches of a child whose key is new.
  void Play(uint32_t slot, uint64_t classes);
  /// The first servable child below the node, which has one, if it comes before `best`; else `best`.
  uint32_t FirstBelow(size_t node, uint64_t servable, uint32_t best) const;
  void Grow();
  Node Match(size_t node) const;

  size_t capacity_ = 0;  // leaves, a power of two
  std::vector<Node> nodes_;
  std::vector<OrderKey> keys_;
  std::vector<uint32_t> items_;
  FreeList slots_;
};

}  // namespace fairlead::scheduler
