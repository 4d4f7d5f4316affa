#include "shell/rm/moment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace fairlead::shell {
namespace {

constexpr base::WallTime kEnd{1'764'040'200'000};  // 2025-11-25T03:10:00Z

class MomentTest : public testing::Test {
 protected:
  MomentTest() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  static int64_t Of(const std::string& text) {
    const auto read = ParseMoment(text, kEnd);
    return read ? read->ms - kEnd.ms : -1;
  }
};

TEST_F(MomentTest, PeopleWriteItInManyWays) {
  EXPECT_EQ(Of("2025-11-25T03:10"), 0);
  EXPECT_EQ(Of("2025-11-25 03:09:58"), -2000);
  EXPECT_EQ(Of("2025-11-24"), -(86'400'000 + 190 * 60'000));
  EXPECT_EQ(Of("03:10"), 0);
  EXPECT_EQ(Of("03:09:59"), -1000);
  EXPECT_EQ(Of("03:11"), 60'000 - 86'400'000) << "it was yesterday";
  EXPECT_EQ(Of("-2h"), -7'200'000);
  EXPECT_EQ(Of("-1h30m"), -5'400'000);
  EXPECT_EQ(Of("1764040200000"), 0);
}

TEST_F(MomentTest, LocalTimeUnlessItSaysUtc) {
  ::setenv("TZ", "XYZ-8", 1);
  ::tzset();
  EXPECT_EQ(Of("2025-11-25T11:10"), 0);
  EXPECT_EQ(Of("2025-11-25T03:10Z"), 0);
  EXPECT_EQ(Of("11:10"), 0);
}

TEST_F(MomentTest, WhatIsNoMomentIsRefusedWithTheWaysToWriteOne) {
  for (const char* text : {"", "-", "-2", "-2x", "3:10", "24:00", "03:60", "2025-13-01", "2025-02-30", "2025-11-25T",
                           "2025-11-25T03:10Q", "-99999999999999999999h", "99999999999999999999", "-1d ", "now"}) {
    const auto read = ParseMoment(text, kEnd);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_NE(read.error().message.find("write 2026-11-25T03:10"), std::string::npos);
  }
}

}  // namespace
}  // namespace fairlead::shell
