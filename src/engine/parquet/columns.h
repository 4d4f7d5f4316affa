#pragma once

#include <parquet/schema.h>

#include <cstdint>
#include <memory>
#include <string>

#include "engine/io/parquet.h"

// Which column of a file is meant by a field, and whether the one fits the other.

namespace fairlead::engine {

/// How stored numbers become a field's.
enum class ParquetScale : uint8_t {
  kAsStored,
  kUnsigned,    // stored in a signed type of the same size
  kFromMillis,  // to microseconds
  kFromNanos,
};

/// A field's column in a file. Levels as Parquet counts them: how many of the optional and repeated nodes above a value
/// are there.
struct ParquetLeaf {
  int index = 0;              // among the file's leaves
  int16_t present_level = 0;  // of a value that is there
  int16_t item_level = 0;     // of a list: from here on there is an item, perhaps null
  ParquetScale scale = ParquetScale::kAsStored;
};

/// The column that `field` names. Throws TaskError, without the file's name, when there is none, when the engine does
/// not read such columns, or when the column's values do not all fit the field's type.
ParquetLeaf FindParquetLeaf(const parquet::SchemaDescriptor& schema, const ParquetField& field);

/// The C++ type of a field, for people.
std::string ParquetTypeOf(const ParquetField& field);

/// A file's schema for the fields.
std::shared_ptr<parquet::schema::GroupNode> ParquetSchemaOf(std::span<const ParquetField> fields,
                                                            const ParquetOptions& options);

}  // namespace fairlead::engine
