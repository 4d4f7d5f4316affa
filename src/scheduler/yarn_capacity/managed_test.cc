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
  model::CapacityMappingRule& rule = queues.mapping.emplace_back();
  rule.match = model::CapacityMappingRule::Match::kUser;
  rule.source = "%user";
  rule.target = "root.users.%user";
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
  cluster_.Submit("default", "ann");
  cluster_.Submit("default", "bob");
  const AppIndex third = cluster_.Submit("default", "cid");
  EXPECT_FLOAT_EQ(Share("root.users.ann"), 0.25F);
  EXPECT_FLOAT_EQ(Share("root.users.bob"), 0.25F);
  EXPECT_FLOAT_EQ(Share("root.users.cid"), 0) << "the parent is given away";
  EXPECT_EQ(cluster_.core().PendingContainers(third), 0) << "it runs on what others leave";
}

TEST_F(ManagedTest, AShareGoesFromALeafWithoutApplicationsToTheNextOneThatHasSome) {
  const AppIndex first = cluster_.Submit("default", "ann");
  cluster_.Submit("default", "bob");
  cluster_.Submit("default", "cid");
  cluster_.Submit("default", "dan");
  cluster_.PassTime(base::Duration::Seconds(2));
  EXPECT_FLOAT_EQ(Share("root.users.cid"), 0) << "nothing is free";
  End(first);
  cluster_.PassTime(base::Duration::Seconds(2));
  EXPECT_FLOAT_EQ(Share("root.users.ann"), 0);
  EXPECT_FLOAT_EQ(Share("root.users.cid"), 0.25F) << "it came before dan";
  EXPECT_FLOAT_EQ(Share("root.users.dan"), 0);
  cluster_.Submit("default", "ann");
  EXPECT_FLOAT_EQ(Share("root.users.ann"), 0) << "it is there, and waits for a share like others";
}

TEST_F(ManagedTest, AReloadKeepsTheLeavesAndDealsAnew) {
  cluster_.Submit("default", "ann");
  cluster_.Submit("default", "bob");
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
  cluster.Submit("default", "ann");
  cluster.Submit("default", "bob");
  EXPECT_TRUE(SharesOf(cluster.core()).contains("root.users.ann"));
  EXPECT_FALSE(SharesOf(cluster.core()).contains("root.users.bob"));
}

TEST_F(ManagedTest, OnlyMappingsPlaceThere) {
  cluster_.Submit("default", "ann");
  ms::AppAdded named;
  named.app = {50};
  named.id = {1, 51};
  named.queue = "root.users.ann";
  named.user = "ann";
  cluster_.Send(named);
  ASSERT_EQ(cluster_.Got<ms::CallRefused>().size(), 1u);
  EXPECT_THAT(cluster_.Got<ms::CallRefused>()[0].refused.names.at(1),
              testing::HasSubstr("Queue mapping does not exist for user ann"));
}

TEST_F(ManagedTest, ALeafWithoutAShareTakesApplications) {
  for (const char* user : {"ann", "bob", "cid", "cid"}) cluster_.Submit("default", user);
  for (const QueueView& queue : cluster_.core().GetQueues().queues) {
    if (queue.name == "root.users.cid") {
      EXPECT_EQ(queue.capacity->apps, 2);
    }
  }
}

TEST(ManagedQueues, OwnQueuesBesideMadeOnesAreRefused) {
  model::CapacityQueues queues = Managed();
  queues.queues["root.users"].own.queues = {"fixed"};
  queues.queues["root.users.fixed"].own.capacity[""] = Percent(100);
  const auto made = MakeYarnCapacity(Cluster::Config(), queues);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, testing::HasSubstr("Can not convert parent queue: root.users to auto create"));
}

}  // namespace
}  // namespace fairlead::scheduler::yarn_capacity
