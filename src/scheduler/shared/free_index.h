#pragma once

#include <array>
#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/prefetch.h"
#include "base/state.h"
#include "model/resources.h"

namespace fairlead::scheduler {

/// Finds a node with enough free resources: a 16-ary tree of maxima, column by column, over positions 0..size-1. A
/// search that succeeds at its start costs O(1); else O(log n) unless free amounts of different types lie on different
/// nodes of the same groups. An update stops as soon as a maximum stays.
class FreeIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// What a position that takes nothing holds.
  static constexpr int64_t kClosed = -1;
  static constexpr size_t kMostColumns = 12;
  using Row = std::array<int64_t, kMostColumns>;

  /// `columns`: how many amounts of a position are compared, at most kMostColumns: the resource types, and what else a
  /// profile has.
  explicit FreeIndex(size_t columns) : columns_(columns) { levels_.emplace_back(); }

  /// A new position at the end, closed.
  uint32_t Add();
  void Set(uint32_t position, const model::Resources& free) { Write(position, free.amount.data()); }
  void Set(uint32_t position, const Row& row) { Write(position, row.data()); }
  void Close(uint32_t position);
  size_t size() const { return size_; }

  /// The first position in [from, end) whose free amounts hold `need`, or kNone.
  uint32_t FindFrom(uint32_t from, const model::Resources& need) const { return Search(from, need.amount.data()); }
  uint32_t FindFrom(uint32_t from, const Row& need) const { return Search(from, need.data()); }
  /// Whether the position's free amounts hold `need`.
  bool Holds(uint32_t position, const Row& need) const { return Holds(levels_[0], position, need.data()); }
  bool Consistent() const;
  /// Brings near what Set reads and writes, mostly.
  void Prefetch(uint32_t position) const {
    const size_t group = position / kFan;
    base::Prefetch(&levels_[0].amounts[group * kFan * columns_], kFan * columns_ * sizeof(int64_t));
    if (levels_.size() > 1) base::Prefetch(&levels_[1].amounts[group * columns_]);
  }
  FL_STATE(columns_, size_, levels_)

 private:
  static constexpr size_t kFan = 16;
  static constexpr size_t kMostLevels = 8;  // for 2^32 positions
  struct Level {
    size_t count = 0;
    std::vector<int64_t> amounts;  // by position and type
    FL_STATE(count, amounts)
  };
  void Write(uint32_t position, const int64_t* amounts);
  uint32_t Search(uint32_t from, const int64_t* need) const;
  bool Holds(const Level& level, size_t at, const int64_t* need) const {
    const int64_t* have = &level.amounts[at * columns_];
    for (size_t t = 0; t < columns_; ++t) {
      if (have[t] < need[t]) return false;
    }
    return true;
  }
  int64_t GroupMaximum(size_t level, size_t group, size_t type) const;
  size_t Count(size_t level) const { return levels_[level].count; }

  size_t columns_;
  size_t size_ = 0;
  boost::container::static_vector<Level, kMostLevels> levels_;  // [0] the positions, the last has at most kFan entries
};

}  // namespace fairlead::scheduler
