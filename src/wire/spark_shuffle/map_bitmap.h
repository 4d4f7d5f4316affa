#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::wire::spark_shuffle {

/// Which maps' blocks a merged partition or one of its chunks has: a set of map indices, written as Spark's services
/// write it (org.roaringbitmap.RoaringBitmap, portable format). Memory: two bytes an index, or a bit for each up to the
/// highest where that is less. Cost: O(log containers), and a move of at most 8 KiB for an index out of order.
class MapBitmap {
 public:
  /// False: it was there.
  bool Add(int32_t map_index);
  bool Contains(int32_t map_index) const;
  bool empty() const { return containers_.empty(); }
  size_t size() const;
  void Clear() { containers_.clear(); }
  /// In ascending order, negative ones last.
  std::vector<int32_t> Indices() const;
  size_t memory_bytes() const;

  /// As RoaringBitmap.add leaves it: in meta files.
  std::string Serialize() const;
  /// As after RoaringBitmap.runOptimize: in MergeStatuses.
  std::string SerializeWithRuns() const;
  /// Reads one off the front of `bytes`. Memory: at most 8 KiB for eight bytes, and what Add takes.
  static base::Result<MapBitmap> Read(std::string_view& bytes);

  friend bool operator==(const MapBitmap& a, const MapBitmap& b) { return a.Indices() == b.Indices(); }

 private:
  /// The indices that have the same upper half.
  struct Container {
    uint16_t key = 0;
    uint32_t count = 0;
    std::vector<uint16_t> values;  // in order; unused once there are words
    std::vector<uint64_t> words;   // a bit an index
    bool Contains(uint16_t low) const;
    void Add(uint16_t low);
    void UseWords();
    std::vector<uint16_t> Values() const;
  };
  std::vector<Container>::iterator Place(uint16_t key);

  std::vector<Container> containers_;  // by key
};

}  // namespace fairlead::wire::spark_shuffle
