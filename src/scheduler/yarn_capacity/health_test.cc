#include "scheduler/yarn_capacity/health.h"

#include <gtest/gtest.h>

#include "scheduler/yarn_capacity/test_cluster.h"

namespace fairlead::scheduler::yarn_capacity {
namespace {

// What SchedulerHealth of Hadoop 3.4.3 has after the same steps: read of CapacityScheduler.nodeUpdate,
// updateSchedulerHealth and AbstractLeafQueue.updateSchedulerHealthForCompletedContainer.
class HealthTest : public ::testing::Test {
 protected:
  explicit HealthTest(const model::CapacityQueues& queues = TwoHalves()) : cluster_(queues) {}

  CapacityHealth Now() { return *cluster_.core().GetQueues().queues.front().capacity->health; }

  Cluster cluster_;
};

TEST_F(HealthTest, SaysNothingBeforeTheFirstHeartbeat) {
  cluster_.AddNode(4096, 8);
  EXPECT_FALSE(Now().last_run);
  EXPECT_EQ(Now().allocation.node, "");
  EXPECT_EQ(Now().allocated.count, 0);
  EXPECT_FALSE(cluster_.core().GetQueues().queues.back().capacity->health) << "the root alone has it";
}

TEST_F(HealthTest, AHeartbeatTellsItsLastGrant) {
  cluster_.AddNode(4096, 8);
  const AppIndex app = cluster_.Submit("root.a");
  cluster_.Allocate(app, Cluster::AskFor(512, 1));
  cluster_.Beat();
  const CapacityHealth health = Now();
  EXPECT_TRUE(health.last_run);
  EXPECT_EQ(health.allocation.node, "n0:1");
  EXPECT_EQ(health.allocation.container, "") << "it gets its id later";
  EXPECT_EQ(health.allocation.queue, "root.a");
  EXPECT_EQ(health.allocated.count, 1);
  EXPECT_EQ(health.allocated.resources, Resources::Of(512, 1));
  cluster_.Beat();
  EXPECT_EQ(Now().allocated.count, 0) << "the next run did nothing";
  EXPECT_EQ(Now().allocation.node, "n0:1") << "and the last grant stays the last one";
}

TEST_F(HealthTest, AReservationAndItsGrantAreTold) {
  for (int node = 0; node < 3; ++node) cluster_.AddNode(2048, 8);
  const AppIndex app = cluster_.Submit("root.a");
  cluster_.Allocate(app, Cluster::AskFor(1280, 4));
  cluster_.Beat();
  const std::vector<model::ContainerId> held = cluster_.Acquire(app);
  ASSERT_EQ(held.size(), 4u) << "the master, and one on each node";
  cluster_.Send(ms::NodeUpdated{{0}, {}, {}});
  ASSERT_EQ(cluster_.Got<ms::Reserved>().size(), 1u);
  EXPECT_EQ(Now().reserved.count, 1);
  EXPECT_EQ(Now().reserved.resources, Resources::Of(1280, 1));
  EXPECT_EQ(Now().reservation.node, "n0:1");
  EXPECT_EQ(Now().reservation.container, "") << "as that of a grant";
  EXPECT_EQ(Now().allocated.count, 0);
  cluster_.Send(ms::NodeUpdated{{0}, {}, {}});
  EXPECT_EQ(Now().reserved.count, 0) << "it is only held on";
  cluster_.Send(ms::NodeUpdated{{0}, {}, {{held[1], 0}}});
  EXPECT_EQ(Now().released.count, 1);
  EXPECT_EQ(Now().released.resources, Resources::Of(1280, 1));
  EXPECT_EQ(Now().release.container, "container_1_0001_01_000002");
  EXPECT_EQ(Now().allocated.count, 1) << "the room went to the reservation in the same heartbeat";
  EXPECT_EQ(Now().allocation.container, "container_1_0001_01_000005");
}

TEST_F(HealthTest, WhatEndsIsAReleaseUnlessItWasPreempted) {
  cluster_.AddNode(4096, 8);
  const AppIndex app = cluster_.Submit("root.a");
  cluster_.Allocate(app, Cluster::AskFor(512, 2));
  cluster_.Beat();
  cluster_.Beat();
  const std::vector<model::ContainerId> held = cluster_.Acquire(app);
  ASSERT_EQ(held.size(), 3u);
  EXPECT_EQ(Now().release.container, "");
  cluster_.Send(ms::NodeUpdated{{0}, {}, {{held[1], model::kExitPreempted}}});
  EXPECT_EQ(Now().preemption.container, model::ToString(held[1]));
  EXPECT_EQ(Now().preemption.queue, "root.a");
  EXPECT_EQ(Now().release.container, "");
  cluster_.Send(ms::AttemptRemoved{app, 1, false});
  EXPECT_NE(Now().release.container, "") << "an application's end releases, too";
  EXPECT_EQ(Now().released.count, 1) << "a run is a node's heartbeat";
}

class AsynchronousHealthTest : public HealthTest {
 protected:
  static model::CapacityQueues Queues() {
    model::CapacityQueues queues = TwoHalves();
    queues.asynchronous = true;
    return queues;
  }
  AsynchronousHealthTest() : HealthTest(Queues()) {}
};

TEST_F(AsynchronousHealthTest, PassesOfAsynchronousSchedulingAreNotTold) {
  cluster_.AddNode(4096, 8);
  const AppIndex app = cluster_.Submit("root.a");
  cluster_.Send(ms::ProposalPass{{{0}}});
  ASSERT_EQ(cluster_.Got<ms::Granted>().size(), 1u);
  EXPECT_EQ(Now().allocation.node, "");
  const std::vector<model::ContainerId> held = cluster_.Acquire(app);
  cluster_.Send(ms::NodeUpdated{{0}, {}, {{held[0], 0}}});
  EXPECT_EQ(Now().released.count, 1);
  EXPECT_EQ(Now().release.container, model::ToString(held[0]));
}

}  // namespace
}  // namespace fairlead::scheduler::yarn_capacity
