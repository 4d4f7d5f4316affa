#include "scheduler/hadoop/calculator.h"

#include <gtest/gtest.h>

namespace fairlead::scheduler::hadoop {
namespace {

constexpr auto Of = [](int64_t memory, int64_t vcores) { return Resources::Of(memory, vcores); };

TEST(Calculator, NormalizeRoundsUpToTheIncrementWithinTheBounds) {
  const auto normalize = [](int64_t memory) {
    return Normalize(Of(memory, 1), Of(1024, 1), Of(8192, 4), Of(512, 1)).memory_mib();
  };
  EXPECT_EQ(normalize(1), 1024);
  EXPECT_EQ(normalize(1025), 1536);
  EXPECT_EQ(normalize(9000), 8192);
  EXPECT_EQ(normalize(INT64_MAX), 8192);
}

TEST(Calculator, SubtractionStopsAtZeroForMemoryAndVcoresOnly) {
  Resources left = Of(1, 1);
  left[2] = 1;
  Resources gone = Of(2, 2);
  gone[2] = 2;
  SubtractNonNegative(left, gone);
  EXPECT_EQ(left[0], 0);
  EXPECT_EQ(left[1], 0);
  EXPECT_EQ(left[2], -1);
}

TEST(Calculator, ProductsAreCastOrRoundedUp) {
  EXPECT_EQ(MultiplyDown(Of(3, 5), 0.5), Of(1, 2));
  EXPECT_EQ(MultiplyUp(Of(3, 5), 0.5), Of(2, 3));
}

TEST(Calculator, TheDefaultOneSeesMemoryAlone) {
  EXPECT_EQ(CompareBy(Calculator::kMemory, Of(9, 9), Of(2, 1), Of(2, 9), false, 2), 0);
  EXPECT_LT(CompareBy(Calculator::kMemory, Of(9, 9), Of(1, 9), Of(2, 1), false, 2), 0);
}

TEST(Calculator, TheDominantOneComparesTheLargestShareThenTheNext) {
  const Resources cluster = Of(10, 10);
  const auto compare = [&](const Resources& a, const Resources& b, bool single_type) {
    return CompareBy(Calculator::kDominant, cluster, a, b, single_type, 2);
  };
  EXPECT_GT(compare(Of(1, 5), Of(4, 4), false), 0);
  EXPECT_GT(compare(Of(2, 5), Of(5, 1), false), 0);
  EXPECT_EQ(compare(Of(2, 5), Of(5, 1), true), 0) << "the largest share of each is the same";
}

TEST(Calculator, WithoutAClusterTheLargerInSomeTypeAndSmallerInNone) {
  const auto compare = [&](const Resources& a, const Resources& b) {
    return CompareBy(Calculator::kDominant, {}, a, b, false, 2);
  };
  EXPECT_GT(compare(Of(2, 2), Of(1, 2)), 0);
  EXPECT_EQ(compare(Of(2, 1), Of(1, 2)), 0);
}

}  // namespace
}  // namespace fairlead::scheduler::hadoop
