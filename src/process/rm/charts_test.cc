#include "process/rm/charts.h"

#include <gtest/gtest.h>

namespace fairlead::process::rm {
namespace {

scheduler::View ViewOf(int64_t used, int64_t demand) {
  scheduler::View view;
  view.cluster = model::Resources::Of(1000, 10);
  scheduler::QueueView root;
  root.name = "root";
  root.used = model::Resources::Of(used, 1);
  root.demand = model::Resources::Of(demand, 1);
  view.queues.push_back(root);
  return view;
}

constexpr int64_t kStart = 1'700'000'000'000;

TEST(Charts, ADayOfSamplesIsBoundedAndCoarserWhereItReachesFurther) {
  Charts charts;
  for (int64_t i = 0; i < 8640; ++i) {
    charts.Sample({kStart + i * 10'000}, ViewOf(i % 100, 200), static_cast<uint64_t>(i));
  }
  const auto& hour = charts.Since(3'600'000);
  const auto& day = charts.Since(86'400'000);
  EXPECT_EQ(hour.size(), 360U);
  EXPECT_EQ(hour.back().at_ms - hour.front().at_ms, 359 * 10'000);
  EXPECT_EQ(day.size(), 288U);
  EXPECT_EQ(day[1].at_ms - day[0].at_ms, 300'000);
  EXPECT_EQ(charts.Since(30LL * 86'400'000).size(), 12U);
  EXPECT_EQ(hour.back().queues.at(0).pending, 200 - 39);
  EXPECT_EQ(hour.back().granted, 8639);
}

TEST(Charts, KeptBytesGoOnWhereTheyEnded) {
  Charts before;
  before.Sample({kStart}, ViewOf(5, 5), 7);
  before.Sample({kStart + 10'000}, ViewOf(6, 5), 9);
  Charts after;
  ASSERT_TRUE(after.Decode(before.Encode()).ok());
  after.Sample({kStart + 60'000}, ViewOf(1, 1), 2);
  const auto& hour = after.Since(1);
  ASSERT_EQ(hour.size(), 3U);
  EXPECT_EQ(hour[0].granted, 7);
  EXPECT_EQ(hour[2].granted, 11);
  EXPECT_EQ(hour[1].queues.at(0).pending, 0);
}

TEST(Charts, DamagedBytesAreRefusedAndChangeNothing) {
  Charts charts;
  charts.Sample({kStart}, ViewOf(5, 5), 7);
  std::string bytes = charts.Encode();
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  EXPECT_FALSE(charts.Decode(bytes).ok());
  EXPECT_FALSE(charts.Decode("").ok());
  EXPECT_EQ(charts.Since(1).size(), 1U);
}

TEST(Charts, AClockThatWasSetBackGoesOn) {
  Charts charts;
  charts.Sample({kStart}, ViewOf(1, 1), 0);
  charts.Sample({kStart - 3'600'000}, ViewOf(2, 2), 0);
  EXPECT_EQ(charts.Since(1).size(), 2U);
}

}  // namespace
}  // namespace fairlead::process::rm
