#include "scheduler/yarn_fair/promises.h"

#include <gtest/gtest.h>

namespace fairlead::scheduler::yarn_fair {
namespace {

constexpr NodeIndex kNode{2};
constexpr AttemptId kFirst{5};
constexpr AttemptId kSecond{6};

TEST(Promises, ANodePromisesAnAttemptOnceAndMore) {
  Promises promises;
  EXPECT_TRUE(promises.of(kNode).empty());
  EXPECT_TRUE(promises.Add(kNode, kFirst, Resources::Of(2, 1)));
  EXPECT_FALSE(promises.Add(kNode, kFirst, Resources::Of(2, 1)));
  EXPECT_TRUE(promises.IsPromisedTo(kNode, kFirst));
  EXPECT_FALSE(promises.IsPromisedTo(kNode, kSecond));
  EXPECT_EQ(promises.total(kNode), Resources::Of(4, 2));
  EXPECT_EQ(promises.Check(), "");
}

TEST(Promises, AreFulfilledByGrantsNoFurtherThanTheyGo) {
  Promises promises;
  promises.Add(kNode, kFirst, Resources::Of(4, 2));
  EXPECT_FALSE(promises.Fulfil(kNode, kSecond, Resources::Of(4, 2)));
  EXPECT_FALSE(promises.Fulfil(kNode, kFirst, Resources::Of(3, 9)));
  EXPECT_EQ(promises.total(kNode), Resources::Of(1, 0));
  EXPECT_TRUE(promises.Fulfil(kNode, kFirst, Resources::Of(3, 1)));
  EXPECT_TRUE(promises.of(kNode).empty());
  EXPECT_EQ(promises.Check(), "");
}

TEST(Promises, StaleOnesAreDroppedInOrder) {
  Promises promises;
  promises.Add(kNode, kFirst, Resources::Of(1, 1));
  promises.Add(kNode, kSecond, Resources::Of(2, 1));
  EXPECT_EQ(promises.DropIf(kNode, [](AttemptId id) { return id == kFirst; }), std::vector<AttemptId>{kFirst});
  EXPECT_EQ(promises.total(kNode), Resources::Of(2, 1));
  EXPECT_EQ(promises.Drop(kNode), std::vector<AttemptId>{kSecond});
  EXPECT_TRUE(promises.Drop(kNode).empty());
  EXPECT_EQ(promises.Check(), "");
}

}  // namespace
}  // namespace fairlead::scheduler::yarn_fair
