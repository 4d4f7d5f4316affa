#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/pass_records.h"
#include "scheduler/yarn_capacity/test_cluster.h"

namespace fairlead::scheduler::yarn_capacity {
namespace {

using testing::ElementsAre;

/// "what STATE reason", one a line.
std::vector<std::string> LinesOf(const PassAttempt& attempt) {
  std::vector<std::string> lines;
  for (const Activity& activity : attempt.activities) {
    lines.push_back(activity.name + " " + std::string(EnumName(activity.state)) +
                    (activity.diagnostic.empty() ? "" : ": " + activity.diagnostic));
  }
  return lines;
}

class RecordingTest : public ::testing::Test {
 protected:
  RecordingTest() : cluster_(TwoHalves()), records_(*cluster_.core().passes()) { cluster_.AddNode(4096, 8); }
  const NodePass& Pass() {
    records_.Watch({0});
    cluster_.Beat();
    return *records_.Find({0}, {});
  }
  Cluster cluster_;
  PassRecords& records_;
};

TEST_F(RecordingTest, NothingIsWrittenThatNobodyAskedFor) {
  cluster_.Submit("root.a");
  cluster_.Beat();
  EXPECT_EQ(records_.Find({0}, {}), nullptr);
  EXPECT_EQ(records_.FindAny(), nullptr);
}

TEST_F(RecordingTest, AQueueThatAsksForNothing) {
  const NodePass& pass = Pass();
  ASSERT_EQ(pass.attempts.size(), 1U);
  EXPECT_EQ(pass.attempts[0].outcome, AttemptOutcome::kSkipped);
  EXPECT_THAT(LinesOf(pass.attempts[0]), ElementsAre("root SKIPPED: Queue does not need more resource"));
}

TEST_F(RecordingTest, AGrantAndTheAttemptAfterIt) {
  const AppIndex app = cluster_.Submit("root.a");
  cluster_.Acquire(app);
  cluster_.Allocate(app, Cluster::AskFor(1024, 1));
  const NodePass& pass = Pass();
  EXPECT_EQ(pass.attempts[0].outcome, AttemptOutcome::kAllocated);
  EXPECT_EQ(pass.attempts[0].container, "container_1_0001_01_000002");
  EXPECT_THAT(
      LinesOf(pass.attempts[0]),
      ElementsAre("root.b SKIPPED: Queue does not need more resource", "container_1_0001_01_000002 ALLOCATED",
                  "request_1_-1 ALLOCATED", "application_1_0001 ALLOCATED", "root.a ACCEPTED", "root ACCEPTED"));
}

TEST_F(RecordingTest, AReservationIsHeld) {
  const AppIndex app = cluster_.Submit("root.a");
  cluster_.Acquire(app);
  cluster_.Allocate(app, Cluster::AskFor(2048, 1));
  cluster_.Beat();
  cluster_.Acquire(app);
  cluster_.AddNode(2048, 8);
  cluster_.Allocate(app, Cluster::AskFor(3072, 1));
  EXPECT_EQ(Pass().attempts[0].outcome, AttemptOutcome::kReserved);
  const NodePass& again = Pass();
  EXPECT_EQ(again.attempts[0].outcome, AttemptOutcome::kReserved);
  EXPECT_THAT(LinesOf(again.attempts[0]).back(), "root.a RE_RESERVED");
}

TEST_F(RecordingTest, SoManyPassesAsWereAskedForAreWrittenDownOneByOne) {
  cluster_.Beat();
  records_.WatchAny(3);
  const uint64_t before = records_.written();
  for (int beat = 0; beat < 5; ++beat) cluster_.Beat();
  EXPECT_EQ(records_.written() - before, 3U);
  ASSERT_EQ(records_.After(before).size(), 3U);
  EXPECT_EQ(records_.After(before)[0]->number, before + 1);
  EXPECT_EQ(records_.After(before + 2).size(), 1U);
  EXPECT_FALSE(records_.Begin({0})) << "nobody waits for more";
}

TEST_F(RecordingTest, ALimitOfTheUserIsNamed) {
  const AppIndex app = cluster_.Submit("root.b");
  cluster_.Acquire(app);
  cluster_.Allocate(app, Cluster::AskFor(2048, 1));
  cluster_.Beat();
  cluster_.Allocate(app, Cluster::AskFor(256, 1));
  const std::vector<std::string> lines = LinesOf(Pass().attempts[0]);
  EXPECT_THAT(lines, testing::Contains("application_1_0001 REJECTED: Queue hits user max-capacity limit"));
  EXPECT_THAT(lines.back(), "root SKIPPED");
}

TEST_F(RecordingTest, WhatIsKeptIsBounded) {
  for (size_t n = 1; n < PassRecords::kMostKept + 10; ++n) cluster_.AddNode(4096, 8);
  for (uint32_t n = 0; n < PassRecords::kMostKept + 10; ++n) records_.Watch({n});
  cluster_.Beat();
  EXPECT_EQ(records_.Find({0}, {}), nullptr) << "the oldest went";
  const uint32_t last = PassRecords::kMostKept + 9;
  EXPECT_NE(records_.Find({last}, {}), nullptr);
  EXPECT_EQ(records_.Find({last}, base::Instant{} + PassRecords::kKeptFor + base::Duration::Millis(1)), nullptr);
}

TEST(PassRecordsTest, LongPassesPushOlderOnesOut) {
  PassRecords records;
  for (uint32_t n = 0; n < 4; ++n) {
    records.Watch({n});
    ASSERT_TRUE(records.Begin({n}));
    for (size_t i = 0; i < PassRecords::kMostActivities + 5; ++i) records.Add({});
    records.End({}, "");
  }
  EXPECT_EQ(records.Find({1}, {}), nullptr);
  ASSERT_NE(records.Find({2}, {}), nullptr);
  EXPECT_EQ(records.Find({3}, {})->attempts[0].activities.size(), PassRecords::kMostActivities);
}

}  // namespace
}  // namespace fairlead::scheduler::yarn_capacity
