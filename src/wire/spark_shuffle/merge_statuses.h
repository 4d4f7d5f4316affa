#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "wire/spark_shuffle/map_bitmap.h"
#include "wire/spark_shuffle/messages.h"

namespace fairlead::wire::spark_shuffle {

/// One partition in the answer to FinalizeShuffleMerge.
struct MergeStatus {
  int32_t reduce_id = 0;
  int64_t bytes = 0;
  MapBitmap maps;
};

/// The answer as a message (Encoders.BitmapArrays, then the ids, then the sizes).
MergeStatuses MakeMergeStatuses(int32_t shuffle_id, int32_t merge_id, const std::vector<MergeStatus>& partitions);
/// What is in an answer. Memory: as MapBitmap::Read says, in proportion to its bytes.
base::Result<std::vector<MergeStatus>> ReadMergeStatuses(const MergeStatuses& answer);
/// The bitmaps of a meta file: which maps each chunk has.
base::Result<std::vector<MapBitmap>> ReadChunkMaps(std::string_view meta, size_t chunks);

}  // namespace fairlead::wire::spark_shuffle
