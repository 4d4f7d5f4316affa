#include "scheduler/yarn_capacity/managed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/yarn_capacity/test_cluster.h"

namespace fairlead::scheduler::yarn_capacity {
namespace {

/// root.users makes leaves of half its size each, root.other has the other half of the cluster.
model::CapacityQueues Managed() {
  model::CapacityQueues queues;
  queues.dominant = true;
  queues.preemption.enabled = true;  // the monitors run
  queues.queues["root"].own.queues = {"users", "other"};
  queues.queues["root.other"].own.capacity[""] = Percent(50);
  queues.queues["root.users"].own.capacity[""] = Percent(50);
  queues.queues["root.users"].own.auto_creation_legacy = true;
  queues.queues["root.users"].leaves.capacity[""] = Percent(50);
  queues.queues["root.users"].leaves.user_limit_factor = 4;
  return queues;
}

class ManagedTest : public ::testing::Test {
 protected:
  ManagedTest() : cluster_(Managed(), {}, Cluster::TimedConfig()) { cluster_.AddNode(16384, 16); }

  void End(AppIndex app) {
    cluster_.Send(ms::AttemptRemoved{app, 1, false});
    cluster_.Send(ms::AppRemoved{app});
  }
  float Share(const std::string& queue) { return SharesOf(cluster_.core()).at(queue); }

  Cluster cluster_;
};

TEST_F(ManagedTest, LeavesGetTheTemplatesShareWhileThereIsRoom) {
  cluster_.Submit("root.users.ann", "ann");
  cluster_.Submit("root.users.bob", "bob");
  const AppIndex third = cluster_.Submit("root.users.cid", "cid");
  EXPECT_FLOAT_EQ(Share("root.users.ann"), 0.25F);
  EXPECT_FLOAT_EQ(Share("root.users.bob"), 0.25F);
  EXPECT_FLOAT_EQ(Share("root.users.cid"), 0) << "the parent is given away";
  EXPECT_EQ(cluster_.core().PendingContainers(third), 0) << "it runs on what others leave";
}

TEST_F(ManagedTest, AShareGoesFromALeafWithoutApplicationsToTheNextOneThatHasSome) {
  const AppIndex first = cluster_.Submit("root.users.ann", "ann");
  cluster_.Submit("root.users.bob", "bob");
  cluster_.Submit("root.users.cid", "cid");
  cluster_.Submit("root.users.dan", "dan");
  cluster_.PassTime(base::Duration::Seconds(2));
  EXPECT_FLOAT_EQ(Share("root.users.cid"), 0) << "nothing is free";
  End(first);
  cluster_.PassTime(base::Duration::Seconds(2));
  EXPECT_FLOAT_EQ(Share("root.users.ann"), 0);
  EXPECT_FLOAT_EQ(Share("root.users.cid"), 0.25F) << "it came before dan";
  EXPECT_FLOAT_EQ(Share("root.users.dan"), 0);
  cluster_.Submit("root.users.ann", "ann");
  EXPECT_FLOAT_EQ(Share("root.users.ann"), 0) << "it is there, and waits for a share like others";
}

TEST_F(ManagedTest, AReloadKeepsTheLeavesAndDealsAnew) {
  cluster_.Submit("root.users.ann", "ann");
  cluster_.Submit("root.users.bob", "bob");
  ms::QueuesReloaded reload;
  reload.token = 7;
  reload.tree.capacity = Managed();
  reload.tree.capacity->queues["root.users"].leaves.capacity[""] = Percent(100);
  cluster_.Send(reload);
  EXPECT_EQ(cluster_.Got<ms::ReloadAnswered>().size(), 1u);
  EXPECT_FLOAT_EQ(Share("root.users.ann"), 0.5F);
  EXPECT_FLOAT_EQ(Share("root.users.bob"), 0);
}

TEST_F(ManagedTest, NoMoreLeavesThanTheKeySays) {
  model::CapacityQueues queues = Managed();
  queues.queues["root.users"].own.max_queues = 1;
  Cluster cluster(queues);
  cluster.AddNode(16384, 16);
  cluster.Submit("root.users.ann", "ann");
  cluster.Submit("root.users.bob", "bob");
  EXPECT_TRUE(SharesOf(cluster.core()).contains("root.users.ann"));
  EXPECT_FALSE(SharesOf(cluster.core()).contains("root.users.bob"));
}

TEST(ManagedQueues, OwnQueuesBesideMadeOnesAreRefused) {
  model::CapacityQueues queues = Managed();
  queues.queues["root.users"].own.queues = {"fixed"};
  queues.queues["root.users.fixed"].own.capacity[""] = Percent(100);
  const auto made = MakeYarnCapacity(Cluster::Config(), queues);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, testing::HasSubstr("root.users has auto-create-child-queue.enabled"));
}

}  // namespace
}  // namespace fairlead::scheduler::yarn_capacity
