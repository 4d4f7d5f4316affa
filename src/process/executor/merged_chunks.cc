#include "process/executor/merged_chunks.h"

#include <algorithm>

namespace fairlead::process::executor {

using Block = MergedInput::Block;

MergedInput DealToChunks(const std::vector<Block>& wanted,
                         const std::vector<wire::spark_shuffle::MapBitmap>& chunk_maps, int64_t chunk_bytes_max) {
  MergedInput input;
  std::vector<bool> dealt(wanted.size());
  for (size_t number = 0; number < chunk_maps.size(); ++number) {
    if (chunk_maps[number].size() > wanted.size()) continue;
    MergedInput::Chunk chunk{static_cast<int32_t>(number), {}, 0};
    std::vector<size_t> places;
    for (const int32_t map : chunk_maps[number].Indices()) {
      const auto found = std::lower_bound(wanted.begin(), wanted.end(), map,
                                          [](const Block& block, int32_t index) { return block.map < index; });
      const auto at = static_cast<size_t>(found - wanted.begin());
      if (found == wanted.end() || found->map != map || dealt[at]) {
        places.clear();
        break;
      }
      places.push_back(at);
      chunk.bytes += found->bytes;
    }
    if (places.empty() || chunk.bytes > chunk_bytes_max) continue;
    for (const size_t at : places) {
      dealt[at] = true;
      chunk.blocks.push_back(wanted[at]);
    }
    input.chunks.push_back(std::move(chunk));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!dealt[i]) input.rest.push_back(wanted[i]);
  }
  return input;
}

}  // namespace fairlead::process::executor
