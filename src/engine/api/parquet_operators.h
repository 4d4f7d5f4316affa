#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/api/narrow_operators.h"
#include "engine/io/parquet.h"
#include "engine/io/save.h"
#include "engine/records/arena.h"
#include "engine/records/rows.h"

// Records out of columns and into columns.

namespace fairlead::engine {

namespace parquet_internal {

template <class V>
constexpr ParquetValue ValueOf() {
  if constexpr (std::is_enum_v<V>) {
    return ValueOf<std::underlying_type_t<V>>();
  } else if constexpr (std::is_same_v<V, std::string> || std::is_same_v<V, std::string_view>) {
    return ParquetValue::kText;
  } else if constexpr (std::is_same_v<V, bool>) {
    return ParquetValue::kBool;
  } else if constexpr (std::is_same_v<V, float>) {
    return ParquetValue::kFloat;
  } else if constexpr (std::is_same_v<V, double>) {
    return ParquetValue::kDouble;
  } else {
    static_assert(std::is_integral_v<V> && sizeof(V) <= 8,
                  "a field of a Parquet row is a number, bool, enum, std::string, std::string_view, a std::vector or "
                  "std::optional of such, or a std::optional of such a vector");
    constexpr int kSize = std::is_signed_v<V> ? int{sizeof(V)} : -int{sizeof(V)};
    switch (kSize) {
      case 1:
        return ParquetValue::kInt8;
      case 2:
        return ParquetValue::kInt16;
      case 4:
        return ParquetValue::kInt32;
      case -1:
        return ParquetValue::kUint8;
      case -2:
        return ParquetValue::kUint16;
      case -4:
        return ParquetValue::kUint32;
      case -8:
        return ParquetValue::kUint64;
      default:
        return ParquetValue::kInt64;
    }
  }
}

template <class F>
inline constexpr bool kIsOptional = rows_internal::kOptional<F>;
template <class F>
inline constexpr bool kIsList = rows_internal::kList<F>;

template <class F>
void Describe(ParquetField& field) {
  if constexpr (kIsOptional<F>) {
    static_assert(!kIsOptional<typename F::value_type>, "a Parquet column has no std::optional of a std::optional");
    Describe<typename F::value_type>(field);
    field.optional = true;
  } else if constexpr (kIsList<F>) {
    static_assert(!kIsList<typename F::value_type>, "lists of lists are not read from Parquet, nor written");
    Describe<typename F::value_type>(field);
    field.optional_items = std::exchange(field.optional, false);
    field.list = true;
  } else {
    field.value = ValueOf<F>();
  }
}

template <class V>
void TakeValue(const ParquetColumn& column, size_t i, V& value) {
  if constexpr (kIsOptional<V>) {
    if (column.present != nullptr && column.present[i] == 0) return value.reset();
    TakeValue(column, i, value.emplace());
  } else if constexpr (ValueOf<V>() == ParquetValue::kText) {
    value = static_cast<const std::string_view*>(column.values)[i];
  } else {
    std::memcpy(&value, static_cast<const char*>(column.values) + i * sizeof value,
                sizeof value);  // of any integer type of that size
  }
}

template <class F>
void TakeField(const ParquetColumn& column, size_t row, F& field) {
  if constexpr (kIsList<F>) {
    field.clear();
    for (uint32_t i = column.begins[row]; i < column.begins[row + 1]; ++i) {
      typename F::value_type item{};
      TakeValue(column, i, item);
      field.push_back(std::move(item));
    }
  } else if constexpr (kIsOptional<F>) {
    if constexpr (kIsList<typename F::value_type>) {
      if (column.lists != nullptr && column.lists[row] == 0) return field.reset();
      TakeField(column, row, field.emplace());
    } else {
      TakeValue(column, row, field);
    }
  } else {
    TakeValue(column, row, field);
  }
}

}  // namespace parquet_internal

/// The columns for the fields of T, by `names` in order.
template <class T>
std::vector<ParquetField> ParquetFieldsOf(const std::vector<std::string>& names) {
  std::vector<ParquetField> fields;
  T probe{};
  VisitColumns(probe, [&]<class F>(const F&) {
    ParquetField& field = fields.emplace_back();
    if (fields.size() <= names.size()) field.name = names[fields.size() - 1];
    parquet_internal::Describe<F>(field);
  });
  return fields;
}

struct ParquetState {
  std::vector<std::string> names;
  std::vector<FileSplit> splits;
  FL_FIELDS(names, splits)
};

template <class T>
struct ParquetSource : Operator {
  ParquetState state;
  std::vector<ParquetField> fields;
  static std::unique_ptr<ParquetSource> Make(std::string_view payload) {
    auto op = std::make_unique<ParquetSource>();
    op->state = DecodePayload<ParquetState>(payload, "Parquet source");
    if (op->state.names.size() != CountColumns<T>()) ThrowMalformedCapture("Parquet source");
    op->fields = ParquetFieldsOf<T>(op->state.names);
    return op;
  }
  void Run(const NodeScope& scope, int32_t partition, AnySink& out) const override {
    auto& next = static_cast<Sink<T>&>(out);
    const std::unique_ptr<ParquetReader> reader =
        FindParquet().Open(scope.task, state.splits.at(static_cast<size_t>(partition)), fields);
    T record{};
    for (ParquetRows rows; reader->Next(rows);) {
      for (size_t row = 0; row < rows.count; ++row) {
        size_t i = 0;
        VisitColumns(record, [&](auto& field) { parquet_internal::TakeField(rows.columns[i++], row, field); });
        next.Push(record);
      }
    }
  }
};

/// Rows on their way into a file.
class ParquetRowBuffer {
 public:
  explicit ParquetRowBuffer(std::span<const ParquetField> fields) : columns_(fields.size()) {
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].list) columns_[i].begins.push_back(0);
    }
  }

  template <class T>
  void Append(const T& record) {
    size_t i = 0;
    VisitColumns(record, [&](const auto& field) { AppendField(columns_[i++], field); });
    ++count_;
  }
  /// Enough for a Write.
  bool full() const { return count_ >= kRows || texts_.bytes() >= kTextBytes || items_ >= kItems; }
  ParquetRows rows() {
    views_.clear();
    for (const Column& column : columns_) {
      views_.push_back({column.values.data(), column.present.data(), column.begins.data(), column.lists.data()});
    }
    return {count_, views_};
  }
  void Clear() {
    for (Column& column : columns_) {
      column.values.Clear();
      column.present.clear();
      column.begins.resize(std::min<size_t>(column.begins.size(), 1));
      column.lists.clear();
    }
    texts_.Clear();
    count_ = items_ = 0;
  }

 private:
  static constexpr size_t kRows = 4096, kItems = 256 << 10, kTextBytes = 1 << 20;
  struct Column {
    Buffer values;
    std::vector<uint8_t> present;  // of each value
    std::vector<uint32_t> begins;  // of lists
    std::vector<uint8_t> lists;
  };

  template <class F>
  void AppendField(Column& column, const F& field) {
    using namespace parquet_internal;
    if constexpr (kIsList<F>) {
      for (const typename F::value_type& item : field) AppendValue(column, item);
      items_ += field.size();
      EndList(column, true);
    } else if constexpr (kIsOptional<F>) {
      if constexpr (kIsList<typename F::value_type>) {
        if (field) return AppendField(column, *field);
        EndList(column, false);
      } else {
        AppendValue(column, field);
      }
    } else {
      AppendValue(column, field);
    }
  }
  template <class V>
  void AppendValue(Column& column, const V& value) {
    using namespace parquet_internal;
    if constexpr (kIsOptional<V>) {
      if (value) return AppendValue(column, *value);
      AppendValue(column, typename V::value_type{});
      column.present.back() = 0;
    } else if constexpr (ValueOf<V>() == ParquetValue::kText) {
      const std::string_view text(texts_.Copy(value), value.size());
      column.values.Append(&text, sizeof text);
      column.present.push_back(1);
    } else {
      column.values.Append(&value, sizeof value);
      column.present.push_back(1);
    }
  }
  static void EndList(Column& column, bool present) {
    column.begins.push_back(static_cast<uint32_t>(column.present.size()));
    column.lists.push_back(present ? 1 : 0);
  }

  std::vector<Column> columns_;
  std::vector<ParquetColumn> views_;
  Arena texts_;
  size_t count_ = 0;
  size_t items_ = 0;  // of lists
};

template <class T>
struct ParquetSaveSink : StageSink {
  SavePlan plan;
  std::vector<ParquetField> fields;
  static std::unique_ptr<ParquetSaveSink> Make(std::string_view payload) {
    auto op = std::make_unique<ParquetSaveSink>();
    op->plan = DecodePayload<SavePlan>(payload, "save");
    op->fields = ParquetFieldsOf<T>(op->plan.format.columns);
    return op;
  }
  void Run(TaskContext& task, const StageProgram& program, int32_t partition) const override {
    PartFile file(task, plan);
    const std::unique_ptr<ParquetWriter> writer = FindParquet().Create(task, file, fields, plan.format.parquet);
    ParquetRowBuffer rows(fields);
    int64_t count = 0;
    const auto flush = [&] {
      writer->Write(rows.rows());
      rows.Clear();
    };
    auto sink = MakeSink<T>([&](const T& record) {
      rows.Append(record);
      ++count;
      if (rows.full()) flush();
    });
    program.RunLast(task, partition, sink);
    flush();
    writer->Close();
    task.metrics.records_written += count;
    file.Commit();
    task.output.result = ToBytes(count);
  }
};

}  // namespace fairlead::engine
