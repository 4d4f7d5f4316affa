#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Where the outputs of a shuffle's map tasks are and how large each reducer's part is (Spark: MapStatus,
// MapOutputTracker). Sizes travel as one byte on a logarithmic scale, as in Spark's CompressedMapStatus.

namespace fairlead::tasks {

/// One byte for a size: 0 for 0, else ceil(log_1.1(size)), at most 255 (Spark: MapStatus.compressSize). Errs at most
/// 10 % upwards.
uint8_t EncodeSize(int64_t bytes);
/// The size that byte stands for (Spark: MapStatus.decompressSize).
int64_t DecodeSize(uint8_t code);

/// The outputs of one shuffle: per map partition its place and the size code of each reduce partition. Places are small
/// numbers whose meaning the owner gives (the core: ExecutorIndex).
///
/// Codes lie in blocks of 64 maps, within a block reduce partition by reduce partition: an output is written in
/// O(reduce partitions) into one block that stays in the cache, a reducer's list reads one cache line a block. Blocks
/// come into being when they are written, and are packed when all their maps are there, so that to encode the table is
/// little more than to copy it. What is packed, or was decoded, stays so until it is written again.
class MapOutputTable {
 public:
  static constexpr uint32_t kMissing = UINT32_MAX;
  static constexpr int32_t kMaxReduces = 1 << 24;

  MapOutputTable() = default;
  MapOutputTable(int32_t maps, int32_t reduces);
  MapOutputTable(MapOutputTable&&) noexcept = default;
  MapOutputTable& operator=(MapOutputTable&&) noexcept = default;

  int32_t maps() const { return static_cast<int32_t>(place_.size()); }
  int32_t reduces() const { return reduces_; }
  int32_t available() const { return available_; }

  /// Registers (or replaces) the output of map partition `map`; `codes.size()` must be reduces(). `task` is the id of
  /// the attempt that wrote it (names its files).
  void Set(int32_t map, uint32_t place, int64_t task, std::span<const uint8_t> codes);
  /// Forgets the output; false when there was none.
  bool Remove(int32_t map);

  uint32_t place(int32_t map) const { return place_[static_cast<size_t>(map)]; }  // kMissing: no output
  int64_t task(int32_t map) const { return task_[static_cast<size_t>(map)]; }
  /// The codes of one output, by reduce partition; zeros when there is none.
  std::vector<uint8_t> Row(int32_t map) const;

  struct Block {
    int32_t map = 0;
    uint32_t place = 0;
    int64_t task = 0;
    int64_t bytes = 0;  // decoded size, never 0
  };
  /// What reduce partition `reduce` has to fetch, by map partition; empty blocks are left out. O(maps).
  std::vector<Block> BlocksOf(int32_t reduce) const;

 private:
  friend void EncodeMapOutputs(const MapOutputTable& table, std::string& out);
  friend base::Result<MapOutputTable> DecodeMapOutputs(std::string bytes);
  friend class MapOutputCodec;

  static constexpr size_t kLanes = 64;  // maps a block
  struct Codes {
    std::unique_ptr<uint8_t[]> plain;   // [reduce][lane]
    std::unique_ptr<uint8_t[]> packed;  // by this table
    size_t packed_at = 0;               // into decoded_, when neither; 0: all codes are zero
    size_t packed_size = 0;
    int32_t outputs = 0;  // how many of its maps have one
  };

  std::string_view Packed(const Codes& block) const;
  void Pack(Codes& block);
  size_t lanes() const { return place_.size() < kLanes ? place_.size() : kLanes; }
  uint8_t* Plain(size_t block);
  /// The codes of one column into `out` (lanes() of them).
  void Column(const Codes& block, size_t reduce, uint8_t* out) const;

  int32_t reduces_ = 0;
  int32_t available_ = 0;
  std::vector<uint32_t> place_;
  std::vector<int64_t> task_;
  std::vector<Codes> blocks_;
  std::string decoded_;
};

/// Appends the compact wire form; a size takes four bits when it is within a factor of 3.4 of the largest of its
/// neighbours or zero, twelve else (about 6.2 bits each for evenly spread sizes), and eight where outputs are missing
/// or were replaced. Little more than a copy.
void EncodeMapOutputs(const MapOutputTable& table, std::string& out);
/// Reads what EncodeMapOutputs wrote; bytes may be hostile. Memory is at most a small multiple of their length. Takes
/// O(maps); codes are unpacked when they are asked for.
base::Result<MapOutputTable> DecodeMapOutputs(std::string bytes);

}  // namespace fairlead::tasks
