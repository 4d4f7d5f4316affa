#include "sim/cluster/fault_run.h"

#include <gtest/gtest.h>

namespace fairlead::sim {
namespace {

TEST(FaultRun, KeepsEveryPromiseAndIsTheSameTheSecondTime) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const FaultRunResult first = RunFaults(seed, PlantedBug::kNone);
    const FaultRunResult second = RunFaults(seed, PlantedBug::kNone);
    EXPECT_TRUE(first.ok()) << "seed " << seed << ": " << first.violations.front();
    EXPECT_EQ(first.hash, second.hash) << "seed " << seed;
    EXPECT_EQ(first.steps, second.steps) << "seed " << seed;
    EXPECT_EQ(first.counts, second.counts) << "seed " << seed;
  }
}

TEST(FaultRun, KeepsEveryPromiseWhileLeadersChange) {
  env_sim::FaultCounts counts;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const FaultRunResult run = RunFaults(seed, PlantedBug::kNone, 2);
    ASSERT_TRUE(run.ok()) << "seed " << seed << ": " << run.violations.front();
    for (const auto& [name, count] : run.counts) counts[name] += count;
  }
  for (const std::string& name : ExpectedFaults(2)) EXPECT_GT(counts[name], 0) << name;
}

TEST(FaultRun, OtherSeedsAreOtherRuns) {
  EXPECT_NE(RunFaults(1, PlantedBug::kNone).hash, RunFaults(2, PlantedBug::kNone).hash);
}

class PlantedBugs : public testing::TestWithParam<PlantedBug> {};

TEST_P(PlantedBugs, AreFound) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    if (!RunFaults(seed, GetParam(), GetParam() < PlantedBug::kNoFence ? 1 : 2).ok()) return;
  }
  FAIL() << "no run of 200 noticed the bug";
}

INSTANTIATE_TEST_SUITE_P(All, PlantedBugs,
                         testing::Values(PlantedBug::kDoubleGrant, PlantedBug::kLostAcknowledgement,
                                         PlantedBug::kForgottenContainer, PlantedBug::kEvictedPromise,
                                         PlantedBug::kLostKill, PlantedBug::kStaleTable, PlantedBug::kDoubleCommit,
                                         PlantedBug::kLostMerge, PlantedBug::kNoFence, PlantedBug::kLateStepDown,
                                         PlantedBug::kAnsweredTwice));

}  // namespace
}  // namespace fairlead::sim
