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
  Refusal Resize(const Resources& size) {
    cluster_.Send(ms::ContainerResized{container_, size, 9});
    if (!cluster_.Got<ms::ResizeAnswered>().empty()) return Refusal::kNone;
    return cluster_.Got<ms::CallRefused>().at(0).refused.why;
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

TEST_F(ResizeTest, ALargerAndASmallerSizeCountAtOnce) {
  EXPECT_EQ(Used(), Resources::Of(1280, 2));
  EXPECT_EQ(Resize(Resources::Of(4096, 3)), Refusal::kNone);
  EXPECT_EQ(Used(), Resources::Of(4352, 4));
  EXPECT_EQ(cluster_.core().FreeOf({0}), Resources::Of(3840, 4));
  EXPECT_EQ(Resize(Resources::Of(512, 1)), Refusal::kNone);
  EXPECT_EQ(Used(), Resources::Of(768, 2));
  // What it has in the end is what comes back.
  cluster_.Send(ms::NodeUpdated{{0}, {}, {{container_, 0}}});
  EXPECT_EQ(Used(), Resources::Of(256, 1));
  EXPECT_EQ(cluster_.core().FreeOf({0}), Resources::Of(7936, 7));
}

TEST_F(ResizeTest, WhatBindsRefusesByItsName) {
  EXPECT_EQ(Resize(Resources::Of(8192, 1)), Refusal::kResizeNodeFull);
  EXPECT_EQ(Resize(Resources::Of(0, 0)), Refusal::kResizeSize);
  cluster_.Send(ms::NodeResized{{0}, Resources::Of(16384, 16)});
  ms::QueuesReloaded reload;
  reload.tree.capacity = TwoQueues();
  reload.tree.capacity->queues["root.a"].own.maximum_capacity[""] = Percent(50);
  reload.tree.capacity->queues["root.a"].own.user_limit_factor = 1;
  cluster_.Send(reload);
  const AppIndex second = cluster_.Submit("root.a");
  cluster_.Allocate(second, Cluster::AskFor(5120, 1));
  cluster_.Beat();
  cluster_.Beat();
  EXPECT_EQ(Resize(Resources::Of(4096, 1)), Refusal::kResizeQueueMaximum);
  EXPECT_EQ(Resize(Resources::Of(1536, 1)), Refusal::kNone);
  EXPECT_THAT(cluster_.Got<ms::Finished>(), ElementsAre());
}

TEST_F(ResizeTest, AnUnknownContainerIsToldSo) {
  container_.value += 100;
  EXPECT_EQ(Resize(Resources::Of(512, 1)), Refusal::kUpdateUnknownContainer);
}

}  // namespace
}  // namespace fairlead::scheduler::yarn_capacity
