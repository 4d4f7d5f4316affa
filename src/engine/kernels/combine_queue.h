#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "engine/kernels/combine_table.h"
#include "engine/records/owned.h"

namespace fairlead::engine {

/// Puts records into a CombineTable some at a time, so that the memory they touch is on its way while others are dealt
/// with: a record's index word is asked for when it comes, its entry when enough have come, and then they are folded
/// in. (Group prefetching of Chen, Ailamaki, Gibbons and Mowry, "Improving Hash Join Performance through Prefetching",
/// 2004.) Records keep their order. Long keys and values that only refer to bytes do not outlive the call: those do not
/// wait.
template <class V, class F>
class CombineQueue {
 public:
  using Value = Stored<V>;
  /// Both must outlive the queue. `fold(a, b)` is the user's function.
  CombineQueue(CombineTable<Value>& table, const F& fold) : table_(table), fold_(fold) {}

  void Add(const TableKey& key, const V& value) {
    if constexpr (kQueued) {
      if (key.long_key == nullptr) [[likely]] {
        table_.PrefetchIndex(key.hash);
        waiting_[count_] = {key, value};
        if (++count_ == kSize) Drain();
        return;
      }
      Drain();
    }
    Fold(key, value);
  }

  /// Folds in all that waits; the table is complete then.
  void Drain() {
    for (size_t i = 0; i < count_; ++i) table_.TouchEntry(waiting_[i].key.hash);
    for (size_t i = 0; i < count_; ++i) Fold(waiting_[i].key, waiting_[i].value);
    count_ = 0;
  }

 private:
  static constexpr bool kQueued = std::is_same_v<Value, V> && std::is_trivially_copyable_v<V> && sizeof(V) <= 32;
  static constexpr size_t kSize = 64;
  struct Waiting {
    TableKey key{{}};
    V value;
  };
  void Fold(const TableKey& key, const V& value) {
    table_.Upsert(
        key, [&](Value& old) { FoldInto(old, fold_, value); }, [&] { return Keep(value); });
  }

  CombineTable<Value>& table_;
  const F& fold_;
  size_t count_ = 0;
  std::array<Waiting, kQueued ? kSize : 0> waiting_;
};

}  // namespace fairlead::engine
