#include "engine/local_blocks.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/bytes.h"
#include "engine/buffer.h"
#include "engine/errors.h"
#include "engine/files.h"
#include "engine/frame.h"
#include "engine/spark_layout.h"

namespace fairlead::engine {

namespace {

/// Blocks from this size on are mapped instead of copied: the page cache holds them already, and shuffle files never
/// change once they have their name.
constexpr uint64_t kMapBytes = 128 << 10;

struct Mapping {
  Mapping(void* at, size_t size) : address(at), length(size) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(address, length); }
  void* address;
  size_t length;
  std::string_view bytes;
};

/// Null when the system refuses.
std::shared_ptr<const Mapping> Map(const FileDescriptor& file, uint64_t begin, uint64_t end) {
  const uint64_t from = begin & ~uint64_t{4095};
  void* const address =
      ::mmap(nullptr, end - from, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.get(), static_cast<off_t>(from));
  if (address == MAP_FAILED) return nullptr;
  auto mapping = std::make_shared<Mapping>(address, end - from);
  mapping->bytes = {static_cast<const char*>(address) + (begin - from), end - begin};
  return mapping;
}

/// Gives a long block in pieces of whole frames, so that one that is larger than the task's memory is read as well.
class LocalInput : public ShuffleInput {
 public:
  LocalInput(std::vector<BlockRequest> blocks, const std::vector<std::string>& directories, TaskContext& task)
      : blocks_(std::move(blocks)),
        directories_(directories),
        task_(task),
        piece_(std::max<uint64_t>(1 << 20, static_cast<uint64_t>(task.memory_bytes) / 16)) {}

  bool Next(ShuffleBlock& block) override {
    for (;;) {
      if (at_ == end_ && next_ == blocks_.size()) return false;
      const BlockRequest& request = blocks_[at_ == end_ ? next_++ : next_ - 1];
      try {
        if (at_ == end_) Open(request);
        if (at_ == end_) continue;  // empty
        ReadPiece(request, block);
        return true;
      } catch (const TaskError& error) {
        throw FetchFailed(request.shuffle, request.map_index, request.place, error.what());
      }
    }
  }

 private:
  void Open(const BlockRequest& request) {
    const std::string index_path = BlockPath(directories_, ShuffleIndexName(request.shuffle, request.map_task));
    const FileDescriptor index = OpenForReading(index_path);
    char entry[16];
    if (ReadAt(index, index_path, static_cast<uint64_t>(request.reduce) * 8, entry, sizeof entry) != sizeof entry) {
      throw TaskError(index_path + " is too short");
    }
    base::ByteReader offsets(std::string_view(entry, sizeof entry));
    const uint64_t begin = offsets.U64(), end = offsets.U64();
    if (end < begin) throw TaskError(index_path + " is damaged");
    if (end == begin) return;
    path_ = BlockPath(directories_, ShuffleDataName(request.shuffle, request.map_task));
    data_ = OpenForReading(path_);
    if (end > FileSize(data_, path_)) throw TaskError(path_ + " is too short");
    task_.metrics.shuffle_bytes_local += static_cast<int64_t>(end - begin);
    at_ = begin;
    end_ = end;
  }

  void ReadPiece(const BlockRequest& request, ShuffleBlock& block) {
    for (uint64_t piece = piece_;; piece *= 2) {
      const bool last = end_ - at_ <= piece;
      block = {request.map_index, request.place, {}, nullptr};
      ReadRange(at_, last ? end_ : at_ + piece, block);
      const size_t whole = last ? block.bytes.size() : WholeFrames(block.bytes);
      if (whole == 0) continue;  // a frame longer than the piece
      block.bytes = block.bytes.substr(0, whole);
      at_ += whole;
      return;
    }
  }

  void ReadRange(uint64_t begin, uint64_t end, ShuffleBlock& block) {
    if (end - begin >= kMapBytes) {
      if (auto mapping = Map(data_, begin, end)) {
        block.bytes = mapping->bytes;
        block.owner = mapping;
        return;
      }
    }
    auto bytes = std::make_shared<Buffer>(end - begin);
    bytes->Resize(end - begin);
    if (ReadAt(data_, path_, begin, bytes->data(), end - begin) != end - begin) {
      throw TaskError(path_ + " is too short");
    }
    block.bytes = bytes->view();
    block.owner = bytes;
  }

  std::vector<BlockRequest> blocks_;
  const std::vector<std::string>& directories_;
  TaskContext& task_;
  const uint64_t piece_;
  size_t next_ = 0;
  std::string path_;  // of the block at hand
  FileDescriptor data_;
  uint64_t at_ = 0;
  uint64_t end_ = 0;
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
