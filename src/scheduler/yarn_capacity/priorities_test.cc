#include "scheduler/yarn_capacity/priorities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/rejection.h"
#include "scheduler/yarn_capacity/test_cluster.h"

namespace fairlead::scheduler::yarn_capacity {
namespace {

using model::Refusal;

model::CapacityPriorityGroup Group(std::vector<std::string> users, std::vector<std::string> groups, int32_t most,
                                   std::optional<int32_t> otherwise) {
  return {{false, std::move(users), std::move(groups)}, most, otherwise};
}

/// root.a has groups of priorities: ann up to 3, staff up to 6, bob up to 9; root.b is open.
model::CapacityQueues Queues() {
  model::CapacityQueues queues = TwoHalves();
  queues.queues["root.a"].own.default_application_priority = 1;
  model::CapacityPriorityAccess access;
  access.groups = {Group({"ann"}, {}, 3, 2), Group({}, {"staff"}, 6, 5), Group({"bob"}, {}, 50, std::nullopt)};
  queues.queues["root.a"].own.priority_access = access;
  return queues;
}

class PrioritiesTest : public ::testing::Test {
 protected:
  static YarnCapacityConfig WithLists() {
    YarnCapacityConfig config = Cluster::Config();
    config.max_application_priority = 9;
    config.access_lists = true;
    return config;
  }

  ms::AppAdded Of(const std::string& user, std::optional<int32_t> priority, const std::string& queue = "a") {
    ms::AppAdded added;
    added.app = {apps_++};
    added.id = {1, 1};
    added.queue = queue;
    added.user = user;
    added.priority = priority.value_or(0);
    added.priority_given = priority.has_value();
    return added;
  }
  /// The priority that the submission got; none: it was refused.
  std::optional<int32_t> Get(Cluster& cluster, const ms::AppAdded& added) {
    cluster.Send(added);
    const std::vector<ms::AppAccepted> accepted = cluster.Got<ms::AppAccepted>();
    return accepted.empty() ? std::nullopt : accepted.front().priority;
  }
  static model::Refused WhyNot(const Cluster& cluster) {
    const std::vector<ms::CallRefused> refused = cluster.Got<ms::CallRefused>();
    return refused.empty() ? model::Refused{} : refused.front().refused;
  }

  uint32_t apps_ = 0;
};

TEST_F(PrioritiesTest, ASubmissionWithoutOneGetsTheDefaultOfItsUsersLastGroupElseTheQueues) {
  Cluster cluster(Queues(), {}, WithLists());
  EXPECT_EQ(Get(cluster, Of("ann", std::nullopt)), 2);
  ms::AppAdded staff = Of("cid", std::nullopt);
  staff.groups = {"staff"};
  EXPECT_EQ(Get(cluster, staff), 5);
  ms::AppAdded both = Of("ann", std::nullopt);
  both.groups = {"staff"};
  EXPECT_EQ(Get(cluster, both), 2) << "groups are gone through from the highest maximum to the lowest";
  EXPECT_EQ(Get(cluster, Of("bob", std::nullopt)), 1) << "no default of his group: that of the queue";
  EXPECT_EQ(Get(cluster, Of("eve", std::nullopt, "b")), 0) << "a queue without groups is open";
}

TEST_F(PrioritiesTest, APriorityAboveThatOfAllGroupsOfTheUserIsRefusedInHadoopsWords) {
  Cluster cluster(Queues(), {}, WithLists());
  EXPECT_EQ(Get(cluster, Of("ann", 3)), 3);
  EXPECT_EQ(Get(cluster, Of("bob", 70)), 9) << "capped at the cluster's maximum before it is looked at";
  EXPECT_EQ(Get(cluster, Of("ann", 4)), std::nullopt);
  EXPECT_EQ(WhyNot(cluster).why, Refusal::kPriorityAccess);
  EXPECT_EQ(model::PriorityAccessText(WhyNot(cluster)),
            "org.apache.hadoop.security.AccessControlException: User ann (auth:SIMPLE) does not have permission to "
            "submit/update application_1_0001 for {Priority: 4}");
  EXPECT_EQ(Get(cluster, Of("eve", std::nullopt)), std::nullopt) << "no group lists her: she may have none";
  EXPECT_EQ(Get(cluster, Of("eve", 9, "b")), 9);
}

TEST_F(PrioritiesTest, GroupsSayNothingWithoutAccessLists) {
  YarnCapacityConfig config = WithLists();
  config.access_lists = false;
  Cluster cluster(Queues(), {}, config);
  EXPECT_EQ(Get(cluster, Of("ann", 8)), 8);
  EXPECT_EQ(Get(cluster, Of("ann", std::nullopt)), 1);
}

TEST_F(PrioritiesTest, AnUpdateIsHeldAgainstTheGroupsOfWhoAsksForIt) {
  Cluster cluster(Queues(), {}, WithLists());
  const ms::AppAdded added = Of("ann", 3);
  ASSERT_EQ(Get(cluster, added), 3);
  cluster.Send(ms::AppPriority{added.app, 6, 11, "ann", {}});
  EXPECT_EQ(WhyNot(cluster), (model::Refused{Refusal::kPriorityAccess, {"ann", "application_1_0001"}, {}, {6}}));
  cluster.Send(ms::AppPriority{added.app, 6, 12, "cid", {"staff"}});
  ASSERT_EQ(cluster.Got<ms::PriorityAnswered>().size(), 1u);
  EXPECT_EQ(cluster.Got<ms::PriorityAnswered>().front().priority, 6);
}

TEST_F(PrioritiesTest, WhatIsKnownFromTheStoreIsNotCheckedAgain) {
  Cluster cluster(Queues(), {}, WithLists());
  ms::AppAdded added = Of("ann", 8);
  added.recovering = true;
  EXPECT_EQ(Get(cluster, added), 8);
}

TEST_F(PrioritiesTest, AReloadBringsOtherGroups) {
  Cluster cluster(Queues(), {}, WithLists());
  ASSERT_EQ(Get(cluster, Of("ann", 4)), std::nullopt);
  ms::QueuesReloaded reload;
  reload.tree.capacity = Queues();
  reload.tree.capacity->queues["root.a"].own.priority_access.reset();
  cluster.Send(reload);
  ASSERT_EQ(cluster.Got<ms::ReloadAnswered>().size(), 1u);
  EXPECT_EQ(Get(cluster, Of("ann", 4)), 4);
}

TEST_F(PrioritiesTest, ALeafWhoseGroupsCannotBeReadRefusesTheFileAndAParentsAreNotRead) {
  model::CapacityQueues queues = Queues();
  model::CapacityPriorityAccess broken;
  broken.problem = {model::CapacityFault::kNumber, "no number"};
  queues.queues["root"].own.priority_access = broken;
  EXPECT_TRUE(MakeYarnCapacity(WithLists(), queues, {}).ok());
  queues.queues["root.a"].own.priority_access = broken;
  const auto made = MakeYarnCapacity(WithLists(), queues, {});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message, "no number");
}

TEST_F(PrioritiesTest, ALeafMadeOnDemandHasTheGroupsOfItsTemplateOnceTheFileIsReadAgain) {
  model::CapacityQueues queues = TwoHalves();
  for (const char* path : {"root.a", "root.b"}) {
    queues.queues[path].own.capacity[""] = {};
    queues.queues[path].own.capacity[""].weight = 1;
    queues.queues[path].own.capacity[""].vector.assign(model::ResourceTypes::Count(),
                                                       {model::CapacityUnit::kWeight, 1});
  }
  queues.queues["root.a"].own.auto_creation = true;
  queues.queues["root.a"].own.queues = std::vector<std::string>{};
  queues.queues["root.a"].leaves.priority_access.emplace().groups = {Group({"ann"}, {}, 3, 2)};
  Cluster cluster(queues, {}, WithLists());
  EXPECT_EQ(Get(cluster, Of("eve", 4, "root.a.new")), 4);
  ms::QueuesReloaded reload;
  reload.tree.capacity = queues;
  cluster.Send(reload);
  EXPECT_EQ(Get(cluster, Of("eve", 4, "root.a.new")), std::nullopt);
  EXPECT_EQ(Get(cluster, Of("ann", std::nullopt, "root.a.new")), 2);
}

class WorkflowsTest : public PrioritiesTest {
 protected:
  static model::CapacityQueues Mapped() {
    model::CapacityQueues queues = Queues();
    queues.workflow_override = true;
    queues.workflow_priorities["root.b"] = {{"nightly", 7}};
    queues.workflow_priorities["root.a"] = {{"nightly", 3}, {"hourly", 4}};
    return queues;
  }
  ms::AppAdded Tagged(const std::string& user, const std::string& queue, std::vector<std::string> tags) {
    ms::AppAdded added = Of(user, 1, queue);
    added.tags = std::move(tags);
    return added;
  }
};

TEST_F(WorkflowsTest, ASubmissionGetsThePriorityThatItsWorkflowHasInItsQueue) {
  Cluster cluster(Mapped(), {}, WithLists());
  EXPECT_EQ(Get(cluster, Tagged("ann", "a", {"x", "workflowid:nightly"})), 3);
  EXPECT_EQ(Get(cluster, Tagged("ann", "b", {" workflowid:nightly"})), 7);
  EXPECT_EQ(Get(cluster, Tagged("ann", "b", {"workflowid:hourly"})), 1) << "it has none there";
  EXPECT_EQ(Get(cluster, Tagged("ann", "b", {"nightly", "workflowid:"})), 1);
  YarnCapacityConfig config = WithLists();
  config.workflow_tag = "wf=";
  Cluster other(Mapped(), {}, config);
  EXPECT_EQ(Get(other, Tagged("ann", "b", {"wf=nightly", "workflowid:hourly"})), 7);
}

TEST_F(WorkflowsTest, TheNearestQueueThatNamesTheWorkflowDecidesAndTheRootNever) {
  model::CapacityQueues queues = Mapped();
  queues.queues["root.b"].own.queues = {"c"};
  queues.queues["root.b.c"].own.capacity[""] = Percent(100);
  queues.workflow_priorities["root"] = {{"yearly", 8}};
  Cluster cluster(queues, {}, WithLists());
  EXPECT_EQ(Get(cluster, Tagged("ann", "c", {"workflowid:nightly"})), 7);
  EXPECT_EQ(Get(cluster, Tagged("ann", "c", {"workflowid:yearly"})), 1);
}

TEST_F(WorkflowsTest, AMappedPriorityThatTheUserMayNotHaveRejectsTheApplication) {
  Cluster cluster(Mapped(), {}, WithLists());
  EXPECT_EQ(Get(cluster, Tagged("ann", "a", {"workflowid:hourly"})), std::nullopt);
  EXPECT_EQ(model::RejectionText(WhyNot(cluster)),
            "Failed to submit application application_1_0001 submitted by user ann reason: "
            "org.apache.hadoop.security.AccessControlException: User ann (auth:SIMPLE) does not have permission to "
            "submit/update application_1_0001 for {Priority: 4}");
}

TEST_F(WorkflowsTest, WithoutTheSwitchOrOfAStoredApplicationNothingIsMapped) {
  model::CapacityQueues queues = Mapped();
  queues.workflow_override = false;
  Cluster off(queues, {}, WithLists());
  EXPECT_EQ(Get(off, Tagged("ann", "a", {"workflowid:nightly"})), 1);
  Cluster cluster(Mapped(), {}, WithLists());
  ms::AppAdded stored = Tagged("ann", "a", {"workflowid:nightly"});
  stored.recovering = true;
  EXPECT_EQ(Get(cluster, stored), 1);
}

}  // namespace
}  // namespace fairlead::scheduler::yarn_capacity
