#include "engine/run/local_blocks.h"

#include "base/bytes.h"
#include "engine/io/file_pieces.h"
#include "engine/io/files.h"
#include "engine/records/errors.h"
#include "wire/spark_shuffle/layout.h"

namespace fairlead::engine {

namespace layout = wire::spark_shuffle;

namespace {

class LocalInput : public ShuffleInput {
 public:
  LocalInput(std::vector<BlockRequest> blocks, const std::vector<std::string>& directories, TaskContext& task)
      : blocks_(std::move(blocks)), directories_(directories), task_(task) {}

  bool Next(ShuffleBlock& block) override {
    for (;;) {
      if (pieces_.done() && next_ == blocks_.size()) return false;
      const BlockRequest& request = blocks_[pieces_.done() ? next_++ : next_ - 1];
      try {
        if (pieces_.done()) Open(request);
        if (pieces_.done()) continue;  // empty
        block = {request.map_index, request.place, {}, nullptr};
        pieces_.Next(block);
        return true;
      } catch (const TaskError& error) {
        throw FetchFailed(request.shuffle, request.map_index, request.place, error.what());
      }
    }
  }

 private:
  void Open(const BlockRequest& request) {
    const std::string index_path =
        layout::BlockPath(directories_, layout::ShuffleIndexName(request.shuffle, request.map_task));
    const FileDescriptor index = OpenForReading(index_path);
    char entry[16];
    if (ReadAt(index.get(), index_path, static_cast<uint64_t>(request.reduce) * 8, entry, sizeof entry) !=
        sizeof entry) {
      throw TaskError(index_path + " is too short");
    }
    const std::string_view offsets(entry, sizeof entry);
    const auto begin = base::BigEndian<uint64_t>(offsets), end = base::BigEndian<uint64_t>(offsets.substr(8));
    if (end < begin) throw TaskError(index_path + " is damaged");
    if (end == begin) return;
    const std::string path =
        layout::BlockPath(directories_, layout::ShuffleDataName(request.shuffle, request.map_task));
    data_ = OpenForReading(path);
    pieces_ = FilePieces(data_.get(), path, begin, end, task_);
    task_.metrics.shuffle_bytes_local += static_cast<int64_t>(end - begin);
  }

  std::vector<BlockRequest> blocks_;
  const std::vector<std::string>& directories_;
  TaskContext& task_;
  size_t next_ = 0;
  FileDescriptor data_;  // of the block at hand
  FilePieces pieces_;
};

class BothInputs : public ShuffleInput {
 public:
  BothInputs(std::unique_ptr<ShuffleInput> first, std::unique_ptr<ShuffleInput> second)
      : first_(std::move(first)), second_(std::move(second)) {}
  bool Next(ShuffleBlock& block) override {
    if (first_) {
      if (first_->Next(block)) return true;
      first_.reset();
    }
    return second_->Next(block);
  }

 private:
  std::unique_ptr<ShuffleInput> first_, second_;
};

}  // namespace

std::unique_ptr<ShuffleInput> ReadLocalBlocks(std::vector<BlockRequest> blocks,
                                              const std::vector<std::string>& local_directories, TaskContext& task) {
  return std::make_unique<LocalInput>(std::move(blocks), local_directories, task);
}

std::unique_ptr<ShuffleInput> Concatenate(std::unique_ptr<ShuffleInput> first, std::unique_ptr<ShuffleInput> second) {
  return std::make_unique<BothInputs>(std::move(first), std::move(second));
}

}  // namespace fairlead::engine
