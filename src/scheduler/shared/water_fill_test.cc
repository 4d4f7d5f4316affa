#include "scheduler/shared/water_fill.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

// What fair shares promise: nothing is wasted, nobody does worse than with a part of the cluster of their own, nobody
// would rather have another's, and a larger weight never gives less. A unit of slack is rounding.

namespace fairlead::scheduler {
namespace {

struct Case {
  std::vector<FillItem> items;
  int64_t total = 0;
  int64_t weights = 0;
};

Case DrawCase(bool lows) {
  Case one;
  const auto count = *rc::gen::inRange<size_t>(1, 12);
  for (size_t i = 0; i < count; ++i) {
    FillItem item;
    item.weight = *rc::gen::inRange<int64_t>(1, 1000);
    item.high = *rc::gen::inRange<int64_t>(0, 100'000);
    if (lows) item.low = *rc::gen::inRange<int64_t>(0, 20'000);
    one.weights += item.weight;
    one.items.push_back(item);
  }
  one.total = *rc::gen::inRange<int64_t>(0, 300'000);
  return one;
}

TEST(WaterFillTest, NothingIsWastedAndNothingIsGivenTwice) {
  EXPECT_TRUE(rc::check("sum", [] {
    const Case one = DrawCase(true);
    const auto shares = WaterFill(one.items, one.total, WhenLowsExceed::kScale);
    int64_t highs = 0;
    for (const FillItem& item : one.items) highs += item.high;
    RC_ASSERT(std::accumulate(shares.begin(), shares.end(), int64_t{0}) == std::min(one.total, highs));
    for (size_t i = 0; i < shares.size(); ++i) RC_ASSERT(shares[i] >= 0 && shares[i] <= one.items[i].high);
  }));
}

TEST(WaterFillTest, SharingIsNeverWorseThanAPartOfOnesOwn) {
  EXPECT_TRUE(rc::check("sharing incentive", [] {
    const Case one = DrawCase(false);
    const auto shares = WaterFill(one.items, one.total, WhenLowsExceed::kScale);
    for (size_t i = 0; i < shares.size(); ++i) {
      RC_ASSERT(shares[i] >= std::min(one.items[i].high, one.total * one.items[i].weight / one.weights));
    }
  }));
}

TEST(WaterFillTest, NobodyEnviesAnother) {
  EXPECT_TRUE(rc::check("no envy", [] {
    const Case one = DrawCase(false);
    const auto shares = WaterFill(one.items, one.total, WhenLowsExceed::kScale);
    for (size_t i = 0; i < shares.size(); ++i) {
      if (shares[i] == one.items[i].high) continue;  // has all it wants
      for (size_t j = 0; j < shares.size(); ++j) {
        // (shares[j] - 1) / weight_j <= (shares[i] + 1) / weight_i
        RC_ASSERT((shares[j] - 1) * one.items[i].weight <= (shares[i] + 1) * one.items[j].weight);
      }
    }
  }));
}

TEST(WaterFillTest, MoreWeightNeverGivesLess) {
  EXPECT_TRUE(rc::check("strategy", [] {
    Case one = DrawCase(true);
    const auto before = WaterFill(one.items, one.total, WhenLowsExceed::kScale);
    const auto who = *rc::gen::inRange<size_t>(0, one.items.size());
    one.items[who].weight += *rc::gen::inRange<int64_t>(1, 1000);
    const auto after = WaterFill(one.items, one.total, WhenLowsExceed::kScale);
    RC_ASSERT(after[who] >= before[who] - 1);
  }));
}

TEST(WaterFillTest, MoreDemandNeverGivesLessAndTakesFromTheOthersOnly) {
  EXPECT_TRUE(rc::check("demand", [] {
    Case one = DrawCase(true);
    const auto before = WaterFill(one.items, one.total, WhenLowsExceed::kScale);
    const auto who = *rc::gen::inRange<size_t>(0, one.items.size());
    one.items[who].high += *rc::gen::inRange<int64_t>(1, 50'000);
    const auto after = WaterFill(one.items, one.total, WhenLowsExceed::kScale);
    RC_ASSERT(after[who] >= before[who] - 1);
    for (size_t i = 0; i < after.size(); ++i) {
      if (i != who) RC_ASSERT(after[i] <= before[i] + 1);
    }
  }));
}

}  // namespace
}  // namespace fairlead::scheduler
