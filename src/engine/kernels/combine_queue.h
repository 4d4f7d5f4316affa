#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "engine/kernels/combine_table.h"
#include "engine/records/owned.h"
#include "engine/records/record.h"

namespace fairlead::engine {

/// How values of a key become one: by the user's f(v, v) -> v.
template <class V, class F>
struct ReduceStep {
  using Function = F;
  using Value = Stored<V>;
  [[no_unique_address]] F f;

  void Fold(Value& kept, const V& value) const { FoldInto(kept, f, value); }
  static Value Start(const V& value) { return Keep(value); }
  static void Append(Buffer& out, const V& value) { PartBytes<V>::Append(out, value); }
};

/// By a zero and the user's add(acc, v), which gives the accumulator back or changes it where it is. The accumulator is
/// never copied but for its beginning.
template <class A, class Add>
struct ZeroAndAdd {
  A zero;
  [[no_unique_address]] Add add;

  template <class V>
  void To(A& sum, const V& value) const {
    if constexpr (std::is_void_v<decltype(Call<V>(add, sum, value))>) {
      add(sum, value);
    } else {
      sum = add(std::move(sum), value);
    }
  }
  /// zero and one value.
  template <class V>
  A operator()(const V& value) const {
    A sum = zero;
    To(sum, value);
    return sum;
  }

 private:
  template <class V>
  static auto Call(const Add& add, A& sum, const V& value) {
    if constexpr (std::is_invocable_v<const Add&, A&, const V&>) {
      return add(sum, value);
    } else {
      return add(std::move(sum), value);
    }
  }
};
template <class V, class A, class Add>
struct AggregateStep {
  using Function = ZeroAndAdd<A, Add>;
  using Value = A;
  Function f;

  void Fold(A& kept, const V& value) const { f.To(kept, value); }
  A Start(const V& value) const { return f(value); }
  void Append(Buffer& out, const V& value) const { PartBytes<A>::Append(out, f(value)); }
};

/// Puts records into a CombineTable some at a time, so that the memory they touch is on its way while others are dealt
/// with: a record's index word is asked for when it comes, its entry when enough have come, and then they are folded
/// in. (Group prefetching of Chen, Ailamaki, Gibbons and Mowry, "Improving Hash Join Performance through Prefetching",
/// 2004.) Records keep their order. Long keys and values that only refer to bytes do not outlive the call: those do not
/// wait.
template <class V, class Step>
class CombineQueue {
 public:
  using Value = typename Step::Value;
  /// The table must outlive the queue.
  CombineQueue(CombineTable<Value>& table, Step step) : table_(table), step_(std::move(step)) {}

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
  static constexpr bool kQueued = std::is_same_v<Stored<V>, V> && std::is_trivially_copyable_v<V> && sizeof(V) <= 32;
  static constexpr size_t kSize = 64;
  struct Waiting {
    TableKey key{{}};
    V value;
  };
  void Fold(const TableKey& key, const V& value) {
    table_.Upsert(
        key, [&](Value& old) { step_.Fold(old, value); }, [&] { return step_.Start(value); });
  }

  CombineTable<Value>& table_;
  const Step step_;
  size_t count_ = 0;
  std::array<Waiting, kQueued ? kSize : 0> waiting_;
};

}  // namespace fairlead::engine
