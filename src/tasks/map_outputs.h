#pragma once

#include <cstdint>
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

/// The outputs of one shuffle: per map partition its place and the size code of each reduce partition. Row-major,
/// one byte a size. Places are small numbers whose meaning the owner gives (the core: ExecutorIndex).
class MapOutputTable {
 public:
  static constexpr uint32_t kMissing = UINT32_MAX;

  MapOutputTable() = default;
  MapOutputTable(int32_t maps, int32_t reduces);

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
  std::span<const uint8_t> row(int32_t map) const;

  struct Block {
    int32_t map = 0;
    uint32_t place = 0;
    int64_t task = 0;
    int64_t bytes = 0;  // decoded size, never 0
  };
  /// What reduce partition `reduce` has to fetch, by map partition; empty blocks are left out. O(maps).
  std::vector<Block> BlocksOf(int32_t reduce) const;

  friend bool operator==(const MapOutputTable&, const MapOutputTable&) = default;

 private:
  friend std::string EncodeMapOutputs(const MapOutputTable& table);
  friend base::Result<MapOutputTable> DecodeMapOutputs(std::string_view bytes);
  int32_t reduces_ = 0;
  int32_t available_ = 0;
  std::vector<uint32_t> place_;
  std::vector<int64_t> task_;
  std::vector<uint8_t> codes_;
};

/// Compact wire form; sizes are packed (about 5.5 bits each for spread sizes, less for even ones). Linear time.
std::string EncodeMapOutputs(const MapOutputTable& table);
/// Reads what EncodeMapOutputs wrote; bytes may be hostile. Memory is at most that of the table announced by bytes that
/// are really there.
base::Result<MapOutputTable> DecodeMapOutputs(std::string_view bytes);

}  // namespace fairlead::tasks
