#include "sim/rigid/rigid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"

namespace fairlead::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RigidJob Job(int64_t submit, int64_t run, int32_t devices) {
  return {.submit_s = submit, .run_s = run, .estimate_s = run, .devices = devices, .pool = 0};
}

std::vector<int64_t> StartsOf(std::span<const RigidJob> jobs, int32_t devices, RigidOrder order) {
  std::vector<int64_t> at;
  for (const RigidStart& start : RunRigid(jobs, devices, order)) at.push_back(start.at_s);
  return at;
}

TEST(SimRigid, WhoMayPassTheFirst) {
  // 0 runs on 3 of 4; 1 wants all; 2 would end before, 3 after 1 begins; 4 is short and small.
  const RigidJob jobs[] = {Job(0, 100, 3), Job(1, 10, 4), Job(2, 90, 1), Job(3, 200, 1), Job(4, 5, 1)};
  EXPECT_THAT(StartsOf(jobs, 4, RigidOrder::kArrival), ElementsAre(0, 100, 110, 110, 110));
  EXPECT_THAT(StartsOf(jobs, 4, RigidOrder::kBackfill), ElementsAre(0, 100, 2, 110, 92));
  EXPECT_THAT(StartsOf(jobs, 4, RigidOrder::kLeastWorkFirst), ElementsAre(0, 100, 2, 110, 92));
}

TEST(SimRigid, TheLeastWorkPassesFirst) {
  const RigidJob jobs[] = {Job(0, 10, 2), Job(0, 100, 3), Job(1, 60, 2), Job(1, 50, 2), Job(2, 50, 4)};
  const std::vector<int64_t> starts = StartsOf(jobs, 5, RigidOrder::kLeastWorkFirst);
  EXPECT_EQ(starts[2], 10) << "the first in line is not passed when it has room";
  EXPECT_EQ(starts[3], 70);
}

TEST(SimRigid, LargerThanThePoolNeverStarts) {
  const RigidJob jobs[] = {Job(0, 10, 5), Job(0, 10, 4)};
  EXPECT_THAT(StartsOf(jobs, 4, RigidOrder::kBackfill), ElementsAre(-1, 0));
}

TEST(SimRigid, NoPromiseIsBrokenWhenRunTimesAreExact) {
  base::Rng rng(5);
  int64_t promised = 0;
  for (int32_t round = 0; round < 200; ++round) {
    std::vector<RigidJob> jobs;
    int64_t at = 0;
    for (int32_t i = 0; i < 60; ++i) {
      jobs.push_back(Job(at += rng.Between(0, 20), rng.Between(1, 200), static_cast<int32_t>(rng.Between(1, 16))));
    }
    for (const RigidOrder order : {RigidOrder::kBackfill, RigidOrder::kLeastWorkFirst}) {
      for (const RigidStart& start : RunRigid(jobs, 16, order)) {
        if (start.promised_s < 0) continue;
        ++promised;
        ASSERT_LE(start.at_s, start.promised_s);
      }
    }
  }
  EXPECT_GT(promised, 1000);
}

TEST(SimRigid, TheLargestUse) {
  const RigidJob jobs[] = {Job(0, 10, 3), Job(5, 10, 4), Job(10, 1, 2)};
  EXPECT_EQ(LargestUse(jobs), 7);
  EXPECT_THAT(StartsOf(jobs, 7, RigidOrder::kArrival), ElementsAre(0, 5, 10));
}

TEST(SimRigid, ReadsPhilly) {
  const auto jobs = ReadPhilly(
      "timestamp,duration,num_gpus,gpu_time,cluster\n"
      "1970-01-02 00:00:01,7.4,8,59.2,b\n"
      "1970-01-01 00:01:00,0.0,1,0.0,a\r\n");
  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ((*jobs)[0].submit_s, 60);
  EXPECT_EQ((*jobs)[0].run_s, 1);
  EXPECT_EQ((*jobs)[1].submit_s, 86401);
  EXPECT_EQ((*jobs)[1].run_s, 7);
  EXPECT_EQ((*jobs)[1].pool, 1);
}

TEST(SimRigid, BadRowsAreRefusedByLine) {
  const std::string head = "timestamp,duration,num_gpus,gpu_time,cluster\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", "no jobs"},
      {"a,b\n", "line 1: the first line"},
      {head + "2017-10-09 07:01:55,66.0,1,66.0\n", "line 2: a row has five columns"},
      {head + "2017-10-09T07:01:55,66.0,1,66.0,a\n", "line 2: a time"},
      {head + "2017-13-09 07:01:55,66.0,1,66.0,a\n", "line 2: a time"},
      {head + "2017-10-09 07:01:55,-1,1,66.0,a\n", "duration"},
      {head + "2017-10-09 07:01:55,nan,1,66.0,a\n", "duration"},
      {head + "2017-10-09 07:01:55,5,0,66.0,a\n", "GPUs"},
      {head + "2017-10-09 07:01:55,5,1,66.0,\n", "no cluster"},
  };
  for (const auto& [text, what] : cases) {
    const auto jobs = ReadPhilly(text);
    ASSERT_FALSE(jobs.ok()) << text;
    EXPECT_THAT(jobs.error().message, HasSubstr(what));
  }
}

}  // namespace
}  // namespace fairlead::sim
