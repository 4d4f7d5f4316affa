#include "shell/base/log_allowance.h"

#include <gtest/gtest.h>

namespace fairlead::shell {
namespace {

using env::LogLevel;

class LogAllowanceTest : public testing::Test {
 protected:
  bool Say(LogLevel level, std::string_view sentence, size_t bytes = 100) {
    return allowance_.Take(level, sentence, bytes, now_, left_out_);
  }
  int64_t SayOften(LogLevel level, std::string_view sentence, int64_t times, size_t bytes = 100) {
    int64_t written = 0;
    for (int64_t i = 0; i < times; ++i) written += Say(level, sentence, bytes) ? 1 : 0;
    return written;
  }
  LogAllowance allowance_;
  base::Instant now_ = base::Instant{} + base::Duration::Seconds(1000);
  int64_t left_out_ = 0;
};

TEST_F(LogAllowanceTest, WhatIsSaidForEveryMessageOfAStrangerLeavesRoomForOthers) {
  const int64_t written = SayOften(LogLevel::kInfo, "a worker registers", 100'000, 1000);
  EXPECT_EQ(written, LogAllowance::kPurseBytes / 2 / 1000 + 1);
  EXPECT_EQ(SayOften(LogLevel::kInfo, "an application registers", 200), 100) << "of its own share";
  EXPECT_TRUE(Say(LogLevel::kError, "the state cannot be stored"));
  EXPECT_EQ(left_out_, 0);
  now_ = now_ + LogAllowance::kWindow;
  EXPECT_TRUE(Say(LogLevel::kError, "the state cannot be stored"));
  EXPECT_EQ(left_out_, 100'000 - written + 100);
}

TEST_F(LogAllowanceTest, AllLinesOfAllSentencesAndLevelsTogetherAreBounded) {
  int64_t bytes = 0;
  for (int second = 0; second < 60; ++second, now_ = now_ + base::Duration::Seconds(1)) {
    for (int sentence = 0; sentence < 100; ++sentence) {
      const auto level = static_cast<LogLevel>(sentence % 4);
      bytes += 4000 * SayOften(level, "sentence " + std::to_string(sentence), 20, 4000);
    }
  }
  EXPECT_LE(bytes, LogAllowance::kPurseBytes + 60 * LogAllowance::kBytesPerSecond);
  EXPECT_GT(bytes, LogAllowance::kPurseBytes);
}

TEST_F(LogAllowanceTest, WarningsAreBoundedBeforeAndAgainAfterAWhile) {
  EXPECT_EQ(SayOften(LogLevel::kWarn, "a connection is closed", 150), 100);
  now_ = now_ + LogAllowance::kWindow;
  EXPECT_TRUE(Say(LogLevel::kWarn, "a connection is closed"));
  EXPECT_EQ(left_out_, 50);
}

TEST(Shortened, LongValuesLoseTheirEnd) {
  EXPECT_EQ(Shortened("abc", 3), "abc");
  EXPECT_EQ(Shortened("abcd", 3), "abc... (4 bytes)");
}

}  // namespace
}  // namespace fairlead::shell
