#include "process/rm/questions.h"

#include <gtest/gtest.h>

#include <span>
#include <utility>

#include "env_sim/world.h"
#include "process/rm/test_workers.h"
#include "scheduler/fairlead/fairlead.h"

namespace fairlead::process::rm {
namespace {

class QuestionsTest : public testing::Test {
 protected:
  bool Ask(int number) { return AskAs("user" + std::to_string(number), number); }
  bool AskAs(const std::string& user, int number) {
    const auto asker = std::make_shared<int>();
    askers_.push_back(asker);
    return questions_.Ask(
        user, asker,
        [this](const Questions::Ended& ended) {
          ++begun_;
          ended_.push_back(ended);
          return [] {};
        },
        [this, number] { answered_.push_back(number); });
  }
  Questions::Forecasts Make() {
    ++forecasts_;
    auto present = std::make_shared<ask::Present>();
    present->now = loop_.Now();
    present->scheduler = scheduler::MakeFairlead({});
    return std::make_shared<ask::Forecast>(present, std::make_shared<scheduler::RunTimes>(), ask::Bounds{});
  }
  bool AskForecast(base::Instant since) {
    return questions_.AskForecast(
        since,
        [this](const Questions::Ended& ended) {
          ended_.push_back(ended);
          return [this] { return Make(); };
        },
        [this](const Questions::Forecasts& forecast) { told_.push_back(forecast.get()); });
  }

  env_sim::World world_{1};
  Workers loop_{world_.AddMachine("rm").loop()};
  Questions questions_{loop_};
  std::vector<std::shared_ptr<int>> askers_;
  std::vector<int> answered_;
  std::vector<Questions::Ended> ended_;
  std::vector<const ask::Forecast*> told_;
  int begun_ = 0;
  int forecasts_ = 0;
};

TEST_F(QuestionsTest, TwoAreWorkedOnAtATimeAndTheRestTakesTurns) {
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Ask(i));
  EXPECT_EQ(begun_, 2);
  while (!loop_.jobs.empty()) {
    EXPECT_LE(loop_.jobs.size(), Questions::kAtOnce);
    loop_.WorkOne();
  }
  EXPECT_EQ(answered_, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(QuestionsTest, TooManyAreTurnedAway) {
  constexpr int kMost = static_cast<int>(Questions::kAtOnce + Questions::kWaiting);
  for (int i = 0; i < kMost; ++i) EXPECT_TRUE(Ask(i));
  EXPECT_FALSE(Ask(kMost));
  loop_.WorkOne();
  EXPECT_TRUE(Ask(kMost + 1)) << "there is room again";
}

TEST_F(QuestionsTest, OneUserStarvesNobody) {
  constexpr int kOfOne = static_cast<int>(Questions::kAtOnce + Questions::kWaitingOfOne);
  for (int i = 0; i < kOfOne; ++i) EXPECT_TRUE(AskAs("ann", i));
  EXPECT_FALSE(AskAs("ann", 97)) << "her share is used";
  EXPECT_TRUE(AskAs("bob", 98));
  loop_.WorkOne();
  loop_.WorkOne();
  loop_.WorkOne();
  EXPECT_EQ(answered_, (std::vector<int>{0, 1, 98})) << "before all of hers that wait";
}

TEST_F(QuestionsTest, WhoHasGoneIsPassedOver) {
  for (int i = 0; i < 4; ++i) Ask(i);
  askers_.clear();
  while (!loop_.jobs.empty()) loop_.WorkOne();
  EXPECT_EQ(answered_, (std::vector<int>{0, 1})) << "those that were begun";
  EXPECT_EQ(begun_, 2);
}

TEST_F(QuestionsTest, WorkEndsWhenNobodyWaitsForIt) {
  Ask(0);
  Ask(1);
  EXPECT_FALSE(ended_[0]());
  askers_.erase(askers_.begin());
  EXPECT_TRUE(ended_[0]());
  EXPECT_FALSE(ended_[1]());
}

TEST_F(QuestionsTest, WorkEndsWhenItTakesTooLong) {
  Ask(0);
  const auto over = [this] { return ended_[0](); };
  const base::Instant end = loop_.Now() + Questions::kLongest;
  EXPECT_FALSE(world_.RunUntil(end - base::Duration::Millis(1), over));
  EXPECT_TRUE(world_.RunUntil(end + base::Duration::Millis(1), over));
}

TEST_F(QuestionsTest, WhatIsDoneHasNoTimer) {
  Ask(0);
  loop_.WorkOne();
  const auto over = [this] { return ended_[0](); };
  EXPECT_FALSE(world_.RunUntil(loop_.Now() + Questions::kLongest * 2, over));
}

TEST_F(QuestionsTest, AForecastEndsWhenItTakesTooLong) {
  EXPECT_TRUE(AskForecast({}));
  ASSERT_EQ(ended_.size(), 1U);
  const auto over = [this] { return ended_[0](); };
  const base::Instant end = loop_.Now() + Questions::kLongest;
  EXPECT_FALSE(world_.RunUntil(end - base::Duration::Millis(1), over));
  EXPECT_TRUE(world_.RunUntil(end + base::Duration::Millis(1), over));
}

TEST_F(QuestionsTest, OneForecastServesAllForAWhile) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(AskForecast({}));
  loop_.WorkOne();
  EXPECT_EQ(told_.size(), 3U);
  EXPECT_TRUE(AskForecast({}));
  EXPECT_EQ(told_.size(), 4U) << "at once";
  EXPECT_EQ(forecasts_, 1);
  EXPECT_TRUE(AskForecast(loop_.Now() + base::Duration::Seconds(1))) << "of one who came later";
  loop_.WorkOne();
  EXPECT_EQ(forecasts_, 2);
  loop_.ahead = Questions::kFresh;
  EXPECT_TRUE(AskForecast({}));
  loop_.WorkOne();
  EXPECT_EQ(forecasts_, 3);
  EXPECT_EQ(told_.size(), 6U);
}

}  // namespace
}  // namespace fairlead::process::rm
