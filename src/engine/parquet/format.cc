#include "engine/parquet/reader.h"
#include "engine/parquet/writer.h"

namespace fairlead::engine {

namespace {

class ArrowParquet final : public ParquetFormat {
 public:
  ArrowParquet() { ProvideParquet(*this); }
  void Check(const std::string& path, uint64_t size, std::span<const ParquetField> fields) const override {
    CheckParquetFile(path, size, fields);
  }
  std::unique_ptr<ParquetReader> Open(TaskContext& task, const FileSplit& split,
                                      std::span<const ParquetField> fields) const override {
    return OpenParquetReader(task, split, fields);
  }
  std::unique_ptr<ParquetWriter> Create(TaskContext& task, PartFile& part, std::span<const ParquetField> fields,
                                        const ParquetOptions& options) const override {
    return OpenParquetWriter(task, part, fields, options);
  }
};

const ArrowParquet registered;

}  // namespace

}  // namespace fairlead::engine

/// Named by the link option of Fairlead::parquet, so that this file is linked although nothing else names it.
extern "C" {
extern const char fairlead_engine_parquet;
const char fairlead_engine_parquet = 0;
}
