#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/spark_shuffle/map_bitmap.h"

namespace fairlead::shuffle {

/// A map's block on its way into a merged partition.
struct PushedBlock {
  int32_t map_index = 0;
  bool writing = false;  // its bytes are the last of the partition's
  bool dropped = false;  // some of its bytes were thrown away: it is not merged
  int64_t written = 0;   // bytes
  std::string deferred;  // bytes that wait for another block's end
};

enum class PushOutcome : uint8_t { kMerged, kDuplicate, kCollision };

/// What a finished partition's files hold, after its data.
struct MergedFiles {
  std::vector<int64_t> offsets;  // of chunks, and the end of the last
  std::string meta;              // for each chunk, which maps it has: bitmaps one behind the other
};

/// The blocks of one reduce partition, one behind the other in the order in which they came to their ends
/// (RemoteBlockPushResolver.AppShufflePartitionInfo and PushBlockStreamCallback). One block is written at a time;
/// another's bytes wait until that one has ended, and when it ends first itself, it collides. Owns the bytes that are
/// not in the data file yet, and what the other two files will hold.
class MergedPartition {
 public:
  /// A chunk ends with the block that brings it to this many bytes.
  explicit MergedPartition(int64_t chunk_bytes_min) : chunk_bytes_min_(chunk_bytes_min) {}

  bool Has(int32_t map_index) const { return maps_.Contains(map_index); }
  const wire::spark_shuffle::MapBitmap& maps() const { return maps_; }
  /// Bytes of merged blocks.
  int64_t bytes() const { return end_; }

  /// `may_defer`: bytes that cannot be written now may be kept; else the block is given up.
  void OnBytes(PushedBlock& block, std::string_view bytes, bool may_defer);
  /// The block is whole.
  PushOutcome OnEnd(PushedBlock& block);
  /// The rest of the block is not coming.
  void OnFailure(PushedBlock& block);

  /// Ends the last chunk; nothing is merged after this.
  MergedFiles Finish();

  // ---- towards the data file
  struct Unwritten {
    int64_t offset = 0;
    std::string bytes;
  };
  size_t unwritten() const { return tail_.size(); }
  /// Takes what the file does not have. One such write at a time.
  Unwritten Take();
  /// Bytes of a block that was cut may be in the file behind those of merged blocks.
  bool overhangs() const { return taken_ > end_; }
  /// The write failed; the bytes that still count are to be written again.
  void GiveBack(Unwritten unwritten);

  /// Besides deferred bytes.
  size_t memory_bytes() const;

 private:
  bool Writable(const PushedBlock& block) const { return current_ < 0 || current_ == block.map_index; }
  bool Duplicate(const PushedBlock& block) const;
  void Append(PushedBlock& block, std::string_view bytes);
  void EndChunk(int32_t last_map);

  const int64_t chunk_bytes_min_;
  int64_t end_ = 0;          // of merged blocks
  int64_t in_file_ = 0;      // tail_ begins there
  int64_t taken_ = 0;        // the furthest that the file may reach
  std::string tail_;         // merged blocks, and those bytes of the current one that have come
  int32_t current_ = -1;     // map whose block is being written
  int32_t last_map_ = -1;    // the last that was merged
  int64_t chunk_begin_ = 0;  // of the chunk that has not ended
  wire::spark_shuffle::MapBitmap maps_;
  wire::spark_shuffle::MapBitmap chunk_maps_;  // since the last chunk
  MergedFiles files_{{0}, {}};
};

}  // namespace fairlead::shuffle
