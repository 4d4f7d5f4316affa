#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/api/dataset.h"
#include "engine/plan/shared_values.h"

namespace fairlead::engine {

/// What a job's program works with: makes datasets from files and values. Given to the job function by Main.
class Context {
 public:
  explicit Context(Session& session) : session_(session) {}

  /// Slots of all executors: the usual number of partitions of a shuffle.
  int32_t parallelism() const { return session_.parallelism(); }
  const std::string& application_id() const { return session_.application_id(); }

  /// Lines of a file, of all files of a directory, or of those that match a pattern; .gz and .zst are decompressed.
  /// Bytes are passed as they are (UTF-8 is not checked). `pieces`: at least so many partitions where the files are
  /// large enough (0: three per slot).
  Dataset<std::string_view> Text(const std::string& path, Partitions pieces = {});

  /// Records of `size` bytes each.
  Dataset<std::string_view> FixedRecords(const std::string& path, uint64_t size, Partitions pieces = {});

  /// Rows of CSV files as aggregates: `columns` names the column for each field, in order (empty: the first columns).
  /// Fields are numbers, bool, strings, string views, or std::optional of them (absent: empty or NA).
  template <class T>
  Dataset<T> Csv(const std::string& path, const std::vector<std::string>& columns = {}, CsvOptions options = {},
                 Partitions pieces = {}) {
    static_assert(std::is_aggregate_v<T>, "Csv<T>: T is a struct with one public field per wanted column");
    T probe{};
    size_t count = 0;
    VisitEachField(probe, [&](auto&) { ++count; });
    CsvState state;
    state.splits = PlanSplits(path, Pieces(pieces));
    state.layout = PlanCsv(path, state.splits, columns, count, options);
    const int32_t parts = static_cast<int32_t>(state.splits.size());
    auto node = dataset_internal::MakeNode<CsvSource<T>>(session_, "csv " + path, EncodePayload(state), parts);
    node->places = PlacesOf(state.splits);
    return Dataset<T>(std::move(node));
  }

  /// Lines of JSON objects as aggregates: `members` names the member for each field, in order, with dots for those of
  /// objects in it ("user.name"); without them FL_FIELDS does. Fields are as Csv's; an optional is absent where the
  /// member is null or not there.
  template <class T>
  Dataset<T> JsonLines(const std::string& path, std::vector<std::string> members = {},
                       BadRows bad_rows = BadRows::kFail, Partitions pieces = {}) {
    static_assert(std::is_aggregate_v<T>, "JsonLines<T>: T is a struct with one public field per wanted member");
    if (members.empty()) members = ColumnNames<T>();
    CheckColumns("JsonLines " + path, members.size(), CountColumns<T>());
    JsonState state{{std::move(members), bad_rows == BadRows::kCount}, PlanSplits(path, Pieces(pieces))};
    const int32_t parts = static_cast<int32_t>(state.splits.size());
    auto node = dataset_internal::MakeNode<JsonSource<T>>(session_, "json " + path, EncodePayload(state), parts);
    node->places = PlacesOf(state.splits);
    return Dataset<T>(std::move(node));
  }

  /// Rows of Parquet files as aggregates: `columns` names the column for each field, in order, with dots for those of
  /// structs ("arrival.delay"); without them FL_FIELDS does. Other columns are not read. Fields are as Csv's, and
  /// std::vector for lists; docs/engine.md has the types. Throws JobError in a program without Fairlead::parquet.
  template <class T>
  Dataset<T> Parquet(const std::string& path, std::vector<std::string> columns = {}, Partitions pieces = {}) {
    static_assert(std::is_aggregate_v<T>, "Parquet<T>: T is a struct with one public field per wanted column");
    if (columns.empty()) columns = ColumnNames<T>();
    CheckColumns("Parquet " + path, columns.size(), CountColumns<T>());
    ParquetState state{std::move(columns), PlanSplits(path, Pieces(pieces))};
    CheckParquet(path, state.splits, ParquetFieldsOf<T>(state.names));
    const int32_t parts = static_cast<int32_t>(state.splits.size());
    auto node = dataset_internal::MakeNode<ParquetSource<T>>(session_, "parquet " + path, EncodePayload(state), parts);
    node->places = PlacesOf(state.splits);
    return Dataset<T>(std::move(node));
  }

  /// Values of this program's memory.
  template <class T>
  Dataset<T> Parallelize(const std::vector<T>& values, Partitions partitions = {}) {
    FL_ENGINE_CHECK_RECORD(T, "Parallelize");
    const size_t parts = static_cast<size_t>(partitions.count > 0 ? partitions.count : session_.parallelism());
    std::vector<std::string> bytes;
    for (size_t p = 0; p < parts; ++p) {
      Buffer out;
      for (size_t i = values.size() * p / parts; i < values.size() * (p + 1) / parts; ++i) {
        Serde<T>::Write(out, values[i]);
      }
      bytes.emplace_back(out.view());
    }
    return Dataset<T>(dataset_internal::MakeNode<LocalSource<T>>(session_, "parallelize", EncodePayload(bytes),
                                                                 static_cast<int32_t>(parts)));
  }

  /// A value that functions can look into on executors, fetched once by each.
  template <class T>
  Broadcast<T> MakeBroadcast(const T& value) {
    FL_ENGINE_CHECK_RECORD(T, "MakeBroadcast");
    const int64_t id = session_.PutBroadcast(ToBytes(value));
    return Broadcast<T>::Make(id, value, [session = &session_, id] { session->DropBroadcast(id); });
  }

  /// A number that tasks add to. Only tasks that succeed count; one that is repeated after a loss counts again.
  Counter MakeCounter() { return {session_.NewCounter()}; }
  int64_t ValueOf(const Counter& counter) const { return session_.CounterValue(counter.id); }

  /// Actions that the calling thread runs from now on go to this pool (docs/engine.md, "Settings"); "": to the default
  /// one. As Spark's SparkContext.setLocalProperty("spark.scheduler.pool").
  void SetPool(std::string pool) { session_.SetPool(std::move(pool)); }

  /// Numbers begin, begin + 1, ..., end - 1.
  Dataset<int64_t> Range(int64_t begin, int64_t end, Partitions partitions = {});

 private:
  int32_t Pieces(Partitions wanted) const { return wanted.count > 0 ? wanted.count : 3 * session_.parallelism(); }
  Session& session_;
};

}  // namespace fairlead::engine
