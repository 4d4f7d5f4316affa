#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/kernels/combine_table.h"

namespace fairlead::engine {

/// Index from key bytes to lists of values, for joins and grouping. Values are only pointed to: their bytes must
/// outlive it. First Add all, then Arrange, then Find. O(1) amortised an operation.
class HashIndex {
 public:
  struct Values {
    uint32_t first = 0;  // place of the first one, after Arrange
    uint32_t count = 0;
  };
  using Key = CombineTable<Values>::Entry;

  /// The pair is taken in together with others, at the latest by Drain; until then the key's bytes must stay, too.
  void Add(std::string_view key, std::string_view value);
  void Drain();
  /// Orders the values by key, within a key as they were added.
  void Arrange();

  /// Null when the key is absent.
  const Key* Find(const TableKey& key) const { return keys_.Find(key); }
  /// Bring near what Find will read, as CombineTable does, and then what leads to the first value that was found, one
  /// step after the other, each in a loop of its own over many.
  void PrefetchIndex(const TableKey& key) const { keys_.PrefetchIndex(key.hash); }
  void TouchKey(const TableKey& key) const { keys_.TouchEntry(key.hash); }
  void TouchPlace(const Key& key) const {
    if (!order_.empty()) Touch(&order_[key.value.first]);
  }
  void TouchEntry(const Key& key) const { Touch(&EntryAt(key.value.first)); }
  void TouchValue(const Key& key) const {
    if (EntryAt(key.value.first).size > 0) Touch(EntryAt(key.value.first).value);
  }

  uint32_t keys() const { return static_cast<uint32_t>(keys_.size()); }
  /// Keys are numbered in order of arrival.
  const Key& key(uint32_t number) const { return keys_.At(number); }
  /// Calls use(value) for the values of a key.
  template <class Use>
  void ForEachValue(const Values& values, Use&& use) const {
    // In order of key number the places are ascending, so what comes next is known.
    for (uint32_t i = values.first; i < values.first + values.count; ++i) {
      if (i + kAhead < order_.size()) {
        __builtin_prefetch(&EntryAt(i + kAhead));
        __builtin_prefetch(EntryAt(i + kAhead / 2).value);
      }
      use(EntryAt(i).view());
    }
  }
  /// Calls use(key, value) for all drained pairs in the order in which they were added.
  template <class Use>
  void ForEachPair(Use&& use) const {
    for (const Entry& entry : entries_) use(keys_.At(entry.key), entry.view());
  }

  size_t memory_bytes() const {
    return keys_.memory_bytes() + entries_.capacity() * sizeof(Entry) + order_.capacity() * sizeof(uint32_t);
  }
  /// With what its next growth and Arrange will take. Who keeps a budget asks this.
  size_t coming_bytes() const {
    const size_t growing = entries_.size() >= entries_.capacity() / 4 * 3 ? 2 * entries_.capacity() : entries_.size();
    return keys_.coming_bytes() + growing * (sizeof(Entry) + sizeof(uint32_t));
  }
  void Clear();

 private:
  static constexpr size_t kAhead = 16;
  static constexpr size_t kWaiting = 64;
  struct Entry {
    const char* value;
    uint32_t size;
    uint32_t key;  // its number
    std::string_view view() const { return {value, size}; }
  };
  struct Waiting {
    TableKey key{{}};
    std::string_view value;
  };
  const Entry& EntryAt(uint32_t place) const { return entries_[order_.empty() ? place : order_[place]]; }

  CombineTable<Values> keys_;
  std::vector<Entry> entries_;   // in order of arrival
  std::vector<uint32_t> order_;  // numbers of entries by key; empty while each key has one value: 0, 1, 2 ...
  std::array<Waiting, kWaiting> waiting_;
  size_t waiting_count_ = 0;
};

}  // namespace fairlead::engine
