#include "sim/standalone/standalone_faults.h"

#include <gtest/gtest.h>

namespace fairlead::sim {
namespace {

TEST(StandaloneFaults, EveryPromiseIsKept) {
  env_sim::FaultCounts counts;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const FaultRunResult run = RunStandaloneFaults(seed, PlantedBug::kNone);
    ASSERT_TRUE(run.ok()) << "seed " << seed << ": " << run.violations.front();
    for (const auto& [name, count] : run.counts) counts[name] += count;
  }
  for (const std::string& name : ExpectedStandaloneFaults()) EXPECT_GT(counts[name], 0) << name;
}

TEST(StandaloneFaults, ASeedIsTheSameRunTheSecondTimeAndAnotherOneIsNot) {
  const FaultRunResult first = RunStandaloneFaults(1, PlantedBug::kNone);
  EXPECT_EQ(RunStandaloneFaults(1, PlantedBug::kNone).hash, first.hash);
  EXPECT_NE(RunStandaloneFaults(2, PlantedBug::kNone).hash, first.hash);
}

class StandalonePlantedBugs : public testing::TestWithParam<PlantedBug> {};

TEST_P(StandalonePlantedBugs, AreFound) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    if (!RunStandaloneFaults(seed, GetParam()).ok()) return;
  }
  FAIL() << "no run of 200 noticed the bug";
}

INSTANTIATE_TEST_SUITE_P(All, StandalonePlantedBugs, testing::Values(PlantedBug::kNoFence, PlantedBug::kLateStepDown));

}  // namespace
}  // namespace fairlead::sim
