#include "tasks/merge_rule.h"

namespace fairlead::tasks {

namespace {

constexpr int32_t kMapsMin = 300;
constexpr int64_t kBlocksMin = 100'000;
constexpr int64_t kBlockBytesMax = 32 << 10;

}  // namespace

bool PaysToMerge(const MergeCase& shuffle) {
  return shuffle.services > 0 && shuffle.maps >= kMapsMin && int64_t{shuffle.maps} * shuffle.reduces >= kBlocksMin &&
         shuffle.mean_block_bytes <= kBlockBytesMax;
}

size_t MergerOf(int32_t reduce, int32_t reduces, size_t services) {
  return static_cast<size_t>(reduce) * services / static_cast<size_t>(reduces);
}

}  // namespace fairlead::tasks
