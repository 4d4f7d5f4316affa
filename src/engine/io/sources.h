#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "engine/plan/node.h"
#include "engine/plan/operators.h"
#include "engine/records/rows.h"

// Files as datasets: which files, which byte ranges, and how ranges become lines, fixed records CSV rows and JSON
// lines.

namespace fairlead::engine {

/// A byte range of a file; `file_size` as it was when the job was planned.
struct FileSplit {
  std::string path;
  uint64_t offset = 0;
  uint64_t length = 0;
  uint64_t file_size = 0;
  bool whole = false;  // compressed: read from its beginning
  FL_FIELDS(path, offset, length, file_size, whole)
};

/// Expands `path` (a file, a directory without names that begin with '_' or '.' and without directories in it, or a
/// pattern with * ? [ ] of files and such directories) and cuts
/// its files into splits: where they are large enough a multiple of `pieces`, of about 64 MiB at most. Names ending in
/// .gz or .zst are not cut. `multiple_of`: cut only there (fixed records). Throws JobError that names what is missing
/// or unreadable.
std::vector<FileSplit> PlanSplits(const std::string& path, int32_t pieces, uint64_t multiple_of = 1);

/// Where the bytes of each split lie: at most three hosts, those with most of them first (Spark:
/// FilePartition.preferredLocations), hosts that have them in memory before others. "localhost" is no place. A request
/// per file.
DataPlaces PlacesOf(const std::vector<FileSplit>& splits);

/// Calls use(line) for each line that begins in the split; ends of line are \n or \r\n. Bytes are passed as they are.
void ReadLines(TaskContext& task, const FileSplit& split, const std::function<void(std::string_view line)>& use);

/// Calls use(record) for each record of `size` bytes.
void ReadRecords(TaskContext& task, const FileSplit& split, uint64_t size,
                 const std::function<void(std::string_view record)>& use);

/// What to do with a CSV row of wrong width or a value that does not parse.
enum class BadRows : uint8_t { kFail, kCount };

struct CsvOptions {
  char separator = ',';
  bool header = true;
  BadRows bad_rows = BadRows::kFail;
};

/// A CSV source after its header was read: which columns are wanted, in which order.
struct CsvLayout {
  char separator = ',';
  bool header = true;
  bool count_bad = false;
  int32_t width = 0;  // fields in a row
  std::vector<int32_t> columns;
  std::vector<std::string> names;
  FL_FIELDS(separator, header, count_bad, width, columns, names)
};

/// Reads the header of the first split's file. `names` empty: the first `count` columns. Throws JobError when a named
/// column is missing, or the header is because `path` holds not a byte.
CsvLayout PlanCsv(const std::string& path, const std::vector<FileSplit>& splits, const std::vector<std::string>& names,
                  size_t count, const CsvOptions& options);

/// Calls use(wanted fields) for each row that begins in the split; use gives the index of the field that does not
/// parse, or -1. Quoted fields may hold separators and doubled quotes, not line ends.
void ReadCsv(TaskContext& task, const FileSplit& split, const CsvLayout& layout,
             const std::function<int(std::span<const std::string_view> fields)>& use);

/// A source of JSON lines: the members that are wanted, in the order of a record's fields.
struct JsonLayout {
  std::vector<std::string> names;
  bool count_bad = false;
  FL_FIELDS(names, count_bad)
};

/// Calls use(wanted members) for each line of the split, one JSON object a line; use gives the index of the member that
/// does not parse, or -1. A name with dots leads into objects. Lines of blanks are passed over. What a line costs is
/// bounded (wire/json/json.h, kFile).
void ReadJsonLines(TaskContext& task, const FileSplit& split, const JsonLayout& layout,
                   const std::function<int(std::span<const JsonField> fields)>& use);

/// Throws JobError unless there are as many names as a record has fields.
void CheckColumns(const std::string& what, size_t names, size_t fields);

/// Splits one CSV row; quoted fields are unescaped into `scratch`. False when a quote is not closed.
bool SplitCsvRow(std::string_view row, char separator, std::vector<std::string_view>& fields, std::string& scratch);

}  // namespace fairlead::engine
