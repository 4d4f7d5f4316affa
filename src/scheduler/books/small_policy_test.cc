// A policy in a screenful: two ways to rank applications and nodes, on the base that does the rest.

#include "scheduler/books/small_policy.h"

#include <gtest/gtest.h>

#include "scheduler/books/config.h"
#include "scheduler/books/core.h"
#include "scheduler/fairlead/test_cluster.h"

namespace fairlead::scheduler {
namespace {

/// The application with the least memory has the next container, on the node where the least is left.
class LeastUsed final : public native::PolicyOf<LeastUsed, native::SmallPolicy> {
 protected:
  int64_t RankOf(const native::Books& books, native::AppSlot app) const override {
    return books.apps[app].used.memory_mib();
  }
  int64_t ScoreOf(const native::Node& node) const override { return INT64_MAX - node.free().memory_mib(); }
  int32_t AtOnce() const override { return 1; }
};

std::unique_ptr<Scheduler> MakeLeastUsed() {
  return std::make_unique<native::Core>(BooksConfig{}, std::make_unique<LeastUsed>());
}

/// How many containers the applications have, in the order in which they asked.
std::vector<size_t> Shares(const TestCluster& cluster, uint32_t apps) {
  std::vector<size_t> shares;
  for (uint32_t app = 0; app < apps; ++app) shares.push_back(cluster.LiveOf(app).size());
  return shares;
}

TEST(SmallPolicy, RanksAnewAfterEachContainer) {
  TestCluster cluster(MakeLeastUsed());
  for (uint32_t app = 0; app < 3; ++app) {
    cluster.App(app, "root.q");
    cluster.Ask(app, {TestCluster::Want(9, 1, 1)});
  }
  cluster.Node(0, 8, 8);
  EXPECT_EQ(Shares(cluster, 3), (std::vector<size_t>{3, 3, 2}));
  // Two sizes: each is a row of its own, and whoever has more waits in both.
  cluster.Ask(0, {TestCluster::Want(9, 2, 1)});
  cluster.Node(1, 1, 8);
  EXPECT_EQ(Shares(cluster, 3), (std::vector<size_t>{3, 3, 3}));
  cluster.Node(2, 6, 8);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
  EXPECT_EQ(cluster.LiveOf(1).size() + cluster.LiveOf(2).size(), 6u + 4u);
}

TEST(SmallPolicy, TakesNodesByTheirScore) {
  TestCluster cluster(MakeLeastUsed());
  cluster.Node(0, 16, 8);
  cluster.Node(1, 2, 8);
  cluster.Node(2, 4, 8);
  cluster.App(0, "root.q");
  cluster.Ask(0, {TestCluster::Want(4, 2, 1)});
  std::vector<uint32_t> nodes;
  for (const auto& grant : cluster.LiveOf(0)) nodes.push_back(grant.node.value);
  EXPECT_EQ(nodes, (std::vector<uint32_t>{1, 2, 2, 0}));
}

TEST(SmallPolicy, IsReadBackAndGoesOnAlike) {
  TestCluster cluster(MakeLeastUsed());
  cluster.Node(0, 4, 4);
  for (uint32_t app = 0; app < 2; ++app) {
    cluster.App(app, "root.q");
    cluster.Ask(app, {TestCluster::Want(5, 1, 1)});
  }
  std::unique_ptr<Scheduler> read = MakeLeastUsed();
  ASSERT_TRUE(read->ReadState(cluster.scheduler().State()));
  EXPECT_EQ(read->StateHash(), cluster.scheduler().StateHash());
  EffectSink effects;
  const ev::Event node = ev::NodeAdded{{1}, "n1", 1, "/r", model::Resources::Of(4, 4), {}};
  read->Step(cluster.now_, std::vector{node}, effects);
  cluster.Send(node);
  EXPECT_EQ(read->StateHash(), cluster.scheduler().StateHash());
  EXPECT_EQ(Shares(cluster, 2), (std::vector<size_t>{4, 4}));
}

TEST(SmallPolicy, SaysWhyAnAskWaits) {
  TestCluster cluster(MakeLeastUsed());
  cluster.Node(0, 4, 4);
  cluster.App(0, "root.q");
  cluster.Ask(0, {TestCluster::Want(1, 8, 1)});
  const auto why = cluster.scheduler().Why({0}, cluster.now_);
  ASSERT_EQ(why.size(), 1u);
  EXPECT_EQ(why[0].reason, ev::PendingReason::kLargerThanAnyNode);
}

}  // namespace
}  // namespace fairlead::scheduler
