#include "process/ask/correction.h"

#include <gtest/gtest.h>

namespace fairlead::process::ask {
namespace {

using base::Duration;

When Said(int64_t p50, int64_t p90) { return {Duration::Seconds(p50), Duration::Seconds(p90)}; }

TEST(Correction, NothingIsCorrectedBeforeEnoughHasCome) {
  Correction correction;
  for (size_t i = 1; i < Correction::kEnough; ++i) correction.Learn(Duration::Seconds(100), Duration::Seconds(200));
  EXPECT_EQ(correction.Of(Said(100, 120)).p50, Duration::Seconds(100));
  correction.Learn(Duration::Seconds(100), Duration::Seconds(200));
  EXPECT_EQ(correction.Of(Said(100, 120)).p50, Duration::Seconds(200));
  EXPECT_EQ(correction.Of(Said(100, 120)).p90, Duration::Seconds(200));
}

TEST(Correction, HalfAndNineOfTenAreThoseOfWhatCame) {
  Correction correction;
  for (int i = 1; i <= 100; ++i) correction.Learn(Duration::Seconds(100), Duration::Seconds(2 * i));
  const When when = correction.Of(Said(200, 201));
  EXPECT_NEAR(when.p50->seconds(), 200, 5);
  EXPECT_NEAR(when.p90->seconds(), 360, 5);
}

TEST(Correction, WhatIsFartherIsAnotherClass) {
  Correction correction;
  for (size_t i = 0; i < 3 * Correction::kEnough; ++i) {
    correction.Learn(Duration::Seconds(100), Duration::Seconds(300));
    if (i % 3 == 0) correction.Learn(Duration::Seconds(400), Duration::Seconds(400));
  }
  EXPECT_EQ(correction.Of(Said(100, 100)).p50, Duration::Seconds(300));
  EXPECT_EQ(correction.Of(Said(400, 500)).p50, Duration::Seconds(400));
  EXPECT_EQ(correction.Of(Said(10, 20)).p50, Duration::Seconds(30)) << "as all, where its class is too small";
}

TEST(Correction, TheLatestCount) {
  Correction correction;
  for (size_t i = 0; i < Correction::kKept; ++i) correction.Learn(Duration::Seconds(100), Duration::Seconds(1));
  for (size_t i = 0; i < Correction::kKept; ++i) correction.Learn(Duration::Seconds(100), Duration::Seconds(150));
  EXPECT_EQ(correction.Of(Said(100, 100)).p50, Duration::Seconds(150));
}

TEST(Correction, WhatNobodyKnowsStaysUnknown) {
  EXPECT_FALSE(Correction().Of({}).p50);
  Correction correction;
  for (int i = 0; i < 100; ++i) correction.Learn({}, {});
  EXPECT_EQ(correction.Of(Said(0, 0)).p50, Duration::Seconds(1)) << "told in seconds";
}

}  // namespace
}  // namespace fairlead::process::ask
