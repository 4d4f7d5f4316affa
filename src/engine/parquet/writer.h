#pragma once

#include <memory>
#include <span>

#include "engine/io/parquet.h"
#include "engine/io/save.h"
#include "engine/plan/operators.h"

namespace fairlead::engine {

/// ParquetFormat::Create.
std::unique_ptr<ParquetWriter> OpenParquetWriter(TaskContext& task, PartFile& part,
                                                 std::span<const ParquetField> fields, const ParquetOptions& options);

}  // namespace fairlead::engine
