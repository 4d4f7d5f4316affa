#pragma once

#include <cstdint>
#include <vector>

#include "tasks/map_outputs.h"
#include "wire/spark_shuffle/map_bitmap.h"

namespace fairlead::process::executor {

/// A reducer's input: some in chunks of its merged partition, the rest as it was written.
struct MergedInput {
  using Block = tasks::MapOutputTable::Block;
  struct Chunk {
    int32_t number = 0;
    std::vector<Block> blocks;
    int64_t bytes = 0;  // about
  };
  std::vector<Chunk> chunks;
  std::vector<Block> rest;
};

/// Deals `wanted`, the blocks of one reduce partition in the order of their maps, to the chunks that have them, as the
/// merging service says (`chunk_maps`). What it says must fit: a chunk with a block that nobody wants, one that another
/// chunk has, or no block at all is left alone, as is one above `chunk_bytes_max`. O(blocks log blocks).
MergedInput DealToChunks(const std::vector<MergedInput::Block>& wanted,
                         const std::vector<wire::spark_shuffle::MapBitmap>& chunk_maps, int64_t chunk_bytes_max);

}  // namespace fairlead::process::executor
