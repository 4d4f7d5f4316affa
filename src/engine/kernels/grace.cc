#include "engine/kernels/grace.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "engine/io/files.h"
#include "engine/records/errors.h"

namespace fairlead::engine {

namespace {
/// All buffers together stay a small part of the task's memory.
constexpr size_t kFlushBytesMax = 256 << 10;
constexpr int64_t kMemoryParts = 32 * GraceFiles::kParts;
}  // namespace

GraceFiles::GraceFiles(TaskContext& task, RecordShape shape, int level)
    : task_(task),
      shape_(shape),
      level_(level),
      flush_bytes_(std::min(kFlushBytesMax, static_cast<size_t>(task.memory_bytes / kMemoryParts))) {}

GraceFiles::~GraceFiles() {
  for (const std::string& path : paths_) {
    if (!path.empty()) ::unlink(path.c_str());
  }
}

void GraceFiles::Add(uint64_t hash, std::string_view key, std::string_view value) {
  // Bits 28.. of the hash: below those that chose the partition, above those of a table's slots.
  const uint32_t part = static_cast<uint32_t>(hash >> (28 - 4 * level_)) % kParts;
  Buffer& buffer = buffers_[part];
  AppendPart(buffer, key, shape_.key_fixed);
  AppendPart(buffer, value, shape_.value_fixed);
  if (buffer.size() >= flush_bytes_) Flush(part);
}

void GraceFiles::Flush(uint32_t part) {
  Buffer& buffer = buffers_[part];
  if (buffer.empty()) return;
  if (paths_[part].empty()) paths_[part] = task_.ScratchPath();
  const FileDescriptor file(::open(paths_[part].c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file.valid()) throw TaskError("cannot create spill file " + paths_[part]);
  const uint64_t size = buffer.size();
  WriteAll(file.get(), paths_[part], std::string_view(reinterpret_cast<const char*>(&size), sizeof size));
  WriteAll(file.get(), paths_[part], buffer.view());
  written_[part] += size + sizeof size;
  task_.metrics.spilled_bytes += static_cast<int64_t>(size);
  buffer.Clear();
}

void GraceFiles::Finish() {
  for (uint32_t part = 0; part < kParts; ++part) {
    Flush(part);
    buffers_[part] = Buffer();
  }
}

void GraceFiles::ReadPart(uint32_t part, const std::function<void(std::string_view frame)>& use) const {
  if (written_[part] == 0) return;
  const std::string& path = paths_[part];
  const FileDescriptor file = OpenForReading(path);
  Buffer frame;
  for (uint64_t at = 0; at < written_[part];) {
    uint64_t size = 0;
    if (ReadAt(file.get(), path, at, reinterpret_cast<char*>(&size), sizeof size) != sizeof size ||
        size > written_[part] - at) {
      throw TaskError("spill file " + path + " is damaged");
    }
    frame.Resize(size);
    if (ReadAt(file.get(), path, at + sizeof size, frame.data(), size) != size) {
      throw TaskError("spill file " + path + " became shorter");
    }
    use(frame.view());
    at += sizeof size + size;
  }
}

}  // namespace fairlead::engine
