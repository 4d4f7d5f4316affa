#include "engine/parquet/column_cursor.h"

#include <parquet/types.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/records/arena.h"
#include "engine/records/errors.h"

namespace fairlead::engine {

namespace {

constexpr int64_t kBatch = 4096;     // rows that are read at once
constexpr int64_t kListBatch = 512;  // items of lists, whose texts are copied

[[noreturn]] void ThrowOutOfRange(const ParquetField& field) {
  throw TaskError("column " + field.name + " has a value outside of its type's range");
}
[[noreturn]] void ThrowNull(const ParquetField& field) {
  throw TaskError("column " + field.name + " has a null, which a field of type " + ParquetTypeOf(field) +
                  " does not take; std::optional does");
}
[[noreturn]] void ThrowEnded(const ParquetField& field) {
  throw TaskError("column " + field.name + " has fewer values than its row group has rows");
}

/// Stored values to a field's: texts and bytes, dates of Spark's first releases (INT96), numbers.
template <class Stored, class V>
class Conversion {
 public:
  Conversion(const ParquetField& field, const ParquetLeaf& leaf, int length)
      : field_(field), scale_(leaf.scale), length_(static_cast<size_t>(std::max(0, length))) {}
  /// Nothing is to be done.
  bool none() const { return std::is_same_v<Stored, V> && scale_ == ParquetScale::kAsStored; }

  V operator()(const Stored& stored) const {
    if constexpr (std::is_same_v<Stored, parquet::ByteArray>) {
      return {reinterpret_cast<const char*>(stored.ptr), stored.len};
    } else if constexpr (std::is_same_v<Stored, parquet::FixedLenByteArray>) {
      return {reinterpret_cast<const char*>(stored.ptr), length_};
    } else if constexpr (std::is_same_v<Stored, parquet::Int96>) {
      return MicrosOf(stored);
    } else if constexpr (std::is_integral_v<V> && !std::is_same_v<V, bool>) {
      return Integer(stored);
    } else if constexpr (std::is_integral_v<Stored> && std::is_floating_point_v<V>) {
      return scale_ == ParquetScale::kUnsigned ? static_cast<V>(std::make_unsigned_t<Stored>(stored))
                                               : static_cast<V>(stored);
    } else {
      return static_cast<V>(stored);
    }
  }

 private:
  template <class S>
  V Integer(S stored) const {
    switch (scale_) {
      case ParquetScale::kUnsigned:
        return Checked(static_cast<std::make_unsigned_t<S>>(stored));
      case ParquetScale::kFromMillis: {
        int64_t micros = 0;
        if (__builtin_mul_overflow(int64_t{stored}, int64_t{1000}, &micros)) ThrowOutOfRange(field_);
        return static_cast<V>(micros);
      }
      case ParquetScale::kFromNanos:
        return static_cast<V>(stored / 1000 - (stored % 1000 < 0 ? 1 : 0));
      default:
        return Checked(stored);
    }
  }
  /// A column of small numbers is stored in 32 bits, which a damaged file may fill.
  template <class S>
  V Checked(S stored) const {
    if (!std::in_range<V>(stored)) ThrowOutOfRange(field_);
    return static_cast<V>(stored);
  }
  V MicrosOf(const parquet::Int96& stored) const {
    constexpr int64_t kMicrosOfDay = INT64_C(86400000000);
    uint64_t nanos = 0;
    std::memcpy(&nanos, stored.value.data(), sizeof nanos);
    const int64_t days = int64_t{stored.value[2]} - parquet::kJulianToUnixEpochDays;
    int64_t micros = 0;
    if (__builtin_mul_overflow(days, kMicrosOfDay, &micros) ||
        __builtin_add_overflow(micros, static_cast<int64_t>(nanos) / 1000, &micros)) {
      ThrowOutOfRange(field_);
    }
    return static_cast<V>(micros);
  }

  const ParquetField& field_;
  const ParquetScale scale_;
  const size_t length_;
};

/// What both kinds of cursor have: a reader and its last batch.
template <class DType, class V>
class LevelReader {
 public:
  using Stored = typename DType::c_type;
  LevelReader(std::shared_ptr<parquet::ColumnReader> reader, const ParquetLeaf& leaf, const ParquetField& field,
              int64_t batch)
      : batch_(batch),
        convert_(field, leaf, reader->descr()->type_length()),
        reader_(std::static_pointer_cast<parquet::TypedColumnReader<DType>>(std::move(reader))),
        stored_(std::make_unique<Stored[]>(static_cast<size_t>(batch))),
        present_level_(leaf.present_level) {
    if (present_level_ > 0) present_levels_.resize(static_cast<size_t>(batch));
  }

  /// Levels read; 0 at the column's end. What they point to lives until the next Read.
  size_t Read(int16_t* repetition_levels) {
    int64_t values = 0;
    const int64_t levels = reader_->ReadBatch(batch_, present_level_ > 0 ? present_levels_.data() : nullptr,
                                              repetition_levels, stored_.get(), &values);
    values_ = static_cast<size_t>(std::clamp<int64_t>(values, 0, batch_));
    next_ = 0;
    return static_cast<size_t>(std::clamp<int64_t>(levels, 0, batch_));
  }
  int16_t Level(size_t i) const { return present_level_ > 0 ? present_levels_[i] : int16_t{0}; }
  bool Present(size_t i) const { return Level(i) == present_level_; }
  V NextValue(const ParquetField& field) {
    if (next_ == values_) ThrowEnded(field);
    return convert_(stored_[next_++]);
  }
  /// All values of the batch as they are stored, where that is the field's type and none is null; else null.
  const void* AsStored(size_t levels) const {
    return convert_.none() && values_ == levels ? static_cast<const void*>(stored_.get()) : nullptr;
  }
  int64_t Skip(int64_t levels) { return reader_->Skip(levels); }

 private:
  const int64_t batch_;
  const Conversion<Stored, V> convert_;
  const std::shared_ptr<parquet::TypedColumnReader<DType>> reader_;
  const std::unique_ptr<Stored[]> stored_;  // without the nulls
  std::vector<int16_t> present_levels_;
  const int16_t present_level_;
  size_t values_ = 0;
  size_t next_ = 0;
};

/// A column that is no list: a level is a row.
template <class DType, class V>
class FlatCursor final : public ColumnCursor {
 public:
  FlatCursor(std::shared_ptr<parquet::ColumnReader> reader, const ParquetLeaf& leaf, const ParquetField& field)
      : field_(field), levels_(std::move(reader), leaf, field, kBatch), values_(std::make_unique<V[]>(kBatch)) {}

  size_t Fill() override {
    if (at_ == count_) ReadOn();
    return count_ - at_;
  }
  ParquetColumn column() const override {
    ParquetColumn column;
    column.values = static_cast<const V*>(given_) + at_;
    column.present = present_.empty() ? nullptr : present_.data() + at_;
    return column;
  }
  void Advance(size_t rows) override { at_ += rows; }
  void Skip(size_t rows) override {
    const size_t here = std::min(rows, count_ - at_);
    at_ += here;
    const int64_t rest = static_cast<int64_t>(rows - here);
    if (rest > 0 && levels_.Skip(rest) != rest) ThrowEnded(field_);
  }

 private:
  void ReadOn() {
    at_ = 0;
    count_ = levels_.Read(nullptr);
    if (count_ == 0) ThrowEnded(field_);
    present_.clear();
    given_ = levels_.AsStored(count_);
    if (given_ != nullptr) return;
    for (size_t i = 0; i < count_; ++i) {
      if (levels_.Present(i)) {
        values_[i] = levels_.NextValue(field_);
        continue;
      }
      if (!field_.optional) ThrowNull(field_);
      if (present_.empty()) present_.assign(count_, 1);
      present_[i] = 0;
      values_[i] = V{};
    }
    given_ = values_.get();
  }

  const ParquetField& field_;
  LevelReader<DType, V> levels_;
  const std::unique_ptr<V[]> values_;
  const void* given_ = nullptr;
  std::vector<uint8_t> present_;  // empty: all are
  size_t count_ = 0;
  size_t at_ = 0;
};

/// A list: a row has as many levels as items, or one. A row is known to be whole when the next one begins.
template <class DType, class V>
class ListCursor final : public ColumnCursor {
 public:
  ListCursor(std::shared_ptr<parquet::ColumnReader> reader, const ParquetLeaf& leaf, const ParquetField& field,
             size_t bytes_max)
      : field_(field), leaf_(leaf), bytes_max_(bytes_max), levels_(std::move(reader), leaf, field, kListBatch) {
    repetition_levels_.resize(kListBatch);
  }

  size_t Fill() override {
    if (at_ == whole()) ReadOn();
    return whole() - at_;
  }
  ParquetColumn column() const override {
    return {values(), present_.data(), begins_.data() + at_, lists_.data() + at_};
  }
  void Advance(size_t rows) override { at_ += rows; }
  void Skip(size_t rows) override {
    while (rows > 0) {
      const size_t step = std::min(rows, Fill());
      Advance(step);
      rows -= step;
    }
  }

 private:
  // std::vector<bool> has no array.
  using Item = std::conditional_t<std::is_same_v<V, bool>, uint8_t, V>;
  const void* values() const { return values_.data(); }
  /// Rows that have all their items.
  size_t whole() const { return ended_ || lists_.empty() ? lists_.size() : lists_.size() - 1; }

  void ReadOn() {
    KeepPartOnly();
    while (whole() == 0) {
      if (ended_) ThrowEnded(field_);
      const size_t levels = levels_.Read(repetition_levels_.data());
      ended_ = levels == 0;
      for (size_t i = 0; i < levels; ++i) AddLevel(i);
      begins_.resize(lists_.size());
      begins_.push_back(static_cast<uint32_t>(values_.size()));
      CheckBytes();
    }
  }
  void CheckBytes() const {
    if (texts_.bytes() + values_.size() * (sizeof(Item) + 1) <= bytes_max_) return;
    throw TaskError("a list of column " + field_.name + " does not fit into the task's memory");
  }
  void AddLevel(size_t i) {
    if (repetition_levels_[i] == 0) {
      begins_.resize(lists_.size());
      begins_.push_back(static_cast<uint32_t>(values_.size()));
      const bool present = levels_.Level(i) >= leaf_.item_level - 1;
      if (!present && !field_.optional) ThrowNull(field_);
      lists_.push_back(present ? 1 : 0);
    } else if (lists_.empty()) {
      throw TaskError("column " + field_.name + " begins in the middle of a list");
    }
    if (levels_.Level(i) < leaf_.item_level) return;  // no item
    const bool present = levels_.Present(i);
    if (!present && !field_.optional_items) ThrowNull(field_);
    present_.push_back(present ? 1 : 0);
    values_.push_back(present ? Keep(levels_.NextValue(field_)) : Item{});
  }
  /// Drops the rows that were given, and moves the items of the one that is being read to the front.
  void KeepPartOnly() {
    const bool part = !ended_ && !lists_.empty();
    const auto gone = static_cast<std::ptrdiff_t>(part ? begins_[lists_.size() - 1] : values_.size());
    values_.erase(values_.begin(), values_.begin() + gone);
    present_.erase(present_.begin(), present_.begin() + gone);
    lists_.erase(lists_.begin(), lists_.end() - (part ? 1 : 0));
    begins_.assign(1, 0);
    at_ = 0;
    if constexpr (std::is_same_v<V, std::string_view>) {
      const Arena old = std::exchange(texts_, Arena());
      for (std::string_view& text : values_) text = Keep(text);
    }
  }
  Item Keep(V value) {
    if constexpr (std::is_same_v<V, std::string_view>) {
      CheckBytes();
      return {texts_.Copy(value), value.size()};
    } else {
      return value;
    }
  }

  const ParquetField& field_;
  const ParquetLeaf leaf_;
  const size_t bytes_max_;
  LevelReader<DType, V> levels_;
  std::vector<int16_t> repetition_levels_;
  std::vector<Item> values_;  // of the rows from the last ReadOn
  std::vector<uint8_t> present_;
  std::vector<uint32_t> begins_{0};  // of each row, and behind the last
  std::vector<uint8_t> lists_;
  Arena texts_;
  size_t at_ = 0;
  bool ended_ = false;
};

struct CursorParts {
  std::shared_ptr<parquet::ColumnReader> reader;
  const ParquetLeaf& leaf;
  const ParquetField& field;
  size_t list_bytes_max;
};

template <class DType, class V>
std::unique_ptr<ColumnCursor> Make(CursorParts parts) {
  if (!parts.field.list) {
    return std::make_unique<FlatCursor<DType, V>>(std::move(parts.reader), parts.leaf, parts.field);
  }
  return std::make_unique<ListCursor<DType, V>>(std::move(parts.reader), parts.leaf, parts.field, parts.list_bytes_max);
}

/// Types that FindParquetLeaf lets pass come here; others cannot.
[[noreturn]] void ThrowUnread(const ParquetField& field) {
  throw TaskError("column " + field.name + " is of a type that is not read");
}

std::unique_ptr<ColumnCursor> MakeOfInt32(CursorParts parts) {
  using DType = parquet::Int32Type;
  switch (parts.field.value) {
    case ParquetValue::kInt8:
      return Make<DType, int8_t>(std::move(parts));
    case ParquetValue::kInt16:
      return Make<DType, int16_t>(std::move(parts));
    case ParquetValue::kInt32:
      return Make<DType, int32_t>(std::move(parts));
    case ParquetValue::kInt64:
      return Make<DType, int64_t>(std::move(parts));
    case ParquetValue::kUint8:
      return Make<DType, uint8_t>(std::move(parts));
    case ParquetValue::kUint16:
      return Make<DType, uint16_t>(std::move(parts));
    case ParquetValue::kUint32:
      return Make<DType, uint32_t>(std::move(parts));
    case ParquetValue::kUint64:
      return Make<DType, uint64_t>(std::move(parts));
    case ParquetValue::kFloat:
      return Make<DType, float>(std::move(parts));
    case ParquetValue::kDouble:
      return Make<DType, double>(std::move(parts));
    default:
      ThrowUnread(parts.field);
  }
}

}  // namespace

std::unique_ptr<ColumnCursor> MakeColumnCursor(std::shared_ptr<parquet::ColumnReader> reader, const ParquetLeaf& leaf,
                                               const ParquetField& field, size_t list_bytes_max) {
  const parquet::Type::type physical = reader->type();
  CursorParts parts{std::move(reader), leaf, field, list_bytes_max};
  switch (physical) {
    case parquet::Type::BOOLEAN:
      return Make<parquet::BooleanType, bool>(std::move(parts));
    case parquet::Type::INT32:
      return MakeOfInt32(std::move(parts));
    case parquet::Type::INT64:
      if (field.value == ParquetValue::kUint64) return Make<parquet::Int64Type, uint64_t>(std::move(parts));
      return Make<parquet::Int64Type, int64_t>(std::move(parts));
    case parquet::Type::INT96:
      return Make<parquet::Int96Type, int64_t>(std::move(parts));
    case parquet::Type::FLOAT:
      if (field.value == ParquetValue::kFloat) return Make<parquet::FloatType, float>(std::move(parts));
      return Make<parquet::FloatType, double>(std::move(parts));
    case parquet::Type::DOUBLE:
      return Make<parquet::DoubleType, double>(std::move(parts));
    case parquet::Type::BYTE_ARRAY:
      return Make<parquet::ByteArrayType, std::string_view>(std::move(parts));
    case parquet::Type::FIXED_LEN_BYTE_ARRAY:
      return Make<parquet::FLBAType, std::string_view>(std::move(parts));
    default:
      ThrowUnread(field);
  }
}

}  // namespace fairlead::engine
