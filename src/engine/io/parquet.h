#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fields.h"

// Parquet files as the engine sees them: columns of plain arrays. What reads and writes them is the component
// Fairlead::parquet (engine/parquet, Apache Arrow), which a program links or not; no header of Arrow is seen here.

namespace fairlead::engine {

class TaskContext;
class PartFile;
struct FileSplit;

/// The C++ type of a field's values.
enum class ParquetValue : uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat,
  kDouble,
  kText,
};

/// A field of a record, and the column of a file that goes with it.
struct ParquetField {
  std::string name;  // of the column; dots lead into structs
  ParquetValue value = ParquetValue::kInt64;
  bool optional = false;        // a std::optional
  bool list = false;            // a std::vector of values
  bool optional_items = false;  // whose items are std::optional
};

/// Some rows of one column. Arrays of values have a place for each value, nulls as well.
struct ParquetColumn {
  const void* values = nullptr;      // of the field's C++ type; of std::string_view for texts
  const uint8_t* present = nullptr;  // a byte for each value, 0: null; no array: none is null
  const uint32_t* begins = nullptr;  // of lists: row i has the values [begins[i], begins[i + 1])
  const uint8_t* lists = nullptr;    // of lists: a byte for each row, 0: null; no array: none is null
};

struct ParquetRows {
  size_t count = 0;
  std::span<const ParquetColumn> columns;
};

class ParquetReader {
 public:
  virtual ~ParquetReader() = default;
  /// The next rows; what they point to lives until the next call. False at the end. Throws TaskError, TaskKilled.
  virtual bool Next(ParquetRows& rows) = 0;
};

class ParquetWriter {
 public:
  virtual ~ParquetWriter() = default;
  /// Throws TaskError.
  virtual void Write(const ParquetRows& rows) = 0;
  /// Ends the file. Throws TaskError.
  virtual void Close() = 0;
};

enum class ParquetCodec : uint8_t { kNone, kSnappy, kZstd };

struct ParquetOptions {
  ParquetCodec codec = ParquetCodec::kSnappy;
  /// A row group is ended at this size, as written, or at an eighth of its task's memory if that is less.
  int64_t row_group_bytes = 128 << 20;
  /// Columns of int64_t that hold microseconds since 1970-01-01 UTC, and columns of int32_t that hold days since then:
  /// other programs see timestamps and dates.
  std::vector<std::string> timestamps{};
  std::vector<std::string> dates{};
  FL_FIELDS(codec, row_group_bytes, timestamps, dates)
};

class ParquetFormat {
 public:
  virtual ~ParquetFormat() = default;
  /// Looks into a file of `size` bytes for columns that fit the fields. Throws TaskError that names the file, the
  /// column, its type and the field's.
  virtual void Check(const std::string& path, uint64_t size, std::span<const ParquetField> fields) const = 0;
  /// Reads those row groups of the file whose middle lies in the split (as Hadoop's ParquetInputFormat does), and of
  /// them the columns of `fields` alone. Throws TaskError.
  virtual std::unique_ptr<ParquetReader> Open(TaskContext& task, const FileSplit& split,
                                              std::span<const ParquetField> fields) const = 0;
  /// `part` must outlive what is given. Throws TaskError.
  virtual std::unique_ptr<ParquetWriter> Create(TaskContext& task, PartFile& part, std::span<const ParquetField> fields,
                                                const ParquetOptions& options) const = 0;
};

/// Called by the component before main().
void ProvideParquet(const ParquetFormat& format);
/// Throws JobError in a program without the component, which says how to get it.
const ParquetFormat& FindParquet();

/// Driver: looks into the first of the files, so that a wrong column fails a job before any task runs; each task looks
/// at its own. Throws JobError.
void CheckParquet(const std::string& path, std::span<const FileSplit> splits, std::span<const ParquetField> fields);
/// Throws JobError unless there is a name for each of a record's fields, each once, and none leads into a struct; and
/// unless the options name columns of these.
void CheckParquetColumns(const std::vector<std::string>& names, std::span<const ParquetField> fields,
                         const ParquetOptions& options);

}  // namespace fairlead::engine
