#include "scheduler/books/run_times.h"

#include <gtest/gtest.h>

namespace fairlead::scheduler {
namespace {

using base::Duration;
using base::Instant;

Kind Of(const char* user, const char* name, int32_t priority = 1, int64_t mib = 1024) {
  Kind kind{user, name, priority, {}};
  kind.size[0] = mib;
  return kind;
}

TEST(LearnedRunTimes, QuantilesAreThoseOfTheLastOnes) {
  LearnedRunTimes times;
  for (int i = 0; i < 1000; ++i) times.Learn(Duration::Seconds(1'000'000));  // forgotten
  for (int i = 64; i >= 1; --i) times.Learn(Duration::Seconds(i));
  EXPECT_EQ(times.count(), LearnedRunTimes::kKept);
  EXPECT_EQ(times.Quantile({}, 500), Duration::Seconds(32));
  EXPECT_EQ(times.Quantile({}, 900), Duration::Seconds(58));
  EXPECT_EQ(times.Quantile({}, 1), Duration::Seconds(1));
  EXPECT_EQ(times.Quantile({}, 1000), Duration::Seconds(64));
}

TEST(LearnedRunTimes, OneThatHasRunForLongIsComparedWithThoseThatRanLonger) {
  LearnedRunTimes times;
  for (int i = 1; i <= 10; ++i) times.Learn(Duration::Seconds(i));
  EXPECT_EQ(times.Quantile(Duration::Seconds(5), 500), Duration::Seconds(8));  // of 6, 7, 8, 9 and 10
  EXPECT_EQ(times.Quantile(Duration::Seconds(7), 1000), Duration::Seconds(10));
}

TEST(LearnedRunTimes, TooFewTellNothing) {
  LearnedRunTimes times;
  times.Learn(Duration::Seconds(1));
  times.Learn(Duration::Seconds(2));
  EXPECT_FALSE(times.Quantile({}, 500));
  times.Learn(Duration::Seconds(3));
  EXPECT_EQ(times.Quantile({}, 500), Duration::Seconds(2));
  EXPECT_FALSE(times.Quantile(Duration::Seconds(1), 500)) << "two ran for longer";
}

TEST(RunTimes, KindsAreToldApartByUserNamePriorityAndSize) {
  RunTimes times;
  for (int i = 0; i < 3; ++i) times.Learn(Of("ann", "etl"), Duration::Seconds(10), Instant{});
  ASSERT_NE(times.Find(Of("ann", "etl")), nullptr);
  EXPECT_EQ(times.Find(Of("ann", "etl"))->Quantile({}, 500), Duration::Seconds(10));
  for (const Kind& other : {Of("bob", "etl"), Of("ann", "report"), Of("ann", "etl", 2), Of("ann", "etl", 1, 2048)}) {
    EXPECT_EQ(times.Find(other), nullptr);
  }
}

TEST(RunTimes, WhatIsRecalledGoesOnAsItWas) {
  RunTimes times;
  for (int i = 1; i <= 100; ++i) times.Learn(Of("ann", "etl"), Duration::Seconds(i), Instant{});
  times.Learn(Of("bob", "etl"), Duration::Seconds(7), Instant{});
  std::vector<model::LearnedRuns> rows = times.Rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].runs_ms.size(), LearnedRunTimes::kKept);
  EXPECT_EQ(rows[0].runs_ms.front(), 37'000) << "the oldest that is kept";
  rows[1].runs_ms.resize(LearnedRunTimes::kKept + 1);
  RunTimes again;
  again.Recall(rows, Instant{});
  EXPECT_EQ(again.kinds(), 1U) << "more than anybody wrote";
  for (RunTimes* one : {&times, &again}) one->Learn(Of("ann", "etl"), Duration::Seconds(1), Instant{});
  EXPECT_EQ(again.RowOf(Of("ann", "etl")), times.RowOf(Of("ann", "etl")));
  EXPECT_EQ(again.Find(Of("ann", "etl"))->Quantile({}, 500), times.Find(Of("ann", "etl"))->Quantile({}, 500));
}

TEST(RunTimes, AUserWhoSendsManyKindsGivesUpHisOwn) {
  RunTimes times;
  times.Learn(Of("ann", "etl"), Duration::Seconds(1), Instant{});
  constexpr int32_t kMany = 3 * native::KindRows<int>::kRowsPerUser;
  for (int32_t i = 0; i < kMany; ++i) times.Learn(Of("flood", "x", i), Duration::Seconds(1), Instant{i});
  EXPECT_EQ(times.kinds(), native::KindRows<int>::kRowsPerUser + 1);
  EXPECT_NE(times.Find(Of("ann", "etl")), nullptr);
  EXPECT_EQ(times.Find(Of("flood", "x", 0)), nullptr);
  EXPECT_NE(times.Find(Of("flood", "x", kMany - 1)), nullptr);
  times.Learn(Of(std::string(1000, 'a').c_str(), "x"), Duration::Seconds(1), Instant{});
  EXPECT_EQ(times.kinds(), native::KindRows<int>::kRowsPerUser + 1) << "a name that is too long";
}

}  // namespace
}  // namespace fairlead::scheduler
