#include "scheduler/yarn_capacity/resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/yarn_capacity/test_cluster.h"

namespace fairlead::scheduler::yarn_capacity {
namespace {

using model::Refusal;
using testing::ElementsAre;

model::CapacityQueues TwoQueues() {
  model::CapacityQueues queues = TwoHalves();
  queues.dominant = true;
  queues.queues["root.b"].own.user_limit_factor = 2;
  return queues;
}

class ResizeTest : public ::testing::Test {
 protected:
  explicit ResizeTest() : cluster_(TwoQueues()) {
    cluster_.AddNode(8192, 8);
    app_ = cluster_.Submit("root.a");
    cluster_.Acquire(app_);
    cluster_.Allocate(app_, Cluster::AskFor(1024, 1));
    cluster_.Beat();
    container_ = cluster_.Acquire(app_).at(0);
  }
  /// kNone: it counts at once; kUpdateOutstanding: it waits for a heartbeat.
  Refusal Resize(const Resources& size) {
    cluster_.Send(ms::ContainerResized{container_, size, 9});
    if (!cluster_.Got<ms::ResizeAnswered>().empty()) return Refusal::kNone;
    return cluster_.Got<ms::CallRefused>().at(0).refused.why;
  }
  /// A heartbeat: sizes of containers that have grown with it.
  std::vector<Resources> Grown() {
    cluster_.Send(ms::NodeUpdated{{0}, {}, {}});
    std::vector<Resources> sizes;
    for (const ms::Granted& grant : cluster_.Got<ms::Granted>()) {
      if (grant.container == container_) sizes.push_back(grant.resources);
    }
    return sizes;
  }
  void End(const model::ContainerId& container) { cluster_.Send(ms::NodeUpdated{{0}, {}, {{container, 0}}}); }
  /// Fills the node but for `left`, from the other queue.
  model::ContainerId FillBut(int64_t left) {
    const AppIndex other = cluster_.Submit("root.b");
    cluster_.Acquire(other);
    cluster_.Allocate(other, Cluster::AskFor(cluster_.core().FreeOf({0}).memory_mib() - left, 1));
    cluster_.Beat();
    return cluster_.Acquire(other).at(0);
  }
  Resources Used() {
    Resources used;
    for (const QueueView& queue : cluster_.core().GetQueues().queues) {
      if (queue.name == "root.a") used = queue.used;
    }
    return used;
  }
  Cluster cluster_;
  AppIndex app_;
  model::ContainerId container_;
};

TEST_F(ResizeTest, ASmallerSizeCountsAtOnce) {
  EXPECT_EQ(Resize(Resources::Of(512, 1)), Refusal::kNone);
  EXPECT_EQ(Used(), Resources::Of(768, 2));
  EXPECT_EQ(cluster_.core().FreeOf({0}), Resources::Of(7424, 6));
}

TEST_F(ResizeTest, ALargerOneHasItsRoomAtTheHeartbeatOfItsNode) {
  EXPECT_EQ(Resize(Resources::Of(4096, 3)), Refusal::kUpdateOutstanding);
  EXPECT_EQ(Used(), Resources::Of(1280, 2));
  EXPECT_THAT(Grown(), ElementsAre(Resources::Of(4096, 3)));
  EXPECT_EQ(cluster_.Got<ms::Granted>().size(), 1U);
  EXPECT_EQ(Used(), Resources::Of(4352, 4));
  EXPECT_EQ(cluster_.core().FreeOf({0}), Resources::Of(3840, 4));
  // What it has in the end is what comes back.
  End(container_);
  EXPECT_EQ(Used(), Resources::Of(256, 1));
  EXPECT_EQ(cluster_.core().FreeOf({0}), Resources::Of(7936, 7));
}

TEST_F(ResizeTest, WithoutRoomItReservesItsNodeAndGrowsOnceThereIsRoom) {
  const model::ContainerId other = FillBut(512);
  cluster_.AddNode(8192, 8);  // else the whole cluster is too full for a reservation
  EXPECT_EQ(Resize(Resources::Of(2048, 1)), Refusal::kUpdateOutstanding);
  EXPECT_THAT(Grown(), ElementsAre());
  EXPECT_EQ(cluster_.Got<ms::Reserved>().size(), 1U);
  EXPECT_THAT(Grown(), ElementsAre());
  End(other);
  EXPECT_EQ(cluster_.Got<ms::Unreserved>().size(), 1U);
  EXPECT_EQ(Used(), Resources::Of(2304, 2));
}

TEST_F(ResizeTest, ItWaitsForTheQueuesMaximum) {
  ms::QueuesReloaded reload;
  reload.tree.capacity = TwoQueues();
  reload.tree.capacity->queues["root.a"].own.maximum_capacity[""] = Percent(50);
  cluster_.Send(reload);
  const AppIndex second = cluster_.Submit("root.a");
  cluster_.Acquire(second);
  cluster_.Allocate(second, Cluster::AskFor(2048, 1));
  cluster_.Beat();
  const model::ContainerId held = cluster_.Acquire(second).at(0);
  EXPECT_EQ(Resize(Resources::Of(2048, 1)), Refusal::kUpdateOutstanding);
  EXPECT_THAT(Grown(), ElementsAre());
  EXPECT_EQ(Used(), Resources::Of(3584, 4));
  End(held);
  EXPECT_EQ(Used(), Resources::Of(2560, 3));
}

TEST_F(ResizeTest, ALaterSizeTakesThePlaceOfOneThatWaits) {
  FillBut(512);
  Resize(Resources::Of(2048, 1));
  EXPECT_THAT(Grown(), ElementsAre());
  Resize(Resources::Of(1536, 1));
  EXPECT_THAT(Grown(), ElementsAre(Resources::Of(1536, 1)));
  Resize(Resources::Of(4096, 1));
  EXPECT_EQ(Resize(Resources::Of(512, 1)), Refusal::kNone);
  EXPECT_THAT(Grown(), ElementsAre());
  EXPECT_EQ(Used(), Resources::Of(768, 2));
}

TEST_F(ResizeTest, OfAContainerThatEndsNothingWaitsAnyMore) {
  FillBut(512);
  cluster_.AddNode(8192, 8);
  Resize(Resources::Of(2048, 1));
  EXPECT_THAT(Grown(), ElementsAre());
  End(container_);
  EXPECT_EQ(cluster_.Got<ms::Unreserved>().size(), 1U);
  EXPECT_THAT(cluster_.core().Why(app_, {}), ElementsAre());
  EXPECT_EQ(Used(), Resources::Of(256, 1));
}

TEST_F(ResizeTest, WhatTheApplicationAsksForBesidesComesFirst) {
  FillBut(1024);
  Resize(Resources::Of(2048, 1));
  cluster_.Allocate(app_, Cluster::AskFor(1024, 1, 9));
  EXPECT_THAT(Grown(), ElementsAre());
  EXPECT_EQ(Used(), Resources::Of(2304, 3));
}

TEST_F(ResizeTest, OtherManagersOfTheSameHostAreOfNoUse) {
  FillBut(512);
  cluster_.Send(ms::NodeAdded{{1}, "n0", 2, "/r", Resources::Of(8192, 8), {}});
  Resize(Resources::Of(2048, 1));
  cluster_.Send(ms::NodeUpdated{{1}, {}, {}});
  EXPECT_THAT(cluster_.Got<ms::Granted>(), ElementsAre());
  EXPECT_EQ(cluster_.core().FreeOf({1}), Resources::Of(8192, 8));
}

TEST_F(ResizeTest, NoSizeIsRefused) { EXPECT_EQ(Resize(Resources::Of(0, 0)), Refusal::kResizeSize); }

TEST_F(ResizeTest, AnUnknownContainerIsToldSo) {
  container_.value += 100;
  EXPECT_EQ(Resize(Resources::Of(512, 1)), Refusal::kUpdateUnknownContainer);
}

}  // namespace
}  // namespace fairlead::scheduler::yarn_capacity
