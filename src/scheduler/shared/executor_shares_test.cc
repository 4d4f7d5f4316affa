#include "scheduler/shared/executor_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::scheduler {
namespace {

using testing::ElementsAre;

TEST(ExecutorShares, AnEqualPartOfThoseThatWantRoundedUp) {
  const SharingJob jobs[] = {{.work = 9, .executors = 0, .wants = true},
                             {.work = 1, .executors = 4, .wants = false},
                             {.work = 5, .executors = 7, .wants = true},
                             {.work = 5, .executors = 1, .wants = true}};
  const ExecutorShares shares(jobs, 10);
  EXPECT_EQ(shares.share(), 4);
  EXPECT_THAT(shares.order(), ElementsAre(1, 2, 3, 0));
  EXPECT_EQ(shares.Missing(0), 4);
  EXPECT_EQ(shares.Missing(1), 0);
  EXPECT_EQ(shares.Missing(2), 0);
  EXPECT_EQ(shares.Missing(3), 3);
  EXPECT_EQ(shares.Excess(1), 4);
  EXPECT_EQ(shares.Excess(2), 3);
  EXPECT_EQ(shares.Excess(3), 0);
}

TEST(ExecutorShares, AJobYieldsOnlyToLessWork) {
  const SharingJob jobs[] = {{.work = 3, .executors = 9, .wants = true},
                             {.work = 2, .executors = 1, .wants = true},
                             {.work = 1, .executors = 5, .wants = true}};
  const ExecutorShares shares(jobs, 15);
  EXPECT_TRUE(shares.LessWorkWaits(0));
  EXPECT_FALSE(shares.LessWorkWaits(1));
  EXPECT_FALSE(shares.LessWorkWaits(2));
}

TEST(ExecutorShares, NobodyWants) {
  EXPECT_EQ(ExecutorShares({}, 10).share(), 0);
  const SharingJob jobs[] = {{.work = 0, .executors = 2, .wants = false}};
  const ExecutorShares shares(jobs, 10);
  EXPECT_EQ(shares.share(), 0);
  EXPECT_EQ(shares.Excess(0), 2);
  EXPECT_FALSE(shares.LessWorkWaits(0));
}

}  // namespace
}  // namespace fairlead::scheduler
