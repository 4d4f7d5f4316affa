#include "engine/run/sound_chunk.h"

#include "engine/records/frame.h"

namespace fairlead::engine {

bool IsSound(std::string_view chunk, const std::vector<BlockRequest>& blocks) {
  // Sizes are known within a tenth, upwards (tasks::EncodeSize).
  int64_t most = 0;
  for (const BlockRequest& block : blocks) most += block.bytes + 1;
  const auto size = static_cast<int64_t>(chunk.size());
  if (size > most || size < most * 10 / 11 - 2 * static_cast<int64_t>(blocks.size())) return false;
  FrameReader frames(chunk);
  Buffer scratch;
  for (std::string_view records; frames.Next(records, scratch);) {
  }
  return frames.error().empty();
}

}  // namespace fairlead::engine
