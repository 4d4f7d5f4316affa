#pragma once

#include <parquet/column_reader.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/io/parquet.h"
#include "engine/parquet/columns.h"

namespace fairlead::engine {

/// Goes through one column of a row group. Holds a page and the values of some thousand rows, whatever the row group's
/// size; of lists also the row that is being read.
class ColumnCursor {
 public:
  virtual ~ColumnCursor() = default;
  /// How many rows can be looked at from here; reads on when there are none. Never 0. Throws TaskError, without the
  /// file's name, when the column ends, or holds a null for a field that takes none.
  virtual size_t Fill() = 0;
  /// The rows from here on, as many as Fill() has given.
  virtual ParquetColumn column() const = 0;
  /// Goes on by `rows`, at most what Fill() has given.
  virtual void Advance(size_t rows) = 0;
  /// Goes on by `rows` that nobody looks at.
  virtual void Skip(size_t rows) = 0;
};

/// `reader` is that of the leaf; `field` must outlive the cursor. `list_bytes_max`: the most that one row's list may
/// take.
std::unique_ptr<ColumnCursor> MakeColumnCursor(std::shared_ptr<parquet::ColumnReader> reader, const ParquetLeaf& leaf,
                                               const ParquetField& field, size_t list_bytes_max);

}  // namespace fairlead::engine
