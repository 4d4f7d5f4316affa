#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/api/actions.h"
#include "engine/api/parquet_operators.h"
#include "engine/api/sort_direction.h"
#include "engine/plan/node.h"
#include "engine/plan/session.h"

namespace fairlead::engine {

template <class T>
class Dataset;

namespace dataset_internal {

template <class T>
struct PairOf {
  static constexpr bool kIs = false;
  using Key = void;
  using Value = void;
};
template <class K, class V>
struct PairOf<std::pair<K, V>> {
  static constexpr bool kIs = true;
  using Key = K;
  using Value = V;
};

// What does not depend on records is compiled once, in dataset.cc, and not with every job: operators and writers go by
// their keys.
std::shared_ptr<DatasetNode> MakeNode(Session& session, const std::string& op, std::string_view name, Captured payload,
                                      int32_t partitions);
std::shared_ptr<DatasetNode> MakeNarrow(const std::shared_ptr<DatasetNode>& parent, const std::string& op,
                                        std::string_view name, Captured payload);
void AddNarrow(DatasetNode& reader, const std::shared_ptr<DatasetNode>& parent, int32_t out_start);
void AddShuffle(DatasetNode& reader, const std::shared_ptr<DatasetNode>& parent, const std::string& writer,
                Captured payload);
/// Makes `parent` the next input of `reader`, whose partitions are by key: without a shuffle where the records lie
/// right already (Spark: Partitioner equality in CoGroupedRDD and combineByKey). Gives the input's kind for InputOf.
char AddKeyed(DatasetNode& reader, const std::shared_ptr<DatasetNode>& parent, const std::string& writer,
              Captured payload);

template <class Op>
std::shared_ptr<DatasetNode> MakeNode(Session& session, std::string_view name, Captured payload, int32_t partitions) {
  return MakeNode(session, Registered<Op>::key, name, std::move(payload), partitions);
}
template <class Op>
std::shared_ptr<DatasetNode> MakeNarrow(const std::shared_ptr<DatasetNode>& parent, std::string name,
                                        Captured payload) {
  return MakeNarrow(parent, Registered<Op>::key, name, std::move(payload));
}
template <class Writer>
char AddKeyed(DatasetNode& reader, const std::shared_ptr<DatasetNode>& parent, Captured payload) {
  return AddKeyed(reader, parent, Registered<Writer>::key, std::move(payload));
}

/// An operator on pairs, called on a dataset of others: says so in one message.
#define FL_ENGINE_PAIRS_ONLY(name)                                                                             \
  template <class... Any>                                                                                      \
  Dataset name(Any&&...) const                                                                                 \
    requires(!dataset_internal::PairOf<T>::kIs)                                                                \
  {                                                                                                            \
    static_assert(dataset_internal::PairOf<T>::kIs, #name                                                      \
                  ": the records of this dataset are not pairs. Make them std::pair(key, value) with Map, or " \
                  "give each a key with KeyBy");                                                               \
    return *this;                                                                                              \
  }

std::vector<int32_t> AllPartitions(const DatasetNode& node);
/// Runs an action whose tasks give numbers.
int64_t SumOf(const std::shared_ptr<DatasetNode>& node, const ActionPlan& action);
int64_t Save(const std::shared_ptr<DatasetNode>& node, const std::string& sink, const std::string& directory,
             SaveFormat format = {});

/// What joins and CoGroup ask of their two sides.
template <class T, class Other>
constexpr void CheckSides() {
  FL_ENGINE_CHECK_RECORD(T, "joins");
  FL_ENGINE_CHECK_RECORD(Other, "joins");
  static_assert(std::is_same_v<typename PairOf<T>::Key, typename PairOf<Other>::Key>,
                "joins: both sides must be pairs (key, value), and their keys of one type");
}

struct First {
  template <class P>
  auto operator()(const P& pair) const {
    return pair.first;
  }
};
struct Identity {
  template <class T>
  T operator()(const T& v) const {
    return v;
  }
};
struct Plus {
  template <class T, class U>
  T operator()(const T& a, const U& b) const {
    return static_cast<T>(a + b);
  }
};
struct KeepFirst {
  template <class T, class U>
  T operator()(const T& a, const U&) const {
    return a;
  }
};

}  // namespace dataset_internal

/// A distributed collection of records of type T: a recipe, computed when an action (Collect, Count, Save, ...) needs
/// it. Copies are cheap and mean the same recipe.
///
/// Functions passed in must be Shippable: lambdas without captures, or structs with public fields and a const
/// operator(). They receive records by const reference; string views in a record live until the function returns.
///
/// Records need a Serde where they cross a shuffle or come back to the driver: numbers, strings, string views, pairs,
/// tuples, arrays, vectors, optionals and aggregates of such have one (serde.h).
template <class T>
class Dataset {
 public:
  using Record = T;
  explicit Dataset(std::shared_ptr<DatasetNode> node) : node_(std::move(node)) {}

  int32_t partitions() const { return node_->partitions; }
  const std::shared_ptr<DatasetNode>& node() const { return node_; }
  /// What people see in progress lines and failures.
  Dataset Named(std::string name) && {
    node_->name = std::move(name);
    return std::move(*this);
  }
  Dataset Named(std::string name) const& = delete;  // copies would be renamed as well: name a dataset where it is made

  /// Computes each partition once and keeps it in the memory of its executor for later actions (in an executor without
  /// room it is computed again).
  Dataset Cache() const { return Kept(""); }
  /// As Cache, on the executor's disk when its memory is full.
  Dataset Persist() const { return Kept("d"); }

  // ---- record by record ----------------------------------------------------------------------------------------

  /// f(record) -> another record.
  template <class F>
  auto Map(F f) const {
    FL_ENGINE_CHECK_FUNCTION(F);
    static_assert(std::is_invocable_v<const F&, const T&>, "Map: the function must take a record of this dataset");
    using Out = std::decay_t<std::invoke_result_t<const F&, const T&>>;
    return Dataset<Out>(dataset_internal::MakeNarrow<MapOp<F, T, Out>>(node_, "map", SaveFunction(f)));
  }

  /// f(record) -> whether to keep it.
  template <class F>
  Dataset Filter(F f) const {
    FL_ENGINE_CHECK_FUNCTION(F);
    static_assert(std::is_invocable_r_v<bool, const F&, const T&>,
                  "Filter: the function must take a record and give bool");
    return Partitioned(dataset_internal::MakeNarrow<FilterOp<F, T>>(node_, "filter", SaveFunction(f)));
  }

  /// f(record) -> a range of records (a vector, Words, a view ...).
  template <class F>
    requires std::is_invocable_v<const F&, const T&>
  auto FlatMap(F f) const {
    FL_ENGINE_CHECK_FUNCTION(F);
    using Range = std::invoke_result_t<const F&, const T&>;
    using Out = std::decay_t<decltype(*std::declval<Range&>().begin())>;
    return Dataset<Out>(dataset_internal::MakeNarrow<FlatMapOp<F, T, Out, false>>(node_, "flat_map", SaveFunction(f)));
  }
  /// FlatMap<Out>(f) with f(record, emit): emit(out) as often as wanted.
  template <class Out, class F>
  Dataset<Out> FlatMap(F f) const {
    FL_ENGINE_CHECK_FUNCTION(F);
    static_assert(std::is_invocable_v<const F&, const T&, Sink<Out>&>,
                  "FlatMap<Out>: the function must take a record and an emitter (auto& emit)");
    return Dataset<Out>(dataset_internal::MakeNarrow<FlatMapOp<F, T, Out, true>>(node_, "flat_map", SaveFunction(f)));
  }

  /// MapPartitions<Out>(f) with f(records, emit): records.ForEach(...) walks the partition, emit(out) gives records.
  template <class Out, class F>
  Dataset<Out> MapPartitions(F f) const {
    FL_ENGINE_CHECK_FUNCTION(F);
    static_assert(std::is_invocable_v<const F&, Records<T>&, Sink<Out>&>,
                  "MapPartitions<Out>: the function must take (auto& records, auto& emit)");
    return Dataset<Out>(
        dataset_internal::MakeNarrow<MapPartitionsOp<F, T, Out>>(node_, "map_partitions", SaveFunction(f)));
  }

  /// Each record with probability `fraction`.
  Dataset Sample(double fraction, uint64_t seed = 1) const {
    auto node = dataset_internal::MakeNarrow<SampleOp<T>>(node_, "sample", EncodePayload(SampleState{fraction, seed}));
    node->order_sensitive = true;
    return Partitioned(node);
  }

  /// The records of both.
  Dataset Union(const Dataset& other) const {
    auto node =
        dataset_internal::MakeNode<PassOp>(*node_->session, "union", "", node_->partitions + other.node_->partitions);
    dataset_internal::AddNarrow(*node, node_, 0);
    dataset_internal::AddNarrow(*node, other.node_, node_->partitions);
    return Dataset(node);
  }

  /// Pairs (f(record), record).
  template <class F>
  auto KeyBy(F f) const {
    FL_ENGINE_CHECK_FUNCTION(F);
    using K = std::decay_t<std::invoke_result_t<const F&, const T&>>;
    using Op = MapOp<KeyByFunction<F, K>, T, std::pair<K, T>>;
    return Dataset<std::pair<K, T>>(
        dataset_internal::MakeNarrow<Op>(node_, "key_by", SaveFunction(KeyByFunction<F, K>{f})));
  }

  // ---- across partitions ---------------------------------------------------------------------------------------

  /// Each record once. Records are equal when their serialized forms are.
  Dataset Distinct(Partitions partitions = {}) const {
    return Map(WithOne()).ReduceByKey(dataset_internal::KeepFirst(), partitions).Keys().Named("distinct");
  }

  /// In the order of key(record), over all partitions: those of partition 0 first. Samples the input for the bounds.
  template <class KeyFn>
  Dataset SortBy(KeyFn key, SortDirection direction = SortDirection::kAscending, Partitions partitions = {}) const {
    static_assert(std::is_empty_v<KeyFn> && std::is_default_constructible_v<KeyFn>,
                  "SortBy: the key function must have no state");
    using Key = KeyType<T, KeyFn>;
    FL_ENGINE_CHECK_RECORD(T, "SortBy");
    FL_ENGINE_CHECK_RECORD(Key, "SortBy (the key)");
    static_assert(
        requires(const Key& a) { a < a; }, "SortBy: keys need operator<");
    (void)key;
    // As many as the input has: the smaller a partition, the better its sort stays in the caches.
    const int32_t parts = KeyParts(partitions, node_->partitions);
    const bool descending = direction == SortDirection::kDescending;
    RangeBounds<Key> bounds;
    bounds.descending = descending;
    if (parts > 1) bounds.keys = SampleBounds<KeyFn>(parts, descending);
    const int32_t real = static_cast<int32_t>(bounds.keys.size()) + 1;
    auto node = dataset_internal::MakeNode<SortOp<T, KeyFn>>(*node_->session, "sort", descending ? "d" : "", real);
    node->keeps_records = true;
    dataset_internal::AddShuffle(*node, node_, Registered<RangeWriter<T, KeyFn>>::key, ToBytes(bounds));
    return Dataset(node);
  }

  // ---- pairs ---------------------------------------------------------------------------------------------------

  auto Keys() const
    requires dataset_internal::PairOf<T>::kIs
  {
    return Map(TakeKey());
  }
  auto Values() const
    requires dataset_internal::PairOf<T>::kIs
  {
    return Map(TakeValue());
  }
  /// (k, v) -> (k, f(v)).
  template <class F>
  auto MapValues(F f) const
    requires dataset_internal::PairOf<T>::kIs
  {
    FL_ENGINE_CHECK_FUNCTION(F);
    auto mapped = Map(MapValueFunction<F>{f}).Named("map_values");
    mapped.node_->key_partitions = node_->key_partitions;
    return mapped;
  }

  /// One record per key: values folded by f(v, v) -> v, which must be associative and commutative.
  template <class F>
  Dataset ReduceByKey(F f, Partitions partitions = {}) const
    requires dataset_internal::PairOf<T>::kIs
  {
    FL_ENGINE_CHECK_FUNCTION(F);
    using P = dataset_internal::PairOf<T>;
    using K = typename P::Key;
    using V = typename P::Value;
    FL_ENGINE_CHECK_RECORD(T, "ReduceByKey");
    static_assert(kFolds<F, V>, "ReduceByKey: the function must take two values and give one");
    return ByKey<K, V, ReduceStep<V, F>, V>(f, f, KeyParts(partitions, node_->key_partitions)).Named("reduce_by_key");
  }

  /// Like ReduceByKey with another type for the result: zero, then add(acc, v) -> acc, or add(acc&, v) that changes it
  /// where it is, and merge(acc, acc) -> acc.
  template <class A, class Add, class Merge>
  auto AggregateByKey(A zero, Add add, Merge merge, Partitions partitions = {}) const
    requires dataset_internal::PairOf<T>::kIs
  {
    FL_ENGINE_CHECK_FUNCTION(Add);
    using K = typename dataset_internal::PairOf<T>::Key;
    using V = typename dataset_internal::PairOf<T>::Value;
    using Sum = ZeroAndAdd<A, Add>;
    const int32_t parts = KeyParts(partitions, node_->key_partitions);
    if constexpr (!Serde<A>::kHoldsViews) {
      if (node_->key_partitions != parts) {  // else nothing is folded before a shuffle
        return ByKey<K, V, AggregateStep<V, A, Add>, A>(Sum{zero, add}, merge, parts).Named("aggregate_by_key");
      }
    }
    return MapValues(Sum{zero, add}).ReduceByKey(merge, Partitions(parts)).Named("aggregate_by_key");
  }

  auto CountByKey(Partitions partitions = {}) const
    requires dataset_internal::PairOf<T>::kIs
  {
    return MapValues(One()).ReduceByKey(dataset_internal::Plus(), partitions).Named("count_by_key");
  }

  /// (k, all values of k). Prefer ReduceByKey: this holds all values of a key at once.
  auto GroupByKey(Partitions partitions = {}) const
    requires dataset_internal::PairOf<T>::kIs
  {
    FL_ENGINE_CHECK_RECORD(T, "GroupByKey");
    using P = dataset_internal::PairOf<T>;
    using K = typename P::Key;
    using V = typename P::Value;
    auto node = dataset_internal::MakeNode<GroupOp<K, V>>(*node_->session, "group_by_key", "",
                                                          KeyParts(partitions, node_->key_partitions));
    node->payload = dataset_internal::AddKeyed<HashWriter<K, V>>(*node, node_, "");
    return Dataset<std::pair<K, std::vector<V>>>(node);
  }

  /// (k, (v, w)) for all pairs of records with equal keys. `other` is held in memory (in parts when it is too large),
  /// this dataset streams past: let the smaller one be `other`.
  template <class Other>
  auto Join(const Dataset<Other>& other, Partitions partitions = {}) const
    requires dataset_internal::PairOf<T>::kIs
  {
    return JoinWith<Other, false>(other, partitions);
  }
  /// As Join, with records of this dataset that have no partner: (k, (v, nullopt)).
  template <class Other>
  auto LeftJoin(const Dataset<Other>& other, Partitions partitions = {}) const
    requires dataset_internal::PairOf<T>::kIs
  {
    return JoinWith<Other, true>(other, partitions);
  }
  /// (k, (all v, all w)) for each key of either.
  template <class Other>
  auto CoGroup(const Dataset<Other>& other, Partitions partitions = {}) const
    requires dataset_internal::PairOf<T>::kIs
  {
    dataset_internal::CheckSides<T, Other>();
    using K = typename dataset_internal::PairOf<T>::Key;
    using V = typename dataset_internal::PairOf<T>::Value;
    using W = typename dataset_internal::PairOf<Other>::Value;
    const int32_t parts = KeyParts(partitions, std::max(node_->key_partitions, other.node()->key_partitions));
    auto node = dataset_internal::MakeNode<CoGroupOp<K, V, W>>(*node_->session, "cogroup", "", parts);
    node->payload += dataset_internal::AddKeyed<HashWriter<K, V>>(*node, node_, "");
    node->payload += dataset_internal::AddKeyed<HashWriter<K, W>>(*node, other.node(), "");
    return Dataset<typename CoGroupOp<K, V, W>::Record>(node);
  }

  Dataset SortByKey(SortDirection direction = SortDirection::kAscending, Partitions partitions = {}) const
    requires dataset_internal::PairOf<T>::kIs
  {
    return SortBy(dataset_internal::First(), direction, partitions).Named("sort_by_key");
  }

  FL_ENGINE_PAIRS_ONLY(Keys)
  FL_ENGINE_PAIRS_ONLY(Values)
  FL_ENGINE_PAIRS_ONLY(MapValues)
  FL_ENGINE_PAIRS_ONLY(ReduceByKey)
  FL_ENGINE_PAIRS_ONLY(AggregateByKey)
  FL_ENGINE_PAIRS_ONLY(CountByKey)
  FL_ENGINE_PAIRS_ONLY(GroupByKey)
  FL_ENGINE_PAIRS_ONLY(Join)
  FL_ENGINE_PAIRS_ONLY(LeftJoin)
  FL_ENGINE_PAIRS_ONLY(CoGroup)
  FL_ENGINE_PAIRS_ONLY(SortByKey)

  // ---- actions -------------------------------------------------------------------------------------------------

  /// All records, partition by partition.
  std::vector<Stored<T>> Collect() const {
    FL_ENGINE_CHECK_RECORD(T, "Collect");
    std::vector<std::string> results(static_cast<size_t>(node_->partitions));
    Run<CollectSink<T>>("collect", "",
                        [&](int32_t i, std::string bytes) { results[static_cast<size_t>(i)] = std::move(bytes); });
    std::vector<Stored<T>> records;
    for (const std::string& bytes : results) ReadAll(bytes, records);
    return records;
  }

  int64_t Count() const { return dataset_internal::SumOf(node_, {Registered<CountSink<T>>::key, "", 0, "count"}); }

  /// The first n records in partition order; reads no more partitions than it must.
  std::vector<Stored<T>> Take(int64_t n) const {
    FL_ENGINE_CHECK_RECORD(T, "Take");
    std::vector<Stored<T>> records;
    int32_t next = 0, step = 1;
    while (static_cast<int64_t>(records.size()) < n && next < node_->partitions) {
      std::vector<int32_t> some(static_cast<size_t>(std::min(step, node_->partitions - next)));
      std::iota(some.begin(), some.end(), next);
      std::vector<std::string> results(some.size());
      node_->session->RunJob(node_, some, {Registered<TakeSink<T>>::key, ToBytes(n), 0, "take"},
                             [&](int32_t i, std::string bytes) { results[static_cast<size_t>(i)] = std::move(bytes); });
      for (const std::string& bytes : results) ReadAll(bytes, records);
      next += static_cast<int32_t>(some.size());
      step *= 4;
    }
    if (static_cast<int64_t>(records.size()) > n) records.resize(static_cast<size_t>(n));
    return records;
  }

  /// The n records with the largest keys, largest first.
  template <class KeyFn = dataset_internal::Identity>
  std::vector<Stored<T>> Top(int64_t n, KeyFn = {}) const {
    FL_ENGINE_CHECK_RECORD(T, "Top");
    static_assert(std::is_empty_v<KeyFn>, "Top: the key function must have no state");
    std::vector<Stored<T>> all;
    Run<TopSink<T, KeyFn>>("top", ToBytes(n), [&](int32_t, const std::string& bytes) {
      std::vector<Stored<T>> part;
      if (FromBytes(bytes, part)) all.insert(all.end(), part.begin(), part.end());
    });
    std::stable_sort(all.begin(), all.end(), LargerKey<T, KeyFn>());
    if (static_cast<int64_t>(all.size()) > n) all.resize(static_cast<size_t>(n));
    return all;
  }

  /// All records folded by f; nothing when there are none.
  template <class F>
  std::optional<Stored<T>> Reduce(F f) const {
    FL_ENGINE_CHECK_FUNCTION(F);
    FL_ENGINE_CHECK_RECORD(T, "Reduce");
    static_assert(kFolds<F, T>, "Reduce: the function must take two records and give one");
    std::vector<std::optional<Stored<T>>> parts(static_cast<size_t>(node_->partitions));
    Run<FoldSink<T, F>>("reduce", SaveFunction(f).bytes, [&](int32_t i, const std::string& bytes) {
      Stored<T> value{};
      if (!bytes.empty() && FromBytes(bytes, value)) parts[static_cast<size_t>(i)] = std::move(value);
    });
    std::optional<Stored<T>> result;
    for (auto& part : parts) {
      if (!part) continue;
      if (result) {
        FoldInto<T>(*result, f, StoredOf<T>::View(*part));
      } else {
        result = std::move(part);
      }
    }
    return result;
  }

  /// Calls f(record) on the executors, for its side effects.
  template <class F>
  void ForEach(F f) const {
    FL_ENGINE_CHECK_FUNCTION(F);
    Run<ForEachSink<T, F>>("for_each", SaveFunction(f).bytes, [](int32_t, const std::string&) {});
  }

  /// One line of text per record (AppendText), in files part-NNNNN of a new directory; _SUCCESS is written last. Gives
  /// the number of records.
  int64_t SaveText(const std::string& directory) const {
    return dataset_internal::Save(node_, Registered<SaveSink<T, LineFormat>>::key, directory);
  }
  /// A row of CSV per record, with a header in each file where `columns` names the fields; a field is as SaveText has
  /// it, in quotes where it must be. Otherwise as SaveText. Throws JobError where there are not as many names as
  /// fields.
  int64_t SaveCsv(const std::string& directory, const std::vector<std::string>& columns = {},
                  char separator = ',') const {
    if (!columns.empty()) CheckColumns("SaveCsv", columns.size(), CountColumns<T>());
    return dataset_internal::Save(node_, Registered<SaveSink<T, CsvFormat>>::key, directory,
                                  {.columns = columns, .separator = separator});
  }
  /// A JSON object per record and line, with a member for each field by the names of `columns`; without them by those
  /// of FL_FIELDS. An absent std::optional is null. Otherwise as SaveCsv.
  int64_t SaveJsonLines(const std::string& directory, std::vector<std::string> columns = {}) const {
    if (columns.empty()) columns = ColumnNames<T>();
    CheckColumns("SaveJsonLines", columns.size(), CountColumns<T>());
    return dataset_internal::Save(node_, Registered<SaveSink<T, JsonFormat>>::key, directory,
                                  {.columns = std::move(columns)});
  }
  /// A Parquet file per partition, with a column for each field by the names of `columns`; without them by those of
  /// FL_FIELDS. docs/engine.md has the columns' types. Otherwise as SaveCsv; throws JobError in a program without
  /// Fairlead::parquet.
  int64_t SaveParquet(const std::string& directory, std::vector<std::string> columns = {},
                      ParquetOptions options = {}) const {
    if (columns.empty()) columns = ColumnNames<T>();
    CheckParquetColumns(columns, ParquetFieldsOf<T>(columns), options);
    FindParquet();
    return dataset_internal::Save(node_, Registered<ParquetSaveSink<T>>::key, directory,
                                  {.columns = std::move(columns), .suffix = ".parquet", .parquet = std::move(options)});
  }
  /// The records' bytes one after the other.
  int64_t SaveBytes(const std::string& directory) const
    requires std::is_convertible_v<const T&, std::string_view>
  {
    return dataset_internal::Save(node_, Registered<SaveSink<T, RawFormat>>::key, directory);
  }

 private:
  template <class>
  friend class Dataset;

  template <class F, class K>
  struct KeyByFunction {
    [[no_unique_address]] F f;
    std::pair<K, T> operator()(const T& record) const { return {f(record), record}; }
  };
  struct WithOne {
    std::pair<T, uint8_t> operator()(const T& record) const { return {record, uint8_t{1}}; }
  };
  struct One {
    template <class V>
    int64_t operator()(const V&) const {
      return 1;
    }
  };
  struct TakeKey {
    auto operator()(const T& pair) const { return pair.first; }
  };
  struct TakeValue {
    auto operator()(const T& pair) const { return pair.second; }
  };
  template <class F>
  struct MapValueFunction {
    [[no_unique_address]] F f;
    auto operator()(const T& pair) const {
      using Out = std::decay_t<decltype(f(pair.second))>;
      return std::pair<std::decay_t<decltype(pair.first)>, Out>(pair.first, f(pair.second));
    }
  };
  /// One record per key: `Step` folds before the shuffle, which carries values of type A; `merge` after it.
  template <class K, class V, class Step, class A, class Merge>
  Dataset<std::pair<K, A>> ByKey(const typename Step::Function& fold, const Merge& merge, int32_t parts) const {
    FL_ENGINE_CHECK_FUNCTION(Merge);
    static_assert(kFolds<Merge, A>,
                  "ReduceByKey and AggregateByKey: the last function must take two values and give one");
    Captured last = SaveFunction(merge);
    auto node = dataset_internal::MakeNode<ReduceOp<K, A, Merge>>(*node_->session, "", last, parts);
    node->payload.insert(0, 1, dataset_internal::AddKeyed<CombineWriter<K, V, Step>>(*node, node_, SaveFunction(fold)));
    return Dataset<std::pair<K, A>>(node);
  }

  Dataset Kept(std::string payload) const {
    FL_ENGINE_CHECK_RECORD(T, "Cache");
    auto node = dataset_internal::MakeNarrow<CacheOp<T>>(node_, "cached " + node_->name, std::move(payload));
    node->cached = true;
    return Partitioned(node);
  }

  /// A dataset whose records, if they are pairs, lie as this one's do.
  Dataset Partitioned(const std::shared_ptr<DatasetNode>& node) const {
    node->key_partitions = node_->key_partitions;
    return Dataset(node);
  }

  /// How many partitions by key there shall be: as many as the program wants, or as an input has already unless that
  /// would leave cores without work.
  int32_t KeyParts(Partitions wanted, int32_t existing) const {
    return wanted.count > 0 ? wanted.count : std::max(existing, node_->session->parallelism());
  }

  template <class Other, bool kOuter>
  auto JoinWith(const Dataset<Other>& other, Partitions partitions) const {
    dataset_internal::CheckSides<T, Other>();
    using K = typename dataset_internal::PairOf<T>::Key;
    using V = typename dataset_internal::PairOf<T>::Value;
    using W = typename dataset_internal::PairOf<Other>::Value;
    using Op = JoinOp<K, V, W, kOuter>;
    const int32_t parts = KeyParts(partitions, std::max(node_->key_partitions, other.node()->key_partitions));
    auto node = dataset_internal::MakeNode<Op>(*node_->session, kOuter ? "left_join" : "join", "", parts);
    node->payload += dataset_internal::AddKeyed<HashWriter<K, V>>(*node, node_, "");
    node->payload += dataset_internal::AddKeyed<HashWriter<K, W>>(*node, other.node(), "");
    return Dataset<typename Op::Record>(node);
  }

  /// Keys that cut the dataset into about equal parts, from a sample of about 100 keys per part (Spark:
  /// RangePartitioner.determineBounds, weights by partition size).
  template <class KeyFn>
  std::vector<Stored<KeyType<T, KeyFn>>> SampleBounds(int32_t parts, bool descending) const {
    using Key = Stored<KeyType<T, KeyFn>>;
    const int64_t per_partition = std::max<int64_t>(64, int64_t{300} * parts / std::max(1, node_->partitions));
    std::vector<std::pair<Key, double>> keys;
    double total = 0;
    Run<SampleKeysSink<T, KeyFn>>(
        "sort: sample of keys", ToBytes(per_partition),
        [&](int32_t, const std::string& bytes) {
          std::pair<uint64_t, std::vector<Key>> part;
          if (!FromBytes(bytes, part) || part.second.empty()) return;
          const double weight = static_cast<double>(part.first) / static_cast<double>(part.second.size());
          for (Key& key : part.second) keys.emplace_back(std::move(key), weight);
          total += static_cast<double>(part.first);
        },
        per_partition * 4);
    std::sort(keys.begin(), keys.end(),
              [&](const auto& a, const auto& b) { return descending ? b.first < a.first : a.first < b.first; });
    std::vector<Key> bounds;
    double sum = 0;
    for (auto& [key, weight] : keys) {
      sum += weight;
      if (static_cast<int32_t>(bounds.size()) + 1 >= parts) break;
      if (sum < total * static_cast<double>(bounds.size() + 1) / parts) continue;
      const bool after = bounds.empty() || (descending ? key < bounds.back() : bounds.back() < key);
      if (after) bounds.push_back(std::move(key));
    }
    return bounds;
  }

  template <class Sink, class OnResult>
  void Run(const std::string& what, std::string payload, OnResult on_result, int64_t sample_records = 0) const {
    node_->session->RunJob(node_, dataset_internal::AllPartitions(*node_),
                           {Registered<Sink>::key, std::move(payload), sample_records, what}, on_result);
  }

  static void ReadAll(const std::string& bytes, std::vector<Stored<T>>& records) {
    Cursor in(bytes);
    while (!in.done()) {
      T record{};
      if (!Serde<T>::Read(in, record)) throw JobError("a result does not parse");
      records.push_back(Keep(record));
    }
  }

  std::shared_ptr<DatasetNode> node_;
};

}  // namespace fairlead::engine
