#include "base/budget.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace fairlead::base {
namespace {

constexpr BudgetKind kLetter = {
    .name = "a letter", .bytes = 100, .depth = 2, .memory = {10, 2, 50}, .nodes = {1, 0, 1}, .work = {0, 1, 100}};

TEST(AllowanceTest, GrowsWithTheMessageUpToItsMost) {
  constexpr Allowance kAllowance = {10, 2, 50};
  EXPECT_EQ(kAllowance.For(0), 10u);
  EXPECT_EQ(kAllowance.For(5), 20u);
  EXPECT_EQ(kAllowance.For(20), 50u);
  EXPECT_EQ(kAllowance.For(SIZE_MAX), 50u) << "nothing overflows";
  EXPECT_EQ((Allowance{60, 0, 50}.For(1)), 50u);
}

TEST(BudgetTest, TheFirstChargeTooManyFailsAndAllAfterIt) {
  Budget budget(kLetter, 5);
  EXPECT_TRUE(budget.Memory(20));
  EXPECT_TRUE(budget.ok());
  EXPECT_FALSE(budget.Memory(1));
  EXPECT_FALSE(budget.Node()) << "there is one left, but the message is refused";
  EXPECT_EQ(budget.error().message, "a letter of 5 bytes is refused: what it stands for takes more than 20 bytes");
}

TEST(BudgetTest, SaysWhatThereIsTooMuchOf) {
  Budget nodes(kLetter, 5);
  EXPECT_TRUE(nodes.Node());
  EXPECT_FALSE(nodes.Node());
  EXPECT_EQ(nodes.error().message, "a letter of 5 bytes is refused: it has more than 1 elements");
  Budget work(kLetter, 5);
  EXPECT_FALSE(work.Work(6));
  EXPECT_EQ(work.error().message, "a letter of 5 bytes is refused: reading it takes more than 5 steps");
}

TEST(BudgetTest, AMessageThatIsTooLongIsRefusedWhole) {
  Budget budget(kLetter, 101);
  EXPECT_FALSE(budget.Work(0));
  EXPECT_EQ(budget.error().message, "a letter of 101 bytes is refused: it may have 100");
}

TEST(BudgetTest, LevelsEndWithTheirScope) {
  Budget budget(kLetter, 5);
  for (int i = 0; i < 3; ++i) {
    const Budget::Level one(budget);
    const Budget::Level two(budget);
    EXPECT_TRUE(one.ok() && two.ok());
  }
  const Budget::Level one(budget);
  const Budget::Level two(budget);
  const Budget::Level three(budget);
  EXPECT_FALSE(three.ok());
  EXPECT_EQ(budget.error().message, "a letter of 5 bytes is refused: it is nested deeper than 2");
}

}  // namespace
}  // namespace fairlead::base
