#include "engine/shuffle/shuffle_writer.h"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/bytes.h"
#include "engine/io/files.h"
#include "engine/records/errors.h"
#include "wire/spark_shuffle/layout.h"

namespace fairlead::engine {

namespace layout = wire::spark_shuffle;

namespace {

Compression process_compression = Compression::kNone;

/// Small frames for many partitions (they are all open at once), 64 KiB otherwise: it stays in the L2 cache while it
/// fills, and keeps the header's share below a thousandth.
size_t FrameBytes(int32_t partitions, int64_t memory_bytes) {
  const int64_t share = memory_bytes / (2 * std::max(1, partitions));
  return static_cast<size_t>(std::clamp<int64_t>(share, 2 << 10, 64 << 10));
}

}  // namespace

void SetShuffleCompression(Compression compression) { process_compression = compression; }

Compression ChooseShuffleCompression(const std::string& directory) {
  const char* const wanted = std::getenv("FAIRLEAD_SHUFFLE_COMPRESSION");
  if (wanted != nullptr) {
    if (std::strcmp(wanted, "lz4") == 0) return Compression::kLz4;
    if (std::strcmp(wanted, "zstd") == 0) return Compression::kZstd;
    if (std::strcmp(wanted, "none") == 0) return Compression::kNone;
  }
  struct statfs info {};
  const bool memory = ::statfs(directory.c_str(), &info) == 0 && info.f_type == TMPFS_MAGIC;
  return memory ? Compression::kNone : Compression::kLz4;
}

ShuffleWriter::ShuffleWriter(TaskContext& task, int32_t shuffle, int32_t partitions, int64_t memory_bytes)
    : task_(task),
      shuffle_(shuffle),
      memory_bytes_(memory_bytes),
      frame_bytes_(FrameBytes(partitions, memory_bytes)),
      compression_(process_compression),
      frames_(static_cast<size_t>(partitions)),
      sealed_(static_cast<size_t>(partitions)) {
  for (Buffer& frame : frames_) Open(frame, 0);
}

ShuffleWriter::~ShuffleWriter() {
  for (const Spill& spill : spills_) ::unlink(spill.path.c_str());
}

void ShuffleWriter::Open(Buffer& frame, size_t capacity) {
  frame.Reserve(std::max<size_t>(capacity, 256));
  frame.Resize(kFrameHeader);
}

void ShuffleWriter::Seal(uint32_t partition) {
  Buffer& frame = frames_[partition];
  if (frame.size() <= kFrameHeader) return;
  const std::string_view stored = SealFrame(frame, compression_, scratch_);
  if (compression_ != Compression::kNone && frame.size() > 1024) {
    compressed_frames_ += stored.data() != frame.data();
    if (++tried_frames_ == 4 && compressed_frames_ == 0) compression_ = Compression::kNone;
  }
  if (stored.data() == frame.data()) {
    Buffer next;
    Open(next, frame_bytes_ + frame_bytes_ / 8);
    std::swap(frame, next);
    sealed_[partition].push_back(std::move(next));
  } else {
    Buffer copy(stored.size());
    copy.Append(stored);
    sealed_[partition].push_back(std::move(copy));
    frame.Truncate(kFrameHeader);
  }
  sealed_bytes_ += static_cast<int64_t>(sealed_[partition].back().capacity());
  const int64_t open_bytes = static_cast<int64_t>(frames_.size() * frame_bytes_);
  if (sealed_bytes_ > std::max(memory_bytes_ / 2, memory_bytes_ - open_bytes)) SpillSealed();
}

void ShuffleWriter::SealAll() {
  for (uint32_t p = 0; p < frames_.size(); ++p) Seal(p);
}

void ShuffleWriter::SpillSealed() {
  Spill spill;
  spill.path = task_.ScratchPath();
  const FileDescriptor file = CreateFile(spill.path, 0600);
  std::vector<iovec> pieces;
  uint64_t offset = 0;
  for (std::vector<Buffer>& partition : sealed_) {
    spill.offsets.push_back(offset);
    for (Buffer& frame : partition) {
      pieces.push_back({frame.data(), frame.size()});
      offset += frame.size();
    }
  }
  spill.offsets.push_back(offset);
  spills_.push_back(spill);
  WriteAll(file.get(), spill.path, pieces);
  for (std::vector<Buffer>& partition : sealed_) partition.clear();
  ReturnFreeMemory();
  task_.metrics.spilled_bytes += static_cast<int64_t>(offset);
  sealed_bytes_ = 0;
}

void ShuffleWriter::CopySpilled(const Spill& spill, size_t partition, int out, const std::string& path,
                                std::vector<char>& buffer) {
  const FileDescriptor in = OpenForReading(spill.path);
  uint64_t at = spill.offsets[partition];
  const uint64_t end = spill.offsets[partition + 1];
  buffer.resize(256 << 10);
  while (at < end) {
    const size_t n = ReadAt(in.get(), spill.path, at, buffer.data(), std::min<uint64_t>(buffer.size(), end - at));
    if (n == 0) throw TaskError("spill file " + spill.path + " became shorter");
    WriteAll(out, path, std::string_view(buffer.data(), n));
    at += n;
  }
}

void ShuffleWriter::Finish() {
  SealAll();
  const std::string data_name = layout::ShuffleDataName(shuffle_, task_.task_id);
  const std::string data_path = task_.LocalPath(data_name);
  const std::string index_path = task_.LocalPath(layout::ShuffleIndexName(shuffle_, task_.task_id));
  const std::string data_temp = data_path + ".tmp";
  const std::string index_temp = index_path + ".tmp";
  const FileDescriptor data = CreateFile(data_temp);
  std::string index;
  base::ByteWriter offsets(index);
  uint64_t offset = 0;
  std::vector<iovec> pieces;
  std::vector<char> copy;
  task_.output.block_sizes.clear();
  for (size_t p = 0; p < sealed_.size(); ++p) {
    offsets.U64(offset);
    const uint64_t before = offset;
    for (const Spill& spill : spills_) {
      const uint64_t n = spill.offsets[p + 1] - spill.offsets[p];
      if (n == 0) continue;
      WriteAll(data.get(), data_temp, pieces);
      CopySpilled(spill, p, data.get(), data_temp, copy);
      offset += n;
    }
    for (Buffer& frame : sealed_[p]) {
      pieces.push_back({frame.data(), frame.size()});
      offset += frame.size();
    }
    task_.output.block_sizes.push_back(static_cast<int64_t>(offset - before));
  }
  offsets.U64(offset);
  WriteAll(data.get(), data_temp, pieces);
  const FileDescriptor index_file = CreateFile(index_temp);
  WriteAll(index_file.get(), index_temp, index);
  RenameFile(index_temp, index_path);
  RenameFile(data_temp, data_path);
  task_.metrics.shuffle_bytes_written += static_cast<int64_t>(offset);
  task_.metrics.shuffle_records_written += records_;
}

}  // namespace fairlead::engine
