#include "engine/run/sound_chunk.h"

#include <gtest/gtest.h>

#include "engine/records/frame.h"

namespace fairlead::engine {
namespace {

std::string Sealed(const std::string& records) {
  Buffer frame, scratch;
  frame.Resize(kFrameHeader);
  frame.Append(records);
  return std::string(SealFrame(frame, Compression::kLz4, scratch));
}

TEST(SoundChunk, EveryDamageIsFound) {
  const std::string first = Sealed(std::string(3000, 'a')), second = Sealed("some records that are not compressed");
  const std::string chunk = first + second;
  const std::vector<BlockRequest> blocks = {{0, 0, 0, 0, static_cast<int64_t>(first.size()), 0},
                                            {0, 1, 1, 0, static_cast<int64_t>(second.size()), 0}};
  EXPECT_TRUE(IsSound(chunk, blocks));
  EXPECT_FALSE(IsSound(first, blocks)) << "a block is missing";
  EXPECT_FALSE(IsSound(chunk + second, blocks)) << "a block came twice";
  EXPECT_FALSE(IsSound("", blocks));
  EXPECT_FALSE(IsSound(chunk.substr(0, chunk.size() - 1), blocks));
  for (size_t at = 0; at < chunk.size(); ++at) {
    const size_t in_frame = at < first.size() ? at : at - first.size();
    if (in_frame >= 5 && in_frame < 8) continue;  // of the header, zero and not read
    std::string damaged = chunk;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_FALSE(IsSound(damaged, blocks)) << "at byte " << at;
  }
}

}  // namespace
}  // namespace fairlead::engine
