#include "model/ids.h"

#include <gtest/gtest.h>

namespace fairlead::model {
namespace {

TEST(Ids, SpelledAsYarnSpellsThem) {
  const ApplicationAttemptId attempt{{1700000000000, 7}, 2};
  EXPECT_EQ(ToString(attempt.app), "application_1700000000000_0007");
  EXPECT_EQ(ToString(attempt), "appattempt_1700000000000_0007_000002");
  EXPECT_EQ(ToString(ContainerId{attempt, 12}), "container_1700000000000_0007_02_000012");
  EXPECT_EQ(ToString(ContainerId{attempt, (int64_t{3} << 40) | 12}), "container_e03_1700000000000_0007_02_000012");
}

TEST(Ids, ParseGivesBackWhatWasSpelled) {
  for (const int64_t value : {int64_t{1}, int64_t{1234567}, (int64_t{17} << 40) | 5}) {
    const ContainerId id{{{1700000000000, 12345}, 1}, value};
    EXPECT_EQ(*ParseContainerId(ToString(id)), id);
    EXPECT_EQ(*ParseApplicationAttemptId(ToString(id.attempt)), id.attempt);
    EXPECT_EQ(*ParseApplicationId(ToString(id.attempt.app)), id.attempt.app);
  }
}

TEST(Ids, OddSpellingsAreRefused) {
  for (const char* text : {"", "application_", "application_1", "application_1_2_3", "application_-1_2",
                           "application_1_99999999999", "job_1_2", "application_1_2x", "../application_1_2"}) {
    EXPECT_FALSE(ParseApplicationId(text).ok()) << text;
  }
  EXPECT_FALSE(ParseContainerId("container_e_1_2_3_4").ok());
  EXPECT_FALSE(ParseContainerId("container_1_2_3").ok());
}

}  // namespace
}  // namespace fairlead::model
