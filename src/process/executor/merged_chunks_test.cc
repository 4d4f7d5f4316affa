#include "process/executor/merged_chunks.h"

#include <gtest/gtest.h>

namespace fairlead::process::executor {
namespace {

using wire::spark_shuffle::MapBitmap;
using Block = MergedInput::Block;
using Ints = std::vector<int32_t>;

Block BlockOf(int32_t map, int64_t bytes = 100) { return {.map = map, .place = 0, .task = map + 1000, .bytes = bytes}; }

MapBitmap Maps(std::initializer_list<int32_t> maps) {
  MapBitmap out;
  for (const int32_t map : maps) out.Add(map);
  return out;
}

Ints MapsOf(const std::vector<Block>& blocks) {
  Ints maps;
  for (const Block& block : blocks) maps.push_back(block.map);
  return maps;
}

TEST(MergedChunks, BlocksGoToTheChunksThatHaveThem) {
  const MergedInput input =
      DealToChunks({BlockOf(0), BlockOf(2), BlockOf(3), BlockOf(7), BlockOf(9)}, {Maps({2, 9}), Maps({0})}, 1000);
  ASSERT_EQ(input.chunks.size(), 2u);
  EXPECT_EQ(input.chunks[0].number, 0);
  EXPECT_EQ(MapsOf(input.chunks[0].blocks), (Ints{2, 9}));
  EXPECT_EQ(input.chunks[0].bytes, 200);
  EXPECT_EQ(MapsOf(input.chunks[1].blocks), (Ints{0}));
  EXPECT_EQ(MapsOf(input.rest), (Ints{3, 7}));
}

TEST(MergedChunks, AChunkThatDoesNotFitIsLeftAlone) {
  struct Row {
    const char* what;
    MapBitmap chunk;
  };
  const Row rows[] = {{"a block that nobody wants", Maps({2, 5})},
                      {"no block", Maps({})},
                      {"more than there are", Maps({0, 1, 2, 3})},
                      {"a block that an earlier chunk has", Maps({0, 2})},
                      {"a map below zero", Maps({2, -1})}};
  for (const Row& row : rows) {
    const MergedInput input = DealToChunks({BlockOf(0), BlockOf(2), BlockOf(3)}, {Maps({0}), row.chunk}, 1000);
    ASSERT_EQ(input.chunks.size(), 1u) << row.what;
    EXPECT_EQ(MapsOf(input.rest), (Ints{2, 3})) << row.what;
  }
}

TEST(MergedChunks, AChunkThatIsTooLongIsReadBlockByBlock) {
  const MergedInput input = DealToChunks({BlockOf(0, 600), BlockOf(1, 600)}, {Maps({0, 1})}, 1000);
  EXPECT_TRUE(input.chunks.empty());
  EXPECT_EQ(MapsOf(input.rest), (Ints{0, 1}));
}

}  // namespace
}  // namespace fairlead::process::executor
