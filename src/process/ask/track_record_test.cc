#include "process/ask/track_record.h"

#include <gtest/gtest.h>

#include "process/ask/learned.h"
#include "process/ask/world_for_tests.h"

namespace fairlead::process::ask {
namespace {

/// One node of eight containers: a job of root.a has it, one of root.b waits behind it. Tasks are known to run for 60
/// s.
class TrackRecordTest : public testing::Test {
 protected:
  TrackRecordTest() : world_(OneFullNode()) {
    const Present present = world_.Take();
    const auto learned = std::make_shared<scheduler::RunTimes>();
    for (int i = 0; i < 10; ++i) {
      LearnOne(*learned, present.apps[0], base::Duration::Seconds(60));
    }
    since_ = present.now;
    forecast_ = std::make_unique<Forecast>(std::make_shared<Present>(present), learned, Bounds{});
    record_.Foresee(*forecast_);
  }
  /// A task of the second job starts so long after the forecast.
  void Start(base::Duration after, int32_t priority = 1) {
    ms::Granted granted;
    granted.container.attempt = {{1, 2}, 1};
    granted.priority = priority;
    const std::vector<ms::Effect> effects = {granted};
    record_.Take(since_ + after, effects);
  }
  TrackRecord::Held After(base::Duration after) const { return record_.held(since_ + after); }

  World world_;
  base::Instant since_;
  std::unique_ptr<Forecast> forecast_;
  TrackRecord record_;
};

TEST_F(TrackRecordTest, AStartAsForeseenIsCountedOnce) {
  EXPECT_EQ(After({}).estimates, 0);
  Start(base::Duration::Seconds(59), 7);  // another ask
  EXPECT_EQ(After(base::Duration::Seconds(59)).estimates, 0);
  Start(base::Duration::Seconds(59));
  Start(base::Duration::Seconds(500));
  const auto held = After(base::Duration::Seconds(500));
  EXPECT_EQ(held.estimates, 1);
  EXPECT_EQ(held.within_p90, 1);
  EXPECT_EQ(held.close, 1);
}

TEST_F(TrackRecordTest, WhatStartsTooLateIsNeither) {
  Start(base::Duration::Seconds(300));
  const auto held = After(base::Duration::Seconds(300));
  EXPECT_EQ(held.estimates, 1);
  EXPECT_EQ(held.within_p90, 0);
  EXPECT_EQ(held.close, 0);
}

TEST_F(TrackRecordTest, TheMedianErrorIsAPartOfTheWait) {
  EXPECT_FALSE(After({}).median_error);
  Start(base::Duration::Seconds(118));
  ASSERT_TRUE(After(base::Duration::Seconds(118)).median_error);
  EXPECT_NEAR(*After(base::Duration::Seconds(118)).median_error, 0.5, 0.01) << "59 s were said";
}

TEST_F(TrackRecordTest, WhatIsServedAtOnceIsOffByThePartOfASecond) {
  Start({});
  EXPECT_NEAR(*After({}).median_error, 59, 1);
}

TEST_F(TrackRecordTest, AMinuteTooSoonIsClose) {
  ASSERT_EQ(forecast_->nexts().size(), 1U);
  EXPECT_EQ(forecast_->nexts()[0].when.p50->millis() / 1000, 59);
  Start({});
  EXPECT_EQ(After({}).close, 1);
}

TEST_F(TrackRecordTest, WhatStillWaitsBeyondItsP90CountsAsLate) {
  EXPECT_EQ(After(base::Duration::Seconds(50)).estimates, 0);
  EXPECT_EQ(After(base::Duration::Seconds(100)).estimates, 1);
  EXPECT_EQ(After(base::Duration::Seconds(100)).within_p90, 0);
}

TEST_F(TrackRecordTest, TheFirstEstimateCountsUntilTheApplicationIsGone) {
  Present later = world_.Take();
  later.now = since_ + base::Duration::Seconds(40);
  const auto learned = std::make_shared<scheduler::RunTimes>();
  record_.Foresee(Forecast(std::make_shared<Present>(later), learned, {}));
  EXPECT_EQ(After(base::Duration::Seconds(100)).estimates, 1) << "the first is still followed";
  later.apps.pop_back();
  later.now = later.now + base::Duration::Seconds(1);
  record_.Foresee(Forecast(std::make_shared<Present>(later), learned, {}));
  EXPECT_EQ(After(base::Duration::Seconds(100)).estimates, 0);
}

}  // namespace
}  // namespace fairlead::process::ask
