#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/state.h"

// What the decisions of Hadoop's FairScheduler owe to the Java platform: casts, String.hashCode and compareTo, and the
// orders in which java.util's collections hand out their elements (Java SE 17 API documentation and the published
// algorithms of HashMap, ConcurrentHashMap, TreeMap, PriorityQueue). Bins turned into trees (eight or more elements of
// one bin) are not modelled: ids and names of a cluster spread too well for that.

namespace fairlead::scheduler::hadoop::java {

/// (long) x: truncates towards zero, saturates, NaN gives 0.
inline int64_t ToLong(double x) {
  if (x != x) return 0;
  if (x >= 9223372036854775808.0) return INT64_MAX;
  if (x <= -9223372036854775808.0) return INT64_MIN;
  return static_cast<int64_t>(x);
}
/// (int) x.
inline int32_t ToInt(double x) {
  if (x != x) return 0;
  if (x >= 2147483647.0) return INT32_MAX;
  if (x <= -2147483648.0) return INT32_MIN;
  return static_cast<int32_t>(x);
}
/// Math.round: halves go up, NaN gives 0. Not floor(x + 0.5), which takes what lies just below a half up, too.
inline int64_t Round(double x) {
  const double below = std::floor(x);
  return ToLong(x - below >= 0.5 ? below + 1 : below);
}
/// (int) Math.signum(x): NaN gives 0.
inline int Sign(double x) { return x > 0 ? 1 : (x < 0 ? -1 : 0); }

/// String.hashCode of a UTF-8 text (over its UTF-16 code units).
int32_t HashOfString(std::string_view text);
/// Objects' own hashCode recipes (31 * a + b and the like) wrap around.
inline int32_t Wrap(uint32_t x) { return static_cast<int32_t>(x); }
/// Long.hashCode.
inline int32_t HashOfLong(int64_t x) {
  return static_cast<int32_t>(static_cast<uint64_t>(x) ^ (static_cast<uint64_t>(x) >> 32));
}
/// String.compareTo: by UTF-16 code units.
int CompareStrings(std::string_view a, std::string_view b);

inline uint32_t Spread(int32_t hash) {
  const auto h = static_cast<uint32_t>(hash);
  return h ^ (h >> 16);
}

/// Table size of a HashMap or HashSet that never held more than `most` elements (it starts at 16, doubles when more
/// than three quarters full and never shrinks).
inline uint32_t HashCapacity(size_t most) {
  uint32_t capacity = 16;
  while (most > capacity / 4 * 3) capacity *= 2;
  return capacity;
}

/// Iteration order of a HashMap whose keys, in order of insertion, have these hash codes: positions into `hashes`.
std::vector<uint32_t> HashOrder(std::span<const int32_t> hashes, uint32_t capacity);

/// In-order sequence of a TreeSet after adding 0 .. count-1 in this order. `compare(new, old)` need not be an order:
/// the red-black tree is built as TreeMap builds it, so what comes out (and what is dropped as equal) is the same.
std::vector<uint32_t> TreeOrder(uint32_t count, const std::function<int(uint32_t, uint32_t)>& compare);

/// Arrays.sort(T[], Comparator) for fewer than 32 elements: TimSort's first run and binary insertion.
template <class T, class Compare>
void SortSmall(std::span<T> a, Compare compare) {
  const size_t n = a.size();
  if (n < 2) return;
  size_t run = 2;
  if (compare(a[1], a[0]) < 0) {
    while (run < n && compare(a[run], a[run - 1]) < 0) ++run;
    for (size_t i = 0, j = run - 1; i < j; ++i, --j) std::swap(a[i], a[j]);
  } else {
    while (run < n && compare(a[run], a[run - 1]) >= 0) ++run;
  }
  for (size_t start = run; start < n; ++start) {
    const T pivot = a[start];
    size_t left = 0;
    size_t right = start;
    while (left < right) {
      const size_t middle = (left + right) / 2;
      if (compare(pivot, a[middle]) < 0) {
        right = middle;
      } else {
        left = middle + 1;
      }
    }
    for (size_t i = start; i > left; --i) a[i] = a[i - 1];
    a[left] = pivot;
  }
}

/// java.util.PriorityQueue (and PriorityBlockingQueue): a binary heap whose order among "equals", or under a comparator
/// that is no order, is that of its sift loops. `compare` is handed in per call: it may look at changing state.
template <class T>
class PriorityQueue {
 public:
  bool empty() const { return heap_.empty(); }
  const std::vector<T>& items() const { return heap_; }

  template <class Compare>
  void Add(T item, Compare compare) {
    size_t k = heap_.size();
    heap_.push_back(item);
    while (k > 0) {
      const size_t parent = (k - 1) / 2;
      if (compare(item, heap_[parent]) >= 0) break;
      heap_[k] = heap_[parent];
      k = parent;
    }
    heap_[k] = item;
  }

  template <class Compare>
  T Poll(Compare compare) {
    T first = heap_.front();
    T item = heap_.back();
    heap_.pop_back();
    const size_t n = heap_.size();
    if (n == 0) return first;
    size_t k = 0;
    while (k < n / 2) {
      size_t child = 2 * k + 1;
      if (child + 1 < n && compare(heap_[child], heap_[child + 1]) > 0) ++child;
      if (compare(item, heap_[child]) <= 0) break;
      heap_[k] = heap_[child];
      k = child;
    }
    heap_[k] = item;
    return first;
  }
  FL_STATE(heap_)

 private:
  std::vector<T> heap_;
};

/// A hash table that iterates as java.util.concurrent.ConcurrentHashMap does: bins in order, a bin in order of
/// insertion until a resize, which turns parts of it around. Finding costs one probe of the bin.
template <class Key, class Value>
class ConcurrentMap {
 public:
  static constexpr int32_t kNone = -1;

  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }

  int32_t Find(const Key& key, int32_t hash) const {
    if (heads_.empty()) return kNone;
    for (int32_t i = heads_[Bin(hash)]; i != kNone; i = entries_[i].next) {
      if (entries_[i].key == key) return i;
    }
    return kNone;
  }
  Value& at(int32_t slot) { return entries_[slot].value; }
  const Value& at(int32_t slot) const { return entries_[slot].value; }
  const Key& key(int32_t slot) const { return entries_[slot].key; }

  /// Adds a key that is not there; gives its slot, which stays until Remove.
  int32_t Insert(const Key& key, int32_t hash, Value value) {
    if (heads_.empty()) heads_.assign(16, kNone);
    int32_t slot = free_;
    if (slot != kNone) {
      free_ = entries_[slot].next;
      entries_[slot] = {key, hash, kNone, std::move(value)};
    } else {
      slot = static_cast<int32_t>(entries_.size());
      entries_.push_back({key, hash, kNone, std::move(value)});
    }
    int32_t* link = &heads_[Bin(hash)];
    while (*link != kNone) link = &entries_[*link].next;
    *link = slot;
    ++count_;
    while (count_ >= heads_.size() / 4 * 3) Grow();
    return slot;
  }

  void Remove(int32_t slot) {
    int32_t* link = &heads_[Bin(entries_[slot].hash)];
    while (*link != slot) link = &entries_[*link].next;
    *link = entries_[slot].next;
    entries_[slot].value = Value{};
    entries_[slot].next = free_;
    free_ = slot;
    --count_;
  }

  void Clear() { *this = ConcurrentMap(); }

  /// Calls visit(key, value) in iteration order.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const int32_t head : heads_) {
      for (int32_t i = head; i != kNone; i = entries_[i].next) visit(entries_[i].key, entries_[i].value);
    }
  }
  FL_STATE(heads_, entries_, free_, count_)

 private:
  struct Entry {
    Key key;
    int32_t hash;
    int32_t next;
    Value value;
    FL_STATE(key, hash, next, value)
  };
  size_t Bin(int32_t hash) const { return Spread(hash) & (heads_.size() - 1); }

  /// transfer(): the tail of a bin whose elements all go to one side keeps its order; each element before it is put in
  /// front of its side, one by one.
  void Grow() {
    const auto n = static_cast<uint32_t>(heads_.size());
    std::vector<int32_t> grown(heads_.size() * 2, kNone);
    for (uint32_t bin = 0; bin < n; ++bin) {
      const int32_t first = heads_[bin];
      if (first == kNone) continue;
      int32_t last_run = first;
      uint32_t run_side = Spread(entries_[first].hash) & n;
      for (int32_t i = entries_[first].next; i != kNone; i = entries_[i].next) {
        const uint32_t side = Spread(entries_[i].hash) & n;
        if (side != run_side) {
          run_side = side;
          last_run = i;
        }
      }
      int32_t& low = grown[bin];
      int32_t& high = grown[bin + n];
      (run_side == 0 ? low : high) = last_run;
      for (int32_t i = first; i != last_run;) {
        const int32_t next = entries_[i].next;
        int32_t& side = (Spread(entries_[i].hash) & n) == 0 ? low : high;
        entries_[i].next = side;
        side = i;
        i = next;
      }
    }
    heads_ = std::move(grown);
  }

  std::vector<int32_t> heads_;
  std::vector<Entry> entries_;
  int32_t free_ = kNone;
  size_t count_ = 0;
};

}  // namespace fairlead::scheduler::hadoop::java
