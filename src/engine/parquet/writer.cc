#include "engine/parquet/writer.h"

#include <parquet/column_writer.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/parquet/columns.h"
#include "engine/parquet/files.h"
#include "engine/parquet/guarded.h"

namespace fairlead::engine {

namespace {

constexpr const char* kWhat = "cannot write Parquet";
constexpr size_t kTextMax = (size_t{2} << 30) - 1;  // Parquet's lengths have 32 bits, of which readers take 31
constexpr int64_t kPageMin = 64 << 10, kPageMax = 1 << 20;
// A row group is in memory until its end, in buffers that grow by doubling.
constexpr int64_t kMemoryOfGroup = 8;

/// A batch of one column as Parquet takes it: a level for each value, null and empty list, and the values that are
/// there. Kept from batch to batch for its memory.
struct Levels {
  std::vector<int16_t> definition;
  std::vector<int16_t> repetition;

  void Clear() {
    definition.clear();
    repetition.clear();
  }
  void Add(int defined, int repeated) {
    definition.push_back(static_cast<int16_t>(defined));
    repetition.push_back(static_cast<int16_t>(repeated));
  }
};

bool IsPresent(const ParquetColumn& column, size_t i) { return column.present == nullptr || column.present[i] != 0; }

/// The values' indices, those that are there, by use(i).
template <class Use>
void ForEachLevel(const ParquetField& field, const ParquetColumn& column, size_t rows, Levels& levels, Use&& use) {
  levels.Clear();
  if (!field.list) {
    for (size_t i = 0; i < rows; ++i) {
      const bool present = IsPresent(column, i);
      levels.Add(present && field.optional ? 1 : 0, 0);
      if (present) use(i);
    }
    return;
  }
  const int list_level = field.optional ? 1 : 0;  // of a list that is there
  for (size_t row = 0; row < rows; ++row) {
    const uint32_t begin = column.begins[row], end = column.begins[row + 1];
    const bool null = column.lists != nullptr && column.lists[row] == 0;
    if (begin == end) levels.Add(null ? 0 : list_level, 0);
    for (uint32_t i = begin; i < end; ++i) {
      const bool present = IsPresent(column, i);
      levels.Add(list_level + 1 + (present && field.optional_items ? 1 : 0), i == begin ? 0 : 1);
      if (present) use(i);
    }
  }
}

/// `V`: the field's type.
template <class DType, class V>
void WriteColumn(parquet::ColumnWriter& writer, const ParquetField& field, const ParquetColumn& column, size_t rows,
                 Levels& levels) {
  using Stored = typename DType::c_type;
  thread_local std::vector<std::conditional_t<std::is_same_v<Stored, bool>, uint8_t, Stored>> values;
  values.clear();
  const V* const given = static_cast<const V*>(column.values);
  ForEachLevel(field, column, rows, levels, [&](size_t i) {
    if constexpr (std::is_same_v<V, std::string_view>) {
      if (given[i].size() > kTextMax) throw TaskError("a text of column " + field.name + " is longer than 2 GiB");
      values.push_back(parquet::ByteArray(given[i]));
    } else {
      values.push_back(static_cast<Stored>(given[i]));
    }
  });
  auto& typed = static_cast<parquet::TypedColumnWriter<DType>&>(writer);
  // A bool of C++ is a byte, 0 or 1.
  typed.WriteBatch(static_cast<int64_t>(levels.definition.size()), levels.definition.data(), levels.repetition.data(),
                   reinterpret_cast<const Stored*>(values.data()));
}

void WriteField(parquet::ColumnWriter& writer, const ParquetField& field, const ParquetColumn& column, size_t rows,
                Levels& levels) {
  const auto write = [&]<class DType, class V>(DType*, V*) {
    WriteColumn<DType, V>(writer, field, column, rows, levels);
  };
  parquet::Int32Type* const int32 = nullptr;
  parquet::Int64Type* const int64 = nullptr;
  switch (field.value) {
    case ParquetValue::kBool:
      return write(static_cast<parquet::BooleanType*>(nullptr), static_cast<bool*>(nullptr));
    case ParquetValue::kInt8:
      return write(int32, static_cast<int8_t*>(nullptr));
    case ParquetValue::kInt16:
      return write(int32, static_cast<int16_t*>(nullptr));
    case ParquetValue::kInt32:
      return write(int32, static_cast<int32_t*>(nullptr));
    case ParquetValue::kInt64:
      return write(int64, static_cast<int64_t*>(nullptr));
    case ParquetValue::kUint8:
      return write(int32, static_cast<uint8_t*>(nullptr));
    case ParquetValue::kUint16:
      return write(int32, static_cast<uint16_t*>(nullptr));
    case ParquetValue::kUint32:
      return write(int32, static_cast<uint32_t*>(nullptr));
    case ParquetValue::kUint64:
      return write(int64, static_cast<uint64_t*>(nullptr));
    case ParquetValue::kFloat:
      return write(static_cast<parquet::FloatType*>(nullptr), static_cast<float*>(nullptr));
    case ParquetValue::kDouble:
      return write(static_cast<parquet::DoubleType*>(nullptr), static_cast<double*>(nullptr));
    case ParquetValue::kText:
      return write(static_cast<parquet::ByteArrayType*>(nullptr), static_cast<std::string_view*>(nullptr));
  }
}

parquet::Compression::type CodecOf(ParquetCodec codec) {
  switch (codec) {
    case ParquetCodec::kSnappy:
      return parquet::Compression::SNAPPY;
    case ParquetCodec::kZstd:
      return parquet::Compression::ZSTD;
    default:
      return parquet::Compression::UNCOMPRESSED;
  }
}

class PartWriter final : public ParquetWriter {
 public:
  PartWriter(TaskContext& task, PartFile& part, std::span<const ParquetField> fields, const ParquetOptions& options)
      : task_(task),
        fields_(fields.begin(), fields.end()),
        group_bytes_(
            std::clamp<int64_t>(options.row_group_bytes, 1, std::max<int64_t>(1, task.memory_bytes / kMemoryOfGroup))),
        memory_(task.memory_bytes),
        output_(std::make_shared<ParquetOutput>(part)),
        writer_(parquet::ParquetFileWriter::Open(output_, ParquetSchemaOf(fields, options), PropertiesFor(options))) {}
  /// Arrow ends a file that was left in its middle; that must go nowhere.
  ~PartWriter() override { static_cast<void>(output_->Close()); }
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  void Write(const ParquetRows& rows) override {
    task_.CheckKilled();
    if (rows.count == 0) return;
    Guarded(kWhat, [&] {
      if (group_ == nullptr) group_ = writer_->AppendBufferedRowGroup();
      int64_t bytes = 0;
      for (size_t i = 0; i < fields_.size(); ++i) {
        parquet::ColumnWriter& column = *group_->column(static_cast<int>(i));
        WriteField(column, fields_[i], rows.columns[i], rows.count, levels_);
        bytes += column.total_compressed_bytes_written() + column.total_compressed_bytes() +
                 column.estimated_buffered_value_bytes();
      }
      if (bytes >= group_bytes_) EndGroup();
    });
  }
  void Close() override {
    Guarded(kWhat, [&] {
      EndGroup();
      writer_->Close();
    });
  }

 private:
  void EndGroup() {
    if (group_ != nullptr) group_->Close();
    group_ = nullptr;
  }
  std::shared_ptr<parquet::WriterProperties> PropertiesFor(const ParquetOptions& options) {
    parquet::WriterProperties::Builder builder;
    // Each column has a page and a dictionary in memory.
    const int64_t page = std::clamp(group_bytes_ / static_cast<int64_t>(2 * fields_.size()), kPageMin, kPageMax);
    builder.memory_pool(memory_.pool())->compression(CodecOf(options.codec))->enable_page_checksum();
    builder.data_pagesize(page)->dictionary_pagesize_limit(page);
    return builder.build();
  }

  TaskContext& task_;
  const std::vector<ParquetField> fields_;
  const int64_t group_bytes_;
  ParquetMemory memory_;  // what follows has memory of it
  const std::shared_ptr<ParquetOutput> output_;
  const std::unique_ptr<parquet::ParquetFileWriter> writer_;
  parquet::RowGroupWriter* group_ = nullptr;
  Levels levels_;
};

}  // namespace

std::unique_ptr<ParquetWriter> OpenParquetWriter(TaskContext& task, PartFile& part,
                                                 std::span<const ParquetField> fields, const ParquetOptions& options) {
  return Guarded(kWhat, [&] { return std::make_unique<PartWriter>(task, part, fields, options); });
}

}  // namespace fairlead::engine
