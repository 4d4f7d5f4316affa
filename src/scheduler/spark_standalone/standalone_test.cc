#include "scheduler/spark_standalone/standalone.h"

#include <gtest/gtest.h>

#include "scheduler/fairlead/test_cluster.h"

namespace fairlead::scheduler {
namespace {

std::vector<size_t> PerNode(const TestCluster& cluster, uint32_t app, size_t nodes) {
  std::vector<size_t> counts(nodes);
  for (const ev::Granted& granted : cluster.LiveOf(app)) ++counts[granted.node.value];
  return counts;
}

TEST(StandaloneSchedulerTest, SpreadsOutOrPacks) {
  // Three workers of 8, 6, 4 cores, 5 executors of 2 cores: round robin 2, 2, 1; packed 4, 1, 0.
  for (const bool spread : {true, false}) {
    TestCluster cluster(MakeStandalone({{}, spread}));
    cluster.Node(0, 100, 8);
    cluster.Node(1, 100, 6);
    cluster.Node(2, 100, 4);
    cluster.App(0, "root.a");
    cluster.Ask(0, {TestCluster::Want(5, 1, 2)});
    EXPECT_EQ(PerNode(cluster, 0, 3), spread ? (std::vector<size_t>{2, 2, 1}) : (std::vector<size_t>{4, 1, 0}));
    EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
  }
}

TEST(StandaloneSchedulerTest, FirstTakesAllButDoesNotBlock) {
  TestCluster cluster(MakeStandalone({{}, true}));
  cluster.App(0, "root.a");
  cluster.App(1, "root.b");
  cluster.App(2, "root.c");
  cluster.Ask(0, {TestCluster::Want(100, 1, 20)});  // fits nowhere
  cluster.Ask(1, {TestCluster::Want(6, 1, 1)});
  cluster.Ask(2, {TestCluster::Want(6, 1, 1)});
  cluster.Node(0, 100, 8);
  EXPECT_EQ(cluster.LiveOf(0).size(), 0u);
  EXPECT_EQ(cluster.LiveOf(1).size(), 6u);
  EXPECT_EQ(cluster.LiveOf(2).size(), 2u);
}

TEST(StandaloneSchedulerTest, MastersComeFirst) {
  TestCluster cluster(MakeStandalone({{}, true}));
  cluster.App(0, "root.a");
  cluster.App(1, "root.a", "u", false);
  cluster.Ask(0, {TestCluster::Want(9, 1, 1)});
  cluster.Ask(1, {TestCluster::Want(1, 1, 1, "*", true, 0)});
  cluster.Node(0, 100, 4);
  EXPECT_EQ(cluster.LiveOf(1).size(), 1u);
  EXPECT_TRUE(cluster.LiveOf(1)[0].is_master);
  EXPECT_EQ(cluster.LiveOf(0).size(), 3u);
}

TEST(StandaloneTest, AGangIsGrantedWholeOrNotAtAll) {
  TestCluster cluster(MakeStandalone({}));
  cluster.Node(0, 4, 8);
  cluster.App(0, "root.a");
  model::Ask member = TestCluster::Want(3, 2, 1);
  member.gang = 7;
  cluster.Ask(0, {member});
  EXPECT_EQ(cluster.LiveOf(0).size(), 0u);
  cluster.Node(1, 2, 8);
  EXPECT_EQ(cluster.LiveOf(0).size(), 3u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

}  // namespace
}  // namespace fairlead::scheduler
