#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/io/parquet.h"
#include "engine/io/sources.h"
#include "engine/plan/operators.h"

namespace fairlead::engine {

/// ParquetFormat::Check.
void CheckParquetFile(const std::string& path, uint64_t size, std::span<const ParquetField> fields);
/// ParquetFormat::Open.
std::unique_ptr<ParquetReader> OpenParquetReader(TaskContext& task, const FileSplit& split,
                                                 std::span<const ParquetField> fields);

}  // namespace fairlead::engine
