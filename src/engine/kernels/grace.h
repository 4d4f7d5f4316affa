#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/plan/operators.h"
#include "engine/records/record.h"

namespace fairlead::engine {

/// Overflow of a hash table: keyed records split by further hash bits into 16 scratch files, each small enough to be
/// aggregated on its own later (Grace hash join, Kitsuregawa et al. 1983). `level` picks the hash bits, so a part that
/// is still too large can be split again.
class GraceFiles {
 public:
  static constexpr uint32_t kParts = 16;
  static constexpr int kLevelsMax = 4;

  /// Whether what would hold `coming` bytes at `level` goes to files: not what is so small that 16 files would cost
  /// more than they spare.
  static bool Worthwhile(size_t coming, int64_t budget, int level) {
    constexpr int64_t kSmallest = 64 << 10;
    return level < kLevelsMax && coming > static_cast<size_t>(std::max(budget, kSmallest));
  }

  GraceFiles(TaskContext& task, RecordShape shape, int level);
  ~GraceFiles();
  GraceFiles(const GraceFiles&) = delete;
  GraceFiles& operator=(const GraceFiles&) = delete;

  void Add(uint64_t hash, std::string_view key, std::string_view value);
  /// Writes out what is buffered; no Add afterwards.
  void Finish();
  bool empty(uint32_t part) const { return written_[part] == 0; }
  /// Calls use(frame) with frames of whole records, in the order in which they were added.
  void ReadPart(uint32_t part, const std::function<void(std::string_view frame)>& use) const;

 private:
  void Flush(uint32_t part);
  TaskContext& task_;
  const RecordShape shape_;
  const int level_;
  const size_t flush_bytes_;
  std::array<Buffer, kParts> buffers_;
  std::array<std::string, kParts> paths_;
  std::array<uint64_t, kParts> written_{};
};

}  // namespace fairlead::engine
