#include "engine/io/file_pieces.h"

#include <sys/mman.h>

#include <algorithm>

#include "engine/io/files.h"
#include "engine/records/buffer.h"
#include "engine/records/errors.h"
#include "engine/records/frame.h"

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
std::shared_ptr<const Mapping> Map(int file, uint64_t begin, uint64_t end) {
  const uint64_t from = begin & ~uint64_t{4095};
  void* const address =
      ::mmap(nullptr, end - from, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, static_cast<off_t>(from));
  if (address == MAP_FAILED) return nullptr;
  auto mapping = std::make_shared<Mapping>(address, end - from);
  mapping->bytes = {static_cast<const char*>(address) + (begin - from), end - begin};
  return mapping;
}

}  // namespace

FilePieces::FilePieces(int file, std::string name, uint64_t begin, uint64_t end, const TaskContext& task)
    : file_(file),
      name_(std::move(name)),
      at_(begin),
      end_(end),
      piece_(std::max<uint64_t>(1 << 20, static_cast<uint64_t>(task.memory_bytes) / 16)) {
  if (end > FileSize(file, name_)) throw TaskError(name_ + " is too short");
}

void FilePieces::Next(ShuffleBlock& block) {
  for (uint64_t piece = piece_;; piece *= 2) {
    const bool last = end_ - at_ <= piece;
    ReadRange(last ? end_ : at_ + piece, block);
    const size_t whole = last ? block.bytes.size() : WholeFrames(block.bytes);
    if (whole == 0) continue;  // a frame longer than the piece
    block.bytes = block.bytes.substr(0, whole);
    at_ += whole;
    return;
  }
}

void FilePieces::ReadRange(uint64_t end, ShuffleBlock& block) {
  const uint64_t length = end - at_;
  if (length >= kMapBytes) {
    if (auto mapping = Map(file_, at_, end)) {
      block.bytes = mapping->bytes;
      block.owner = mapping;
      return;
    }
  }
  auto bytes = std::make_shared<Buffer>(length);
  bytes->Resize(length);
  if (ReadAt(file_, name_, at_, bytes->data(), length) != length) throw TaskError(name_ + " is too short");
  block.bytes = bytes->view();
  block.owner = bytes;
}

}  // namespace fairlead::engine
