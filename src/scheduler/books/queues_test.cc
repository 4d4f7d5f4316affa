#include "scheduler/books/queues.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "scheduler/books/hash_of.h"

namespace fairlead::scheduler::native {
namespace {

using model::Resources;

model::QueueTree Tree() {
  model::QueueTree tree;
  model::QueueConfig a;
  a.name = "root.a";
  a.weight = 3;
  a.max_running_apps = 1;
  a.max_resources = model::ConfiguredResources{{}, {{"*", 50.0}}, INT64_MAX};
  model::QueueConfig p;
  p.name = "root.p";
  p.parent_type = true;
  tree.queues = {a, p};
  return tree;
}

class QueuesTest : public ::testing::Test {
 protected:
  QueuesTest() {
    queues_.SetTotal(Resources::Of(100, 100));
    queues_.ResolveLimits();
  }
  Queues queues_{2, 800, Tree()};
  QueueId a_ = queues_.Find("root.a");
};

TEST_F(QueuesTest, QueuesNobodyDeclaredComeAndGoWithTheirApplications) {
  const QueueId leaf = queues_.LeafFor("root.p.x.y");
  ASSERT_TRUE(leaf.valid());
  EXPECT_TRUE(queues_.Find("root.p.x").valid());
  queues_.Enter(leaf);
  queues_.DropIfUnused(leaf);
  EXPECT_TRUE(queues_.Find("root.p.x.y").valid());
  queues_.Leave(leaf);
  queues_.DropIfUnused(leaf);
  EXPECT_FALSE(queues_.Find("root.p.x.y").valid());
  EXPECT_FALSE(queues_.Find("root.p.x").valid()) << "and the parents that were made for it";
  EXPECT_TRUE(queues_.Find("root.p").valid()) << "not those that were declared";
}

TEST_F(QueuesTest, AQueueBelowADeclaredLeafCannotBeMade) {
  EXPECT_FALSE(queues_.LeafFor("root.a.b").valid());
  EXPECT_FALSE(queues_.LeafFor("root.p").valid()) << "a parent is no leaf";
}

TEST_F(QueuesTest, SumsGoUpToTheRoot) {
  queues_.AddUsage(a_, Resources::Of(10, 1));
  queues_.AddDemand(a_, Resources::Of(20, 2));
  EXPECT_EQ(queues_[a_].used, Resources::Of(10, 1));
  EXPECT_EQ(queues_[kRoot].used, Resources::Of(10, 1));
  EXPECT_EQ(queues_[kRoot].demand, Resources::Of(20, 2));
  queues_.AddUsage(a_, -Resources::Of(10, 1));
  EXPECT_EQ(queues_[kRoot].used, Resources{});
}

TEST_F(QueuesTest, AMaximumIsOfTheClusterAsItIs) {
  EXPECT_EQ(queues_.FindLimit(a_, Resources::Of(50, 50), false).kind, Limit::Kind::kFree);
  EXPECT_EQ(queues_.FindLimit(a_, Resources::Of(51, 1), false).queue, a_);
  queues_.SetTotal(Resources::Of(200, 200));
  queues_.ResolveLimits();
  EXPECT_EQ(queues_.FindLimit(a_, Resources::Of(51, 1), false).kind, Limit::Kind::kFree);
}

TEST_F(QueuesTest, HeadroomIsTheLeastThatAQueueAboveLeaves) {
  queues_.AddUsage(a_, Resources::Of(45, 10));
  EXPECT_EQ(queues_.Headroom(a_, Resources::Of(60, 20)), Resources::Of(5, 20));
  EXPECT_EQ(queues_.Headroom(a_, Resources::Of(-1, 20)), Resources::Of(0, 20));
}

TEST_F(QueuesTest, TheFirstMasterIsAlwaysAllowedTheNextWithinTheShare) {
  queues_.Start(a_);
  EXPECT_FALSE(queues_.LeafMastersExceed(a_, Resources::Of(90, 1)));
  queues_.AddMasters(a_, Resources::Of(20, 1), 1);
  EXPECT_FALSE(queues_.LeafMastersExceed(a_, Resources::Of(5, 1))) << "half of the 50 that it may use";
  EXPECT_TRUE(queues_.LeafMastersExceed(a_, Resources::Of(6, 1)));
  EXPECT_TRUE(queues_.ClusterMastersExceed(Resources::Of(61, 1)));
  EXPECT_FALSE(queues_.ClusterMastersExceed(Resources::Of(60, 1)));
}

TEST_F(QueuesTest, WhoWaitsForALimitIsFoundWhenItIsNoLongerReached) {
  queues_.Start(a_);
  EXPECT_FALSE(queues_.MayRun(a_));
  queues_.Wait(a_, AppIndex{7});
  EXPECT_TRUE(queues_.Stop(a_)) << "no application runs there any more";
  const auto lists = queues_.TakeReopened();
  ASSERT_EQ(lists.size(), 1u);
  EXPECT_EQ(*lists[0], std::set<AppIndex>{AppIndex{7}});
  EXPECT_FALSE(queues_.AnyReopened());
}

TEST_F(QueuesTest, ALeafWithApplicationsCannotBecomeAParent) {
  queues_.Enter(a_);
  model::QueueTree tree = Tree();
  tree.queues[0].parent_type = true;
  EXPECT_FALSE(queues_.CheckReload(tree));
  queues_.Leave(a_);
  EXPECT_TRUE(queues_.CheckReload(tree));
}

TEST_F(QueuesTest, ThePolicyIsToldOfQueuesInOrder) {
  queues_.TakeChanges();
  const QueueId x = queues_.LeafFor("root.p.x");
  queues_.DropIfUnused(x);
  const std::vector<TreeChange> changes = queues_.TakeChanges();
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_TRUE(changes[0].added);
  EXPECT_FALSE(changes[1].added);
  EXPECT_EQ(changes[1].parent, queues_.Find("root.p"));
  EXPECT_EQ(queues_.Check(), "");
}

TEST_F(QueuesTest, EveryChangeIsInTheHash) {
  const std::function<void()> changes[] = {
      [&] { queues_.AddUsage(a_, Resources::Of(1, 1)); },
      [&] { queues_.AddDemand(a_, Resources::Of(1, 1)); },
      [&] { queues_.AddMasters(a_, Resources::Of(1, 1), 0); },
      [&] { queues_.AddMasters(a_, Resources{}, 1); },
      [&] { queues_.Enter(a_); },
      [&] { queues_.Start(a_); },
      [&] { queues_.Wait(a_, AppIndex{7}); },
      [&] { queues_.Reopen(a_); },
      [&] { queues_.SetTotal(Resources::Of(7, 7)); },
      [&] { queues_.ResolveLimits(); },
      [&] { queues_.LeafFor("root.z"); },
      [&] {
        model::QueueTree tree = Tree();
        tree.queues[0].allow_preemption_from = false;
        queues_.ApplyTree(tree);
      },
  };
  std::set<uint64_t> seen = {HashOf(queues_)};
  for (const auto& change : changes) {
    change();
    EXPECT_TRUE(seen.insert(HashOf(queues_)).second) << seen.size();
  }
}

}  // namespace
}  // namespace fairlead::scheduler::native
