#include "engine/io/parquet.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "engine/io/sources.h"
#include "engine/records/errors.h"

namespace fairlead::engine {

namespace {
// Constant-initialised: a component registers itself while other statics are not there yet.
constinit const ParquetFormat* provided = nullptr;
}  // namespace

void ProvideParquet(const ParquetFormat& format) { provided = &format; }

const ParquetFormat& FindParquet() {
  if (provided != nullptr) return *provided;
  throw JobError(
      "this program cannot read or write Parquet: link Fairlead::parquet, which is built where Apache Arrow is found "
      "(tools/setup --parquet fetches it)");
}

void CheckParquet(const std::string& path, std::span<const FileSplit> splits, std::span<const ParquetField> fields) {
  const ParquetFormat& format = FindParquet();
  if (fields.empty()) throw JobError("reading " + path + ": a record without fields");
  if (splits.empty()) return;
  try {
    format.Check(splits.front().path, splits.front().file_size, fields);
  } catch (const TaskError& error) {
    throw JobError(error.what());
  }
}

namespace {

void CheckTimes(const std::vector<std::string>& names, std::span<const ParquetField> fields, ParquetValue wanted,
                const std::string& what) {
  for (const std::string& name : names) {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const ParquetField& field) { return field.name == name; });
    if (found == fields.end()) throw JobError("SaveParquet: there is no column " + name + " for " + what);
    if (found->value != wanted) throw JobError("SaveParquet: column " + name + " cannot hold " + what);
  }
}

}  // namespace

void CheckParquetColumns(const std::vector<std::string>& names, std::span<const ParquetField> fields,
                         const ParquetOptions& options) {
  CheckColumns("SaveParquet", names.size(), fields.size());
  if (names.empty()) throw JobError("SaveParquet: a record without fields");
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (name.empty()) throw JobError("SaveParquet: a column without a name");
    if (name.find('.') != std::string::npos) {
      throw JobError("SaveParquet: structs are not written, so a column cannot be named " + name);
    }
    if (!seen.insert(name).second) throw JobError("SaveParquet: two columns are named " + name);
  }
  CheckTimes(options.timestamps, fields, ParquetValue::kInt64, "timestamps, which are int64_t");
  CheckTimes(options.dates, fields, ParquetValue::kInt32, "dates, which are int32_t");
}

}  // namespace fairlead::engine
