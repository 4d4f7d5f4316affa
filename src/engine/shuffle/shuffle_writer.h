#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/operators.h"
#include "engine/records/buffer.h"
#include "engine/records/frame.h"

namespace fairlead::engine {

/// The map side of a shuffle: records go into one buffer per reduce partition; at the end one data file holds the
/// partitions in order and an index file the big-endian offsets, in Spark's layout and names
/// (IndexShuffleBlockResolver), so that any Spark shuffle service serves them. Above its share of the task's memory it
/// spills sealed frames to scratch files and joins them at the end by copying ranges: partitions are never sorted here.
class ShuffleWriter {
 public:
  ShuffleWriter(TaskContext& task, int32_t shuffle, int32_t partitions, int64_t memory_bytes);
  ~ShuffleWriter();
  ShuffleWriter(const ShuffleWriter&) = delete;
  ShuffleWriter& operator=(const ShuffleWriter&) = delete;

  /// The open frame of a partition; append exactly one record to it. O(1) amortised.
  Buffer& For(uint32_t partition) {
    Buffer& frame = frames_[partition];
    if (frame.size() >= frame_bytes_) [[unlikely]]
      Seal(partition);
    ++records_;
    return frame;
  }

  /// Writes the files and fills task.output.block_sizes and metrics.
  void Finish();

 private:
  struct Spill {
    std::string path;
    std::vector<uint64_t> offsets;  // partitions + 1
  };
  void Seal(uint32_t partition);
  void Open(Buffer& frame, size_t capacity);
  void SpillSealed();
  void SealAll();
  void CopySpilled(const Spill& spill, size_t partition, int out, const std::string& path, std::vector<char>& buffer);

  TaskContext& task_;
  const int32_t shuffle_;
  const int64_t memory_bytes_;
  const size_t frame_bytes_;
  Compression compression_;
  std::vector<Buffer> frames_;
  std::vector<std::vector<Buffer>> sealed_;
  std::vector<Spill> spills_;
  Buffer scratch_;
  int64_t sealed_bytes_ = 0;
  int compressed_frames_ = 0;
  int tried_frames_ = 0;
  int64_t records_ = 0;
};

/// How shuffle writers of this process compress; set once at start.
void SetShuffleCompression(Compression compression);
/// The engine's own rule: LZ4 where files go to a disk, nothing where they stay in memory (tmpfs), unless
/// FAIRLEAD_SHUFFLE_COMPRESSION says none, lz4 or zstd. A writer whose first frames do not shrink stops trying.
Compression ChooseShuffleCompression(const std::string& directory);

}  // namespace fairlead::engine
