#include "scheduler/tdw/load_index.h"

#include <gtest/gtest.h>

namespace fairlead::scheduler::tdw {
namespace {

using model::Resources;

TEST(LoadIndexTest, EveryResourceTypeIsIndexedBesideTheLoads) {
  LoadIndex index(Resources::kMaxTypes, SIZE_MAX);
  Resources all;
  for (int64_t& amount : all.amount) amount = 4;
  for (uint32_t node = 0; node < 100; ++node) {
    Resources free = all;
    free[node % Resources::kMaxTypes] = 1;  // of one type it has little
    index.Set({node}, free, {}, 4);
  }
  EXPECT_EQ(index.FindFrom(0, all), FreeIndex::kNone);
  index.Set({70}, all, {}, 4);
  EXPECT_EQ(index.FindFrom(0, all), 70u);
  EXPECT_EQ(index.FindFrom(71, all), FreeIndex::kNone);
  EXPECT_TRUE(index.Consistent());
}

TEST(LoadIndexTest, NodesBelowALoadAreFoundByTaskType) {
  LoadIndex index(2, SIZE_MAX);
  const Resources free = Resources::Of(8, 8);
  index.Set({0}, free, {0, 4, 0}, 8);
  index.Set({1}, free, {4, 1, 4}, 8);
  // The mean of both is 5 maps on 16 vcores.
  EXPECT_EQ(index.FindBelow(0, Resources::Of(1, 1), TaskType::kMap, 5, 16), 1u);
  EXPECT_EQ(index.FindBelow(0, Resources::Of(1, 1), TaskType::kReduce, 4, 16), 0u);
  index.Close({1});
  EXPECT_EQ(index.FindBelow(0, Resources::Of(1, 1), TaskType::kMap, 5, 16), FreeIndex::kNone);
}

TEST(LoadIndexTest, OfOneTypeNodesNeverLack) {
  LoadIndex index(2, 1);
  index.Set({0}, Resources::Of(8, -3), {}, 8);
  EXPECT_EQ(index.FindFrom(0, Resources::Of(8, 100)), 0u);
  EXPECT_TRUE(index.Holds({0}, Resources::Of(8, 100)));
  EXPECT_FALSE(index.Holds({0}, Resources::Of(9, 0)));
}

}  // namespace
}  // namespace fairlead::scheduler::tdw
