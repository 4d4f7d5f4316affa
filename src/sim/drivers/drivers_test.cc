#include "sim/drivers/drivers.h"

#include <gtest/gtest.h>

namespace fairlead::sim {
namespace {

TEST(DriversTest, EverythingEndsAndTheSameSeedGivesTheSame) {
  DriversOptions options;
  options.applications = 60;
  for (const DriverRules& rules : DriverRuleSets()) {
    const auto a = RunDrivers(options, rules);
    const auto b = RunDrivers(options, rules);
    ASSERT_TRUE(a.ok() && b.ok()) << rules.name;
    EXPECT_EQ(a->ended, 60) << rules.name;
    EXPECT_EQ(a->makespan, b->makespan) << rules.name;
    EXPECT_EQ(a->slowdown_mean, b->slowdown_mean) << rules.name;
  }
}

/// The goals of docs/wishes.md, on seeds that nothing was chosen by.
void ExpectTheDefaultToHold(double load, double slowdown_most) {
  for (const double dynamic : {0.0, 1.0}) {
    DriversOptions options;
    options.seed = 101;
    options.applications = 200;
    options.load = load;
    options.dynamic = dynamic;
    const auto rows = CompareDrivers(options, 2);
    ASSERT_TRUE(rows.ok());
    const DriversBeside& ours = (*rows)[1];
    EXPECT_EQ(ours.name, "fairlead");
    EXPECT_LE(ours.slowdown_mean, slowdown_most) << load << ", dynamic " << dynamic;
    EXPECT_LE(ours.slowdown_p99, 1) << load << ", dynamic " << dynamic;
    EXPECT_LE(ours.makespan, 1.02) << load << ", dynamic " << dynamic;
    EXPECT_LE(ours.slowdown_mean, 1.02 * (*rows)[2].slowdown_mean)
        << "a wish would be better: " << load << ", " << dynamic;
  }
}

TEST(DriversTest, WithNothingSetUnderOverload) { ExpectTheDefaultToHold(1.2, 0.5); }
TEST(DriversTest, WithNothingSetAtNormalLoad) { ExpectTheDefaultToHold(0.7, 1.02); }

}  // namespace
}  // namespace fairlead::sim
