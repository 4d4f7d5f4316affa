#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/narrow_operators.h"
#include "engine/kernels/combine_queue.h"
#include "engine/kernels/combine_table.h"
#include "engine/kernels/grace.h"
#include "engine/kernels/group_table.h"
#include "engine/kernels/sort_kernel.h"
#include "engine/records/owned.h"
#include "engine/shuffle/block_reader.h"
#include "engine/shuffle/shuffle_writer.h"

// Both sides of shuffles: writers (stage sinks) and readers (operators). Thin: all but the value type's arithmetic
// works on bytes.

namespace fairlead::engine {

template <class K, class V>
constexpr RecordShape ShapeOf() {
  return {PartBytes<K>::kFixed, PartBytes<V>::kFixed};
}

/// The input `i` of an operator on pairs. `kinds` has a letter for each: 's' for the next of its shuffles, 'l' for the
/// next of its narrow inputs, whose records lie by key as a HashWriter would have put them.
template <class K, class V>
KeyedInput InputOf(const NodeScope& scope, std::string_view kinds, size_t i, int32_t partition) {
  const char kind = kinds.at(i);
  const auto place = static_cast<size_t>(std::count(kinds.begin(), kinds.begin() + static_cast<ptrdiff_t>(i), kind));
  if (kind == 's') return {ShapeOf<K, V>(), scope.plan().shuffles.at(place)};
  return {ShapeOf<K, V>(), -1, [&scope, place, partition](const auto& use) {
            constexpr size_t kFrame = 16 << 10;
            Buffer frame, scratch;
            auto sink = MakeSink<std::pair<K, V>>([&](const std::pair<K, V>& record) {
              if (frame.capacity() == 0) frame.Reserve(kFrame + kFrame / 8);
              PartBytes<K>::With(record.first, scratch,
                                 [&](std::string_view key) { AppendPart(frame, key, PartBytes<K>::kFixed); });
              PartBytes<V>::Append(frame, record.second);
              if (frame.size() < kFrame) return;
              use(frame);
              frame.Clear();
            });
            scope.RunInput(place, partition, sink);
            if (!frame.empty()) use(frame);
          }};
}

/// Writes pairs by hash of the key, without combining.
template <class K, class V>
struct HashWriter : StageSink {
  static std::unique_ptr<HashWriter> Make(std::string_view) { return std::make_unique<HashWriter>(); }
  void Run(TaskContext& task, const StageProgram& program, int32_t partition) const override {
    const uint32_t parts = static_cast<uint32_t>(program.plan().reduce_partitions);
    ShuffleWriter writer(task, program.plan().shuffle, static_cast<int32_t>(parts), task.memory_bytes);
    Buffer scratch;
    auto sink = MakeSink<std::pair<K, V>>([&](const std::pair<K, V>& record) {
      PartBytes<K>::With(record.first, scratch, [&](std::string_view key) {
        Buffer& out = writer.For(PartitionOf(HashBytes(key), parts));
        AppendPart(out, key, PartBytes<K>::kFixed);
        PartBytes<V>::Append(out, record.second);
      });
    });
    program.RunLast(task, partition, sink);
    writer.Finish();
  }
};

/// Writes pairs by hash of the key, values of equal keys folded first by `Step`. Where folding does not pay (nearly
/// every record of a first sample has its own key) it stops and passes records through.
template <class K, class V, class Step>
struct CombineWriter : StageSink {
  Step step;
  explicit CombineWriter(Step how) : step(std::move(how)) {}
  static std::unique_ptr<CombineWriter> Make(std::string_view payload) {
    return std::make_unique<CombineWriter>(Step{LoadFunction<typename Step::Function>(payload)});
  }

  void Run(TaskContext& task, const StageProgram& program, int32_t partition) const override {
    Combiner combiner(task, program.plan(), step);
    program.RunLast(task, partition, combiner);
    combiner.Finish();
  }

 private:
  using Value = typename Step::Value;

  class Combiner final : public Sink<std::pair<K, V>> {
   public:
    Combiner(TaskContext& task, const StagePlan& plan, const Step& step)
        : step_(step),
          queue_(table_, step),
          parts_(static_cast<uint32_t>(plan.reduce_partitions)),
          table_max_(static_cast<size_t>(task.memory_bytes / 2)),
          task_(task),
          writer_(task, plan.shuffle, plan.reduce_partitions, task.memory_bytes / 2) {}

    void Push(const std::pair<K, V>& record) override {
      PartBytes<K>::With(record.first, scratch_, [&](std::string_view key) {
        if (passing_) [[unlikely]] {
          Pass(key, record.second);
        } else {
          queue_.Add(TableKey(key), record.second);
          if (++records_ == check_at_) [[unlikely]]
            Check();
        }
      });
    }
    void Finish() {
      Flush();
      writer_.Finish();
    }

   private:
    static constexpr size_t kTrial = 1 << 16;

    [[gnu::noinline]] void Pass(std::string_view key, const V& value) {
      Buffer& out = writer_.For(PartitionOf(HashBytes(key), parts_));
      AppendPart(out, key, PartBytes<K>::kFixed);
      step_.Append(out, value);
    }
    [[gnu::noinline]] void Check() {
      check_at_ = records_ + 1024;
      if (records_ == kTrial && table_.size() > kTrial / 8 * 7) {
        passing_ = true;
        Flush();
      } else if (table_.coming_bytes() > table_max_) {
        Flush();
      }
    }
    void Flush() {
      queue_.Drain();
      char buffer[ShortBytes::kMax];
      table_.ForEach([&](const auto& entry) {
        Buffer& out = writer_.For(PartitionOf(entry.hash(), parts_));
        AppendPart(out, entry.key(buffer), PartBytes<K>::kFixed);
        PartBytes<Value>::Append(out, entry.value);
      });
      task_.metrics.peak_memory = std::max(task_.metrics.peak_memory, static_cast<int64_t>(table_.memory_bytes()));
      table_.Clear();
    }

    const Step& step_;
    CombineTable<Value> table_;
    CombineQueue<V, Step> queue_;
    size_t records_ = 0;
    size_t check_at_ = kTrial;
    bool passing_ = false;
    const uint32_t parts_;
    const size_t table_max_;
    TaskContext& task_;
    Buffer scratch_;
    ShuffleWriter writer_;
  };
};

/// Folds the values of each key. Above the task's memory the partial results go through GraceFiles.
template <class K, class V, class F>
struct ReduceOp : Operator {
  using Value = Stored<V>;
  std::string kinds;
  F f;
  ReduceOp(std::string_view input_kinds, F function) : kinds(input_kinds), f(std::move(function)) {}
  static std::unique_ptr<ReduceOp> Make(std::string_view payload) {
    return std::make_unique<ReduceOp>(payload.substr(0, 1), LoadFunction<F>(payload.substr(1)));
  }

  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto& next = static_cast<Sink<std::pair<K, V>>&>(out);
    Fold fold{*this, scope.task, next};
    const KeyedInput input = InputOf<K, V>(scope, kinds, 0, partition);
    if (input.local) {
      input.local([&](Buffer& frame) {
        if (fold.AddFrame(frame.view()) < 0) throw TaskError("a record does not parse");
      });
    } else {
      BlockReader reader(scope.task, input.shuffle, partition);
      std::string_view frame;
      while (reader.NextFrame(frame)) {
        const int64_t records = fold.AddFrame(frame);
        if (records < 0) reader.Malformed();
        scope.task.metrics.shuffle_records_read += records;
      }
    }
    fold.Finish();
  }

 private:
  /// One level of aggregation.
  struct Fold {
    const ReduceOp& op;
    TaskContext& task;
    Sink<std::pair<K, V>>& next;
    int level = 0;
    CombineTable<Value> table{};
    CombineQueue<V, ReduceStep<V, F>> queue{table, {op.f}};
    std::unique_ptr<GraceFiles> overflow{};

    /// How many records there were; -1 when they do not parse.
    int64_t AddFrame(std::string_view frame) {
      int64_t records = 0;
      bool good = true;
      good = ForEachRecord(frame, ShapeOf<K, V>(),
                           [&](std::string_view key, std::string_view bytes) {
                             ++records;
                             V value{};
                             if (!PartBytes<V>::Read(bytes, value)) {
                               good = false;
                               return;
                             }
                             queue.Add(TableKey(key), value);
                           }) &&
             good;
      queue.Drain();
      task.metrics.peak_memory = std::max(task.metrics.peak_memory, static_cast<int64_t>(table.memory_bytes()));
      if (GraceFiles::Worthwhile(table.coming_bytes(), task.memory_bytes, level)) Spill();
      return good ? records : -1;
    }
    void Spill() {
      if (!overflow) overflow = std::make_unique<GraceFiles>(task, ShapeOf<K, V>(), level);
      Buffer scratch;
      char buffer[ShortBytes::kMax];
      table.ForEach([&](const auto& entry) {
        PartBytes<Value>::With(entry.value, scratch,
                               [&](std::string_view value) { overflow->Add(entry.hash(), entry.key(buffer), value); });
      });
      table.Clear();
      ReturnFreeMemory();
    }
    void Finish() {
      if (!overflow) {
        table.ForEach([&](const auto& entry) { Emit(entry); });
        return;
      }
      Spill();
      overflow->Finish();
      for (uint32_t part = 0; part < GraceFiles::kParts; ++part) {
        if (overflow->empty(part)) continue;
        task.CheckKilled();
        Fold fold{op, task, next, level + 1};
        overflow->ReadPart(part, [&](std::string_view frame) {
          if (fold.AddFrame(frame) < 0) throw TaskError("a spill file is damaged");
        });
        fold.Finish();
      }
    }
    template <class Entry>
    void Emit(const Entry& entry) {
      std::pair<K, V> record;
      char buffer[ShortBytes::kMax];
      if (!PartBytes<K>::Read(entry.key(buffer), record.first)) throw TaskError("a key does not parse");
      record.second = StoredOf<V>::View(entry.value);
      next.Push(record);
    }
  };
};

template <class K>
K KeyFrom(std::string_view bytes) {
  K key{};
  if (!PartBytes<K>::Read(bytes, key)) throw TaskError("a key does not parse");
  return key;
}
template <class V>
void ValueFrom(std::string_view bytes, V& value) {
  if (!PartBytes<V>::Read(bytes, value)) throw TaskError("a value does not parse");
}
template <class V>
void ValuesFrom(std::span<const std::string_view> bytes, std::vector<V>& values) {
  values.resize(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) ValueFrom(bytes[i], values[i]);
}

template <class K, class V>
struct GroupOp : Operator {
  std::string kinds;
  explicit GroupOp(std::string_view input_kinds) : kinds(input_kinds) {}
  static std::unique_ptr<GroupOp> Make(std::string_view payload) { return std::make_unique<GroupOp>(payload); }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto& next = static_cast<Sink<std::pair<K, std::vector<V>>>&>(out);
    const KeyedInput inputs[] = {InputOf<K, V>(scope, kinds, 0, partition)};
    std::pair<K, std::vector<V>> record;
    GroupInputs(scope.task, inputs, partition,
                [&](std::string_view key, std::span<const std::string_view> values, std::span<const std::string_view>) {
                  record.first = KeyFrom<K>(key);
                  ValuesFrom(values, record.second);
                  next.Push(record);
                });
  }
};

template <class K, class V, class W>
struct CoGroupOp : Operator {
  using Record = std::pair<K, std::pair<std::vector<V>, std::vector<W>>>;
  std::string kinds;
  explicit CoGroupOp(std::string_view input_kinds) : kinds(input_kinds) {}
  static std::unique_ptr<CoGroupOp> Make(std::string_view payload) { return std::make_unique<CoGroupOp>(payload); }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto& next = static_cast<Sink<Record>&>(out);
    const KeyedInput inputs[] = {InputOf<K, V>(scope, kinds, 0, partition), InputOf<K, W>(scope, kinds, 1, partition)};
    Record record;
    GroupInputs(
        scope.task, inputs, partition,
        [&](std::string_view key, std::span<const std::string_view> left, std::span<const std::string_view> right) {
          record.first = KeyFrom<K>(key);
          ValuesFrom(left, record.second.first);
          ValuesFrom(right, record.second.second);
          next.Push(record);
        });
  }
};

/// Inner join, or left outer join with an optional right value.
template <class K, class V, class W, bool kOuter>
struct JoinOp : Operator {
  using Right = std::conditional_t<kOuter, std::optional<W>, W>;
  using Record = std::pair<K, std::pair<V, Right>>;
  std::string kinds;
  explicit JoinOp(std::string_view input_kinds) : kinds(input_kinds) {}
  static std::unique_ptr<JoinOp> Make(std::string_view payload) { return std::make_unique<JoinOp>(payload); }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto& next = static_cast<Sink<Record>&>(out);
    Record record;
    ProbeInputs(scope.task, InputOf<K, V>(scope, kinds, 0, partition), InputOf<K, W>(scope, kinds, 1, partition),
                partition,
                [&](std::string_view key, std::string_view value, const HashIndex& index, const HashIndex::Key* found) {
                  if (found == nullptr && !kOuter) return;
                  record.first = KeyFrom<K>(key);
                  ValueFrom(value, record.second.first);
                  if (found == nullptr) {
                    if constexpr (kOuter) record.second.second.reset();
                    next.Push(record);
                    return;
                  }
                  index.ForEachValue(found->value, [&](std::string_view right) {
                    if constexpr (kOuter) {
                      ValueFrom(right, record.second.second.emplace());
                    } else {
                      ValueFrom(right, record.second.second);
                    }
                    next.Push(record);
                  });
                });
  }
};

// ---- sorting -------------------------------------------------------------------------------------------------------

/// A 64-bit number that orders as the key does as far as it reaches; kWhole: it decides alone.
template <class K>
struct SortPrefix {
  static constexpr bool kWhole = false;
  static uint64_t Of(const K&) { return 0; }
};
template <class K>
  requires(std::is_integral_v<K> || std::is_enum_v<K>)
struct SortPrefix<K> {
  static constexpr bool kWhole = true;
  static uint64_t Of(const K& key) {
    return static_cast<uint64_t>(static_cast<int64_t>(key)) ^ (std::is_signed_v<K> ? uint64_t{1} << 63 : 0);
  }
};
template <class K>
  requires std::is_floating_point_v<K>
struct SortPrefix<K> {
  static constexpr bool kWhole = true;  // NaNs come last, or first when negative
  static uint64_t Of(const K& key) {
    const uint64_t bits = std::bit_cast<uint64_t>(static_cast<double>(key == 0 ? K{0} : key));
    return bits >> 63 ? ~bits : bits | (uint64_t{1} << 63);
  }
};
template <class K>
  requires kStringLike<K>
struct SortPrefix<K> {
  static constexpr bool kWhole = false;
  static uint64_t Of(std::string_view key) {
    if (key.size() >= 8) return __builtin_bswap64(hash_internal::Load64(key.data()));
    uint64_t prefix = 0;
    for (size_t i = 0; i < key.size(); ++i)
      prefix |= static_cast<uint64_t>(static_cast<uint8_t>(key[i])) << (56 - 8 * i);
    return prefix;
  }
};
template <class A, class B>
struct SortPrefix<std::pair<A, B>> {
  static constexpr bool kWhole = false;
  static uint64_t Of(const std::pair<A, B>& key) { return SortPrefix<A>::Of(key.first); }
};
template <class A, class... B>
struct SortPrefix<std::tuple<A, B...>> {
  static constexpr bool kWhole = false;
  static uint64_t Of(const std::tuple<A, B...>& key) { return SortPrefix<A>::Of(std::get<0>(key)); }
};

template <class T, class KeyFn>
using KeyType = std::decay_t<std::invoke_result_t<const KeyFn&, const T&>>;

/// Key functions of sorts have no state: the kernels call them through plain functions.
template <class T, class KeyFn>
struct SortFunctions {
  using Key = KeyType<T, KeyFn>;
  static T Record(std::string_view bytes) {
    T record{};
    ValueFrom(bytes, record);
    return record;
  }
  static uint64_t Prefix(std::string_view bytes) {
    const T record = Record(bytes);
    return SortPrefix<Key>::Of(KeyFn{}(record));
  }
  static bool Less(std::string_view a, std::string_view b) {
    const T left = Record(a), right = Record(b);
    return KeyFn{}(left) < KeyFn{}(right);
  }
};

/// Bounds between the partitions of a sorted dataset: n - 1 keys for n partitions, in the order of the sort.
template <class Key>
struct RangeBounds {
  bool descending = false;
  std::vector<Stored<Key>> keys;
};
template <class Key>
struct Serde<RangeBounds<Key>> {
  static constexpr size_t kFixed = 0;
  static constexpr bool kHoldsViews = false;
  static void Write(Buffer& out, const RangeBounds<Key>& v) {
    Serde<bool>::Write(out, v.descending);
    Serde<std::vector<Stored<Key>>>::Write(out, v.keys);
  }
  static bool Read(Cursor& in, RangeBounds<Key>& v) {
    return Serde<bool>::Read(in, v.descending) && Serde<std::vector<Stored<Key>>>::Read(in, v.keys);
  }
};

template <class T, class KeyFn>
struct RangeWriter : StageSink {
  using Key = KeyType<T, KeyFn>;
  RangeBounds<Key> bounds;
  std::vector<uint64_t> prefixes;  // of the bounds, ascending
  static std::unique_ptr<RangeWriter> Make(std::string_view payload) {
    auto op = std::make_unique<RangeWriter>();
    if (!FromBytes(payload, op->bounds)) ThrowMalformedCapture("range bounds");
    for (const auto& key : op->bounds.keys) op->prefixes.push_back(op->PrefixOf(StoredOf<Key>::View(key)));
    return op;
  }
  uint64_t PrefixOf(const Key& key) const {
    const uint64_t prefix = SortPrefix<Key>::Of(key);
    return bounds.descending ? ~prefix : prefix;
  }
  /// The partition of a key: how many bounds are not after it.
  uint32_t PartitionFor(const Key& key) const {
    const uint64_t prefix = PrefixOf(key);
    size_t p = static_cast<size_t>(std::upper_bound(prefixes.begin(), prefixes.end(), prefix) - prefixes.begin());
    if constexpr (!SortPrefix<Key>::kWhole) {
      while (p > 0 && prefixes[p - 1] == prefix) {
        const Key& bound = StoredOf<Key>::View(bounds.keys[p - 1]);
        const bool before = bounds.descending ? bound < key : key < bound;
        if (!before) break;
        --p;
      }
    }
    return static_cast<uint32_t>(p);
  }
  void Run(TaskContext& task, const StageProgram& program, int32_t partition) const override {
    const int32_t parts = program.plan().reduce_partitions;
    ShuffleWriter writer(task, program.plan().shuffle, parts, task.memory_bytes);
    auto sink =
        MakeSink<T>([&](const T& record) { PartBytes<T>::Append(writer.For(PartitionFor(KeyFn{}(record))), record); });
    program.RunLast(task, partition, sink);
    writer.Finish();
  }
};

template <class T, class KeyFn>
struct SortOp : Operator {
  bool descending = false;
  static std::unique_ptr<SortOp> Make(std::string_view payload) {
    auto op = std::make_unique<SortOp>();
    op->descending = payload == "d";
    return op;
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    using Functions = SortFunctions<T, KeyFn>;
    auto& next = static_cast<Sink<T>&>(out);
    SortOrder order;
    order.descending = descending;
    order.prefix = &Functions::Prefix;
    if constexpr (!SortPrefix<typename Functions::Key>::kWhole) order.less = &Functions::Less;
    SortShuffle(scope.task, scope.plan().shuffles.at(0), partition, PartBytes<T>::kFixed, order,
                [&next](std::string_view bytes) {
                  T record{};
                  ValueFrom(bytes, record);
                  next.Push(record);
                });
  }
};

}  // namespace fairlead::engine
