#include "engine/parquet/reader.h"

#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/parquet/column_cursor.h"
#include "engine/parquet/columns.h"
#include "engine/parquet/files.h"
#include "engine/parquet/guarded.h"

namespace fairlead::engine {

namespace {

constexpr int64_t kDriverMemory = 256 << 20;
constexpr uint64_t kFooterMin = 1 << 20;
constexpr int64_t kColumnBuffer = 128 << 10;      // of the file's bytes, for each column
constexpr int32_t kMetadataTextMax = 16 << 20;    // bytes of one
constexpr int32_t kMetadataListMax = 100 * 1000;  // columns of a file, row groups, key-value pairs
constexpr int64_t kSampleSpots = 8;

std::string What(const std::string& path) { return "cannot read " + path + " as Parquet"; }

/// A file that ends with its footer, a Thrift struct that is some hundred times as large once it is read.
void CheckFooter(ParquetInput& file, uint64_t size, int64_t memory_bytes) {
  constexpr uint64_t kTail = 8;  // the footer's length, "PAR1"
  if (size < kTail + 4) throw TaskError("it has " + std::to_string(size) + " bytes");
  char tail[kTail];
  arrow::Status sought = file.Seek(static_cast<int64_t>(size - kTail));
  const arrow::Result<int64_t> got = file.Read(kTail, tail);
  if (!sought.ok() || !got.ok() || *got != kTail) {
    throw TaskError(!got.ok() ? got.status().message() : "it became shorter while it was read");
  }
  if (std::memcmp(tail + 4, "PARE", 4) == 0) throw TaskError("it is encrypted");
  if (std::memcmp(tail + 4, "PAR1", 4) != 0) throw TaskError("it does not end with PAR1");
  uint32_t footer = 0;
  for (size_t i = 4; i-- > 0;) footer = footer << 8 | static_cast<unsigned char>(tail[i]);
  if (footer > size - kTail) throw TaskError("its footer is longer than the file");
  const uint64_t most = std::max(kFooterMin, static_cast<uint64_t>(memory_bytes) / 16);
  if (footer > most) {
    throw TaskError("its footer of " + std::to_string(footer) + " bytes is too long for the task's memory (at most " +
                    std::to_string(most) + ")");
  }
}

parquet::ReaderProperties PropertiesFor(ParquetMemory& memory) {
  parquet::ReaderProperties properties(memory.pool());
  properties.enable_buffered_stream();  // pages as they come, not whole column chunks
  properties.set_buffer_size(kColumnBuffer);
  properties.set_thrift_string_size_limit(kMetadataTextMax);
  properties.set_thrift_container_size_limit(kMetadataListMax);
  properties.set_page_checksum_verification(true);
  return properties;
}

/// A file with its footer read.
class OpenFile {
 public:
  OpenFile(const std::string& path, uint64_t size, int64_t memory_bytes, int64_t& bytes_read)
      : memory_(memory_bytes), input_(std::make_shared<ParquetInput>(path, size, bytes_read)) {
    CheckFooter(*input_, size, memory_bytes);
    const parquet::ReaderProperties properties = PropertiesFor(memory_);
    reader_ = parquet::ParquetFileReader::Open(input_, properties);
  }
  parquet::ParquetFileReader& reader() { return *reader_; }
  const parquet::FileMetaData& metadata() const { return *reader_->metadata(); }
  std::vector<ParquetLeaf> FindLeaves(std::span<const ParquetField> fields) const {
    std::vector<ParquetLeaf> leaves;
    for (const ParquetField& field : fields) leaves.push_back(FindParquetLeaf(*metadata().schema(), field));
    return leaves;
  }

 private:
  ParquetMemory memory_;  // what follows has memory of it
  std::shared_ptr<ParquetInput> input_;
  std::unique_ptr<parquet::ParquetFileReader> reader_;
};

/// The byte in the middle of a row group, which is in one split alone.
uint64_t MiddleOf(const parquet::RowGroupMetaData& group, uint64_t file_size) {
  if (group.num_columns() == 0) return 0;
  const auto first = group.ColumnChunk(0);
  int64_t begin = first->data_page_offset();
  if (first->has_dictionary_page() && first->dictionary_page_offset() > 0) {
    begin = std::min(begin, first->dictionary_page_offset());
  }
  const uint64_t half = static_cast<uint64_t>(std::max<int64_t>(0, group.total_compressed_size())) / 2;
  return std::min(static_cast<uint64_t>(std::max<int64_t>(0, begin)) + half, file_size - 1);
}

class RowGroupsReader final : public ParquetReader {
 public:
  RowGroupsReader(TaskContext& task, const FileSplit& split, std::span<const ParquetField> fields)
      : task_(task),
        path_(split.path),
        fields_(fields.begin(), fields.end()),
        file_(split.path, split.file_size, task.memory_bytes, task.metrics.bytes_read),
        leaves_(file_.FindLeaves(fields)),
        columns_(fields.size()) {
    for (int i = 0; i < file_.metadata().num_row_groups(); ++i) {
      const uint64_t middle = MiddleOf(*file_.metadata().RowGroup(i), split.file_size);
      if (middle >= split.offset && middle - split.offset < split.length) groups_.push_back(i);
    }
  }

  bool Next(ParquetRows& rows) override {
    task_.CheckKilled();
    return Guarded(What(path_), [&] {
      for (const auto& cursor : cursors_) cursor->Advance(given_);
      given_ = 0;
      while (spot_left_ == 0) {
        if (!NextSpot()) return false;
      }
      Give(rows);
      return true;
    });
  }

 private:
  bool NextSpot() {
    if (skip_ > 0 && skip_ <= group_left_) {
      for (const auto& cursor : cursors_) cursor->Skip(static_cast<size_t>(skip_));
      group_left_ -= skip_;
      spot_left_ = std::min(spot_, group_left_);
      return true;
    }
    cursors_.clear();
    if (next_group_ == groups_.size()) return false;
    OpenGroup(groups_[next_group_++]);
    return true;
  }

  void OpenGroup(int index) {
    const std::shared_ptr<parquet::RowGroupReader> group = file_.reader().RowGroup(index);
    group_left_ = spot_left_ = spot_ = group->metadata()->num_rows();
    if (group_left_ < 0) throw TaskError("a row group with a negative number of rows");
    skip_ = 0;
    if (group_left_ == 0) return;
    for (size_t i = 0; i < fields_.size(); ++i) {
      cursors_.push_back(MakeColumnCursor(group->Column(leaves_[i].index), leaves_[i], fields_[i],
                                          static_cast<size_t>(task_.memory_bytes) / 2));
    }
    if (task_.sample_records > 0) ChooseSpots();
  }
  /// A sampling task looks at some spots of each row group.
  void ChooseSpots() {
    const int64_t spots = kSampleSpots * static_cast<int64_t>(groups_.size());
    const int64_t wanted = std::max<int64_t>(1, task_.sample_records / spots);
    const int64_t step = group_left_ / kSampleSpots;
    if (wanted >= step) return;
    spot_ = spot_left_ = wanted;
    skip_ = step - wanted;
  }

  void Give(ParquetRows& rows) {
    size_t count = static_cast<size_t>(spot_left_);
    for (const auto& cursor : cursors_) count = std::min(count, cursor->Fill());
    for (size_t i = 0; i < cursors_.size(); ++i) columns_[i] = cursors_[i]->column();
    rows = {count, columns_};
    given_ = count;
    spot_left_ -= static_cast<int64_t>(count);
    group_left_ -= static_cast<int64_t>(count);
    task_.metrics.records_read += static_cast<int64_t>(count);
  }

  TaskContext& task_;
  const std::string path_;
  const std::vector<ParquetField> fields_;
  OpenFile file_;
  const std::vector<ParquetLeaf> leaves_;
  std::vector<int> groups_;  // of the split
  size_t next_group_ = 0;
  // Of the row group that is being read.
  std::vector<std::unique_ptr<ColumnCursor>> cursors_;
  int64_t group_left_ = 0;
  int64_t spot_left_ = 0;
  int64_t spot_ = 0;  // rows of a sampled spot
  int64_t skip_ = 0;  // rows between spots; 0: all rows are read
  size_t given_ = 0;
  std::vector<ParquetColumn> columns_;
};

}  // namespace

void CheckParquetFile(const std::string& path, uint64_t size, std::span<const ParquetField> fields) {
  int64_t bytes_read = 0;
  Guarded(What(path), [&] { OpenFile(path, size, kDriverMemory, bytes_read).FindLeaves(fields); });
}

std::unique_ptr<ParquetReader> OpenParquetReader(TaskContext& task, const FileSplit& split,
                                                 std::span<const ParquetField> fields) {
  return Guarded(What(split.path), [&] { return std::make_unique<RowGroupsReader>(task, split, fields); });
}

}  // namespace fairlead::engine
