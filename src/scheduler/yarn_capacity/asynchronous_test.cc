#include "scheduler/yarn_capacity/asynchronous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "scheduler/yarn_capacity/test_cluster.h"

namespace fairlead::scheduler::yarn_capacity {
namespace {

model::CapacityQueues Asynchronous() {
  model::CapacityQueues queues;
  queues.dominant = true;
  queues.asynchronous = true;
  queues.am_percent = 1;
  queues.queues["root"].own.queues = {"a"};
  queues.queues["root.a"].own.capacity[""] = Percent(100);
  return queues;
}

Cluster OfThreeNodes(int64_t seed) {
  YarnCapacityConfig config = Cluster::TimedConfig();
  config.seed = seed;
  Cluster cluster(Asynchronous(), {}, config);
  for (int i = 0; i < 3; ++i) cluster.AddNode(4096, 4);
  return cluster;
}

TEST(CapacityAsynchronous, HeartbeatsReportAndPassesGrant) {
  Cluster cluster = OfThreeNodes(1);
  const AppIndex app = cluster.Submit("root.a");
  EXPECT_EQ(cluster.core().PendingContainers(app), 1) << "a heartbeat grants nothing";
  cluster.PassTime(base::Duration::Millis(5));
  EXPECT_EQ(cluster.core().PendingContainers(app), 0);
  cluster.Allocate(app, Cluster::AskFor(512, 6));
  cluster.PassTime(base::Duration::Millis(5));
  EXPECT_EQ(cluster.core().PendingContainers(app), 3) << "one proposal a node and pass";
  cluster.PassTime(base::Duration::Millis(5));
  EXPECT_EQ(cluster.core().PendingContainers(app), 0);
}

TEST(CapacityAsynchronous, WithoutAsksNoPassIsDue) {
  Cluster cluster = OfThreeNodes(1);
  const AppIndex app = cluster.Submit("root.a");
  cluster.PassTime(base::Duration::Seconds(1));
  const base::Instant preemption_and_others = cluster.core().NextDeadline();
  EXPECT_GT(preemption_and_others, base::Instant{} + base::Duration::Seconds(10));
  cluster.Beat();
  EXPECT_EQ(cluster.core().NextDeadline(), preemption_and_others) << "a heartbeat without news wakes nobody";
  cluster.Allocate(app, Cluster::AskFor(512, 1));
  EXPECT_EQ(cluster.core().NextDeadline(), base::Instant{} + base::Duration::Millis(1005));
}

TEST(CapacityAsynchronous, WhatDoesNotFitIsTriedLessOften) {
  Cluster cluster = OfThreeNodes(1);
  const AppIndex app = cluster.Submit("root.a");
  cluster.Allocate(app, Cluster::AskFor(4096, 9));
  cluster.PassTime(base::Duration::Seconds(1));
  EXPECT_GT(cluster.core().PendingContainers(app), 0);
  const base::Instant next = cluster.core().NextDeadline();
  EXPECT_GT(next, base::Instant{} + base::Duration::Millis(1005));
  EXPECT_LE(next, base::Instant{} + base::Duration::Millis(1100));
}

TEST(CapacityAsynchronous, TheStartNodeIsDrawnFromTheSeed) {
  const auto first_nodes = [](int64_t seed) {
    std::vector<uint32_t> nodes;
    Cluster cluster = OfThreeNodes(seed);
    for (int i = 0; i < 8; ++i) {
      cluster.Submit("root.a");
      cluster.PassTime(base::Duration::Millis(5));
      nodes.push_back(cluster.Got<ms::Granted>().at(0).node.value);
    }
    return nodes;
  };
  EXPECT_EQ(first_nodes(1), first_nodes(1));
  EXPECT_NE(first_nodes(1), first_nodes(2));
  const std::vector<uint32_t> nodes = first_nodes(1);
  EXPECT_GT(std::set<uint32_t>(nodes.begin(), nodes.end()).size(), 1u);
}

}  // namespace
}  // namespace fairlead::scheduler::yarn_capacity
