#include "engine/io/parquet.h"

#include <algorithm>

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

void CheckParquetColumns(const std::string& what, const std::vector<std::string>& names, size_t fields) {
  CheckColumns(what, names.size(), fields);
  if (names.empty()) throw JobError(what + ": a record without fields");
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) throw JobError(what + ": a column without a name");
    if (names[i].find('.') != std::string::npos) {
      throw JobError(what + ": structs are not written, so a column cannot be named " + names[i]);
    }
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw JobError(what + ": two columns are named " + names[i]);
    }
  }
}

}  // namespace fairlead::engine
