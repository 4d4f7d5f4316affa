#include "config/capacity_priorities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/capacity_file.h"

namespace fairlead::config {
namespace {

using model::CapacityFault;
using model::CapacityPriorityGroup;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<CapacityPriorityGroup> Groups(const std::string& text) {
  const model::CapacityPriorityAccess access = ReadPriorityAccess("key", text);
  EXPECT_EQ(access.problem.message, "");
  return access.groups;
}

CapacityPriorityGroup First(const std::string& text) {
  const std::vector<CapacityPriorityGroup> groups = Groups(text);
  return groups.empty() ? CapacityPriorityGroup{} : groups.front();
}

TEST(PriorityAccess, GroupsStandBetweenBracketsInTheOrderOfTheFile) {
  const std::vector<CapacityPriorityGroup> groups =
      Groups("x [user=ann,bob  group=ops max_priority=7 default_priority=4] y [USER=eve Max_Priority=+3] []");
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].who.users, ElementsAre("ann", "bob"));
  EXPECT_THAT(groups[0].who.groups, ElementsAre("ops"));
  EXPECT_EQ(groups[0].most, 7);
  EXPECT_EQ(groups[0].otherwise, 4);
  EXPECT_THAT(groups[1].who.users, ElementsAre("eve"));
  EXPECT_EQ(groups[1].most, 3);
  EXPECT_EQ(groups[1].otherwise, std::nullopt);
}

TEST(PriorityAccess, TextWithoutBracketsLeavesAllPrioritiesToEverybody) {
  EXPECT_THAT(Groups("*"), IsEmpty());
  EXPECT_THAT(Groups(""), IsEmpty());
  EXPECT_THAT(Groups("[ ]"), IsEmpty());
}

// What Hadoop 3.4.3's own AppPriorityACLConfigurationParser made of these texts, and of those of the other cases.
TEST(PriorityAccess, TheFirstListIsThatOfUsersWhicheverKeyItHas) {
  EXPECT_TRUE(First("[user=* group=ops max_priority=1]").who.everybody);
  const CapacityPriorityGroup alone = First("[group=ops max_priority=1]");
  EXPECT_THAT(alone.who.users, ElementsAre("ops"));
  EXPECT_THAT(alone.who.groups, IsEmpty());
  const CapacityPriorityGroup nobody = First("[user=, group=ops max_priority=1]");
  EXPECT_THAT(nobody.who.users, IsEmpty());
  EXPECT_THAT(nobody.who.groups, ElementsAre("ops"));
  const CapacityPriorityGroup turned = First("[group=ops user=ann max_priority=1]");
  EXPECT_THAT(turned.who.users, ElementsAre("ops"));
  EXPECT_THAT(turned.who.groups, ElementsAre("ann"));
}

TEST(PriorityAccess, WhatIsNoPairIsReadOverAndTheEndMayBeMissing) {
  const std::vector<CapacityPriorityGroup> groups = Groups("[user=ann group= max_priority=2 default_priority=-5 word");
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].most, 2);
  EXPECT_EQ(groups[0].otherwise, 0) << "none is below 0";
}

TEST(PriorityAccess, BadFormsAreFaultsOfHadoopsKinds) {
  const auto fault = [](const std::string& text) { return ReadPriorityAccess("key", text).problem.fault; };
  EXPECT_EQ(fault("[user=ann max_priority=x]"), CapacityFault::kNumber);
  EXPECT_EQ(fault("[user=ann max_priority=1 default_priority=9999999999]"), CapacityFault::kNumber);
  EXPECT_EQ(fault("[user=ann max-priority=1]"), CapacityFault::kArgument);
  EXPECT_EQ(fault("[user=ann default_priority=1]"), CapacityFault::kRuntime);
  EXPECT_EQ(fault("[user=ann\tmax_priority=3]"), CapacityFault::kRuntime);
  EXPECT_EQ(fault("[max_priority=1]"), CapacityFault::kRuntime);
  EXPECT_EQ(fault("[=x user=ann max_priority=1]"), CapacityFault::kArgument);
  EXPECT_THAT(ReadPriorityAccess("the.key", "[user=ann max-priority=1]").problem.message,
              HasSubstr("the.key: [user=ann max-priority=1] has 'MAX-PRIORITY', which is not known"));
}

TEST(PriorityAccess, IsReadOfTheFileAndOfTemplates) {
  std::vector<std::string> unknown;
  const model::CapacityQueues queues = ReadCapacityQueues(
      {{"yarn.scheduler.capacity.root.bi.acl_application_max_priority", "[user=ann max_priority=3]"},
       {"yarn.scheduler.capacity.root.bi.auto-queue-creation-v2.leaf-template.acl_application_max_priority",
        "[user=bob max_priority=4]"}},
      &unknown);
  EXPECT_THAT(unknown, IsEmpty());
  const model::CapacityQueueKeys& bi = queues.queues.at("root.bi");
  ASSERT_TRUE(bi.own.priority_access && bi.leaves.priority_access);
  EXPECT_EQ(bi.own.priority_access->groups.at(0).most, 3);
  EXPECT_EQ(bi.leaves.priority_access->groups.at(0).most, 4);
}

TEST(WorkflowPriorities, AreByQueueAndWorkflowInSmallLetters) {
  std::vector<std::string> unknown;
  const model::CapacityQueues queues =
      ReadCapacityQueues({{"yarn.scheduler.capacity.workflow-priority-mappings",
                           "Nightly:root.bi:2 , hourly : root.ads : -1,Nightly:root.bi:5"},
                          {"yarn.scheduler.capacity.workflow-priority-mappings-override.enable", "true"}},
                         &unknown);
  EXPECT_THAT(unknown, IsEmpty());
  EXPECT_EQ(queues.problem.message, "");
  EXPECT_TRUE(queues.workflow_override);
  using Priorities = std::map<std::string, int32_t>;
  EXPECT_EQ(queues.workflow_priorities.at("root.bi"), (Priorities{{"nightly", 5}}));
  EXPECT_EQ(queues.workflow_priorities.at("root.ads"), (Priorities{{"hourly", -1}}));
}

TEST(WorkflowPriorities, AnIllegalMappingRefusesTheFileInHadoopsWordsWhateverTheSwitchSays) {
  const auto problem = [](const std::string& text) {
    return ReadCapacityQueues({{"yarn.scheduler.capacity.workflow-priority-mappings", text}}).problem;
  };
  EXPECT_EQ(problem("nightly:2").message, "Illegal workflow priority mapping nightly:2");
  EXPECT_EQ(problem("a:root.bi:1,nightly:root.bi:high").message,
            "Illegal workflow priority for mapping nightly:root.bi:high");
  EXPECT_EQ(problem("nightly:root.bi:high").fault, CapacityFault::kArgument);
  EXPECT_EQ(problem(" , ").message, "");
}

}  // namespace
}  // namespace fairlead::config
