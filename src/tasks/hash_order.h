#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

// Spark walks several of Scala 2.12's hash tables where the order shows in a decision (rack lists, tasks queued again
// after the loss of an executor, speculative copies, stages submitted together). These containers give the same orders,
// and so an order that is defined on every machine; they are ordinary O(1) hash tables otherwise.
// Source of the rules: scala.collection.mutable.HashTable and FlatHashTable of the Scala 2.12 library.

namespace fairlead::tasks {

/// java.lang.String.hashCode of a text in Latin characters (UTF-16 units = bytes; others are taken bytewise).
inline int32_t JavaHash(std::string_view text) {
  uint32_t hash = 0;
  for (const char c : text) hash = hash * 31 + static_cast<unsigned char>(c);
  return static_cast<int32_t>(hash);
}
/// Hash code of a Long: its low word when it fits an Int (scala's ##), else both words folded.
inline int32_t LongHash(int64_t value) {
  const int32_t low = static_cast<int32_t>(value);
  return low == value ? low : static_cast<int32_t>(static_cast<uint64_t>(value) ^ (static_cast<uint64_t>(value) >> 32));
}

namespace internal {
/// scala.util.hashing.byteswap32, then rotated by the table's seed (HashUtils.improve).
inline uint32_t ImproveHash(int32_t hash, int seed) {
  const uint32_t swapped = __builtin_bswap32(static_cast<uint32_t>(hash) * 0x9e3775cdU) * 0x9e3775cdU;
  return std::rotr(swapped, seed);
}
/// Position in a table of `table_size` (a power of two above 1): the upper bits of the improved hash.
inline size_t TableIndex(int32_t hash, size_t table_size, int seed) {
  return ImproveHash(hash, seed) >> (32 - std::popcount(table_size - 1));
}
}  // namespace internal

/// mutable.HashSet (FlatHashTable): open addressing, walked by table position. `Hash` gives Java's hash code of a key.
template <class Key, class Hash>
class HashOrderedSet {
 public:
  HashOrderedSet() { Reset(kInitialSize); }

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  bool Contains(const Key& key) const {
    for (size_t h = Home(key); used_[h]; h = Next(h)) {
      if (keys_[h] == key) return true;
    }
    return false;
  }

  /// False when it was there already.
  bool Insert(const Key& key) {
    if (!Place(key)) return false;
    if (size_ >= threshold_) Grow();
    return true;
  }

  /// False when it was not there. Entries behind move up as in Knuth's algorithm R (6.4).
  bool Erase(const Key& key) {
    size_t h = Home(key);
    while (used_[h] && !(keys_[h] == key)) h = Next(h);
    if (!used_[h]) return false;
    size_t hole = h;
    for (size_t at = Next(hole); used_[at]; at = Next(at)) {
      const size_t home = Home(keys_[at]);
      if (home != at && Precedes(home, hole)) {
        keys_[hole] = std::move(keys_[at]);
        hole = at;
      }
    }
    used_[hole] = 0;
    keys_[hole] = Key{};
    --size_;
    return true;
  }

  /// Empties it; the table keeps its size, as Scala's does.
  void Clear() { Reset(used_.size()); }

  /// The keys in the table's order. O(table).
  std::vector<Key> Keys() const {
    std::vector<Key> keys;
    keys.reserve(size_);
    ForEach([&](const Key& key) { keys.push_back(key); });
    return keys;
  }
  template <class Visitor>
  void ForEach(Visitor&& visit) const {
    for (size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) visit(keys_[i]);
    }
  }

 private:
  static constexpr size_t kInitialSize = 32;
  static constexpr size_t kLoadPerMille = 450;

  size_t Home(const Key& key) const {
    return internal::TableIndex(Hash{}(key), used_.size(), std::popcount(used_.size() - 1));
  }
  size_t Next(size_t h) const { return (h + 1) & (used_.size() - 1); }
  bool Precedes(size_t i, size_t j) const {
    const size_t half = used_.size() >> 1;
    return i <= j ? j - i < half : i - j > half;
  }
  bool Place(const Key& key) {
    size_t h = Home(key);
    for (; used_[h]; h = Next(h)) {
      if (keys_[h] == key) return false;
    }
    keys_[h] = key;
    used_[h] = 1;
    ++size_;
    return true;
  }
  void Reset(size_t table_size) {
    keys_.assign(table_size, Key{});
    used_.assign(table_size, 0);
    threshold_ = table_size * kLoadPerMille / 1000;
    size_ = 0;
  }
  void Grow() {
    std::vector<Key> keys = std::move(keys_);
    const std::vector<uint8_t> used = std::move(used_);
    Reset(used.size() * 2);
    for (size_t i = 0; i < used.size(); ++i) {
      if (used[i]) Place(std::move(keys[i]));
    }
  }

  std::vector<Key> keys_;
  std::vector<uint8_t> used_;
  size_t threshold_ = 0;
  size_t size_ = 0;
};

/// A name by its number, with the Java hash code of its text.
struct NamedKey {
  uint32_t id = UINT32_MAX;
  int32_t hash = 0;
  friend bool operator==(const NamedKey& a, const NamedKey& b) { return a.id == b.id; }
};
struct NamedKeyHash {
  int32_t operator()(const NamedKey& key) const { return key.hash; }
};
struct IntHash {
  int32_t operator()(int32_t value) const { return value; }
};
struct TaskIdHash {
  int32_t operator()(int64_t value) const { return LongHash(value); }
};
/// Objects without a hash code of their own: all alike, so that they are walked in order of insertion (but for the
/// table's wrap-around), as a JVM run with a constant identity hash does.
struct IdentityHash {
  int32_t operator()(int32_t) const { return 1; }
};

using NamedHashSet = HashOrderedSet<NamedKey, NamedKeyHash>;
using IntHashSet = HashOrderedSet<int32_t, IntHash>;
using TaskIdHashSet = HashOrderedSet<int64_t, TaskIdHash>;
using IdentityHashSet = HashOrderedSet<int32_t, IdentityHash>;

/// The order in which mutable.HashMap (HashTable: chains, newest first) walks its keys. Keys are small numbers that
/// stand for names; the hash code of the name comes along. Values are kept elsewhere.
class HashMapOrder {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  HashMapOrder() : heads_(kInitialSize, kNone) {}

  size_t size() const { return size_; }

  /// The key must not be in it.
  void Insert(uint32_t key, int32_t hash) {
    if (key >= nodes_.size()) nodes_.resize(key + 1);
    const size_t h = Home(hash);
    nodes_[key] = {.hash = hash, .next = heads_[h], .present = true};
    heads_[h] = key;
    last_ = h > last_ ? h : last_;
    if (++size_ > heads_.size() * kLoadPerMille / 1000) Grow();
  }
  void Erase(uint32_t key) {
    const size_t h = Home(nodes_[key].hash);
    uint32_t* link = &heads_[h];
    while (*link != key) link = &nodes_[*link].next;
    *link = nodes_[key].next;
    nodes_[key].present = false;
    --size_;
  }
  bool Contains(uint32_t key) const { return key < nodes_.size() && nodes_[key].present; }

  /// Visits keys in order until `visit` returns true; it may not change the map. Amortised O(visited) over erasures.
  template <class Visitor>
  bool Any(Visitor&& visit) {
    while (last_ > 0 && heads_[last_] == kNone) --last_;
    return AnyFrom(last_, visit);
  }
  template <class Visitor>
  bool Any(Visitor&& visit) const {
    return AnyFrom(last_, visit);
  }
  std::vector<uint32_t> Keys() const {
    std::vector<uint32_t> keys;
    keys.reserve(size_);
    Any([&](uint32_t key) {
      keys.push_back(key);
      return false;
    });
    return keys;
  }

 private:
  static constexpr size_t kInitialSize = 16;
  static constexpr size_t kLoadPerMille = 750;
  struct Node {
    int32_t hash = 0;
    uint32_t next = kNone;
    bool present = false;
  };

  /// Unlike the flat table, this one keeps the seed of its initial size when it grows.
  size_t Home(int32_t hash) const { return internal::TableIndex(hash, heads_.size(), std::popcount(kInitialSize - 1)); }
  template <class Visitor>
  bool AnyFrom(size_t start, Visitor&& visit) const {
    for (size_t i = start + 1; i-- > 0;) {
      for (uint32_t key = heads_[i]; key != kNone; key = nodes_[key].next) {
        if (visit(key)) return true;
      }
    }
    return false;
  }
  /// Old chains are walked from the table's end, and each entry goes to the front of its new chain.
  void Grow() {
    const std::vector<uint32_t> old = std::exchange(heads_, std::vector<uint32_t>(heads_.size() * 2, kNone));
    last_ = 0;
    for (size_t i = old.size(); i-- > 0;) {
      for (uint32_t key = old[i]; key != kNone;) {
        const uint32_t next = nodes_[key].next;
        const size_t h = Home(nodes_[key].hash);
        nodes_[key].next = heads_[h];
        heads_[h] = key;
        last_ = h > last_ ? h : last_;
        key = next;
      }
    }
  }

  std::vector<uint32_t> heads_;
  std::vector<Node> nodes_;  // by key
  size_t size_ = 0;
  size_t last_ = 0;  // no chain stands behind it
};

}  // namespace fairlead::tasks
