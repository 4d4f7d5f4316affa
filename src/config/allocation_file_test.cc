#include "config/allocation_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/resources.h"

namespace fairlead::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

model::QueueTree Parse(const std::string& body) {
  base::Result<AllocationFile> file =
      ParseAllocationFile("<?xml version=\"1.0\"?>\n<allocations>" + body + "</allocations>");
  EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().message);
  return file.ok() ? file->tree : model::QueueTree{};
}

/// The error of a file whose body starts in line 2, column 1.
base::Error ErrorOf(const std::string& body) {
  base::Result<AllocationFile> file = ParseAllocationFile("<allocations>\n" + body + "\n</allocations>");
  return file.ok() ? base::Error{"no error", 0} : file.error();
}
std::string Refused(const std::string& body) { return ErrorOf(body).message; }

TEST(AllocationFile, ReadsQueuesInOrderWithTheirSettings) {
  const model::QueueTree tree = Parse(R"(
    <queue name="p" type="parent"><weight>2.5</weight><priority>-3</priority><startTime>1700000000000</startTime>
      <!-- a comment -->
      <queue name=" x "><minResources>1024 mb, 2 vcores</minResources><maxResources>memory-mb=4096, vcores=8</maxResources>
        <maxRunningApps>7</maxRunningApps><maxAMShare>7</maxAMShare><schedulingPolicy>FIFO</schedulingPolicy>
        <minSharePreemptionTimeout>5</minSharePreemptionTimeout><fairSharePreemptionThreshold>-1</fairSharePreemptionThreshold>
        <allowPreemptionFrom>false</allowPreemptionFrom><aclSubmitApps>bob,eve staff</aclSubmitApps></queue>
    </queue>
    <pool name="q"><maxChildResources>50%</maxChildResources><maxContainerAllocation>25% cpu, 75.5% memory</maxContainerAllocation></pool>
    <user name="u"><maxRunningApps>3</maxRunningApps><maxResources>vcores=6</maxResources></user>
    <group name="g"><maxRunningApps>4</maxRunningApps><maxResources>40%</maxResources></group>
    <userMaxResourcesDefault>2048 mb, 2 vcores</userMaxResourcesDefault>
    <userMaxAppsDefault>9</userMaxAppsDefault><queueMaxAppsDefault>8</queueMaxAppsDefault>
    <queueMaxAMShareDefault>0.25</queueMaxAMShareDefault><fairSharePreemptionTimeout>6</fairSharePreemptionTimeout>
    <defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>)");
  ASSERT_EQ(tree.queues.size(), 3U);
  const model::QueueConfig& p = tree.queues[0];
  const model::QueueConfig& x = tree.queues[1];
  const model::QueueConfig& q = tree.queues[2];
  EXPECT_EQ(p.name, "root.p");
  EXPECT_TRUE(p.parent_type);
  EXPECT_EQ(p.weight, 2.5);
  EXPECT_EQ(p.priority, -3);
  EXPECT_EQ(p.start_time, 1'700'000'000'000);
  EXPECT_FALSE(x.priority);
  EXPECT_EQ(x.name, "root.p.x");
  EXPECT_FALSE(x.parent_type);
  EXPECT_EQ(x.min_resources->absolute.at("memory-mb"), 1024);
  EXPECT_EQ(x.min_resources->unnamed, 0);
  EXPECT_EQ(x.max_resources->absolute.at("vcores"), 8);
  EXPECT_EQ(x.max_resources->unnamed, INT64_MAX);
  EXPECT_EQ(x.max_running_apps, 7);
  EXPECT_EQ(x.max_am_share, 1.0);
  EXPECT_EQ(x.policy, "fifo");
  EXPECT_EQ(x.min_share_preemption_timeout, base::Duration::Seconds(5));
  EXPECT_EQ(x.fair_share_preemption_threshold, 0.0);
  EXPECT_EQ(x.allow_preemption_from, false);
  EXPECT_THAT(x.submit_acl->users, ElementsAre("bob", "eve"));
  EXPECT_THAT(x.submit_acl->groups, ElementsAre("staff"));
  EXPECT_EQ(q.max_child_resources->percent.at("*"), 50.0);
  EXPECT_EQ(q.max_container_allocation->percent.at("vcores"), 25.0);
  EXPECT_EQ(q.max_container_allocation->percent.at("memory-mb"), 75.5);
  EXPECT_EQ(tree.user_max_apps.at("u"), 3);
  EXPECT_EQ(tree.group_max_apps.at("g"), 4);
  EXPECT_EQ(tree.user_max_resources.at("u").absolute.at("vcores"), 6);
  EXPECT_EQ(tree.group_max_resources.at("g").percent.at("*"), 40.0);
  EXPECT_EQ(tree.user_max_resources_default->absolute.at("memory-mb"), 2048);
  EXPECT_EQ(tree.default_fair_share_preemption_timeout, base::Duration::Seconds(6));
  EXPECT_EQ(tree.default_policy, "drf");
  EXPECT_FALSE(tree.placement.has_value());
}

TEST(AllocationFile, ReadsAnExplicitRoot) {
  const model::QueueTree tree = Parse("<queue name=\"root\"><queue name=\"a\"/></queue>");
  ASSERT_EQ(tree.queues.size(), 2U);
  EXPECT_EQ(tree.queues[0].name, "root");
  EXPECT_EQ(tree.queues[1].name, "root.a");
}

TEST(AllocationFile, ReadsPlacementRules) {
  const model::QueueTree tree = Parse(R"(<queuePlacementPolicy>
      <rule name="specified" create="false"/>
      <rule name="nestedUserQueue"><rule name="primaryGroup" create="false"/></rule>
      <rule name="default" queue="a.b"/></queuePlacementPolicy>)");
  ASSERT_TRUE(tree.placement.has_value());
  ASSERT_EQ(tree.placement->size(), 3U);
  EXPECT_FALSE(tree.placement->at(0).create);
  EXPECT_EQ(tree.placement->at(1).parent.at(0).name, "primaryGroup");
  EXPECT_EQ(tree.placement->at(2).queue, "a.b");
}

TEST(AllocationFile, UnknownElementsAreWarnings) {
  base::Result<AllocationFile> file = ParseAllocationFile(
      "<allocations>\n <wieght>3</wieght>\n <queue name='a'><colour>red</colour></queue></allocations>");
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->warnings.size(), 2U);
  EXPECT_THAT(file->warnings[0], StartsWith("fair-scheduler.xml:2:3: <wieght> is not known and ignored"));
  EXPECT_THAT(file->warnings[1], StartsWith("fair-scheduler.xml:3:19: <colour> is not known in a queue and ignored"));
}

TEST(AllocationFile, WhatHasNoEffectAnywhereIsAWarning) {
  base::Result<AllocationFile> file = ParseAllocationFile(
      "<allocations>\n<reservation-agent>a.B</reservation-agent>\n<user "
      "name='u'><maxRunningApp>3</maxRunningApp></user>"
      "\n<queuePlacementPolicy><rul name='user'/><rule name='default'/></queuePlacementPolicy></allocations>");
  ASSERT_TRUE(file.ok());
  EXPECT_THAT(
      file->warnings,
      ElementsAre("fair-scheduler.xml:2:2: <reservation-agent> has no effect: nothing is planned ahead",
                  "fair-scheduler.xml:3:17: <maxRunningApp> is not known in a user and ignored; did you mean "
                  "'maxRunningApps'?",
                  "fair-scheduler.xml:4:24: <rul> is not known in <queuePlacementPolicy> and ignored; did you mean "
                  "'rule'?"));
}

TEST(AllocationFile, WarningsHaveANumber) {
  std::string text = "<allocations>";
  for (int i = 0; i < 10'000; ++i) text += "<colour/>";
  const auto file = ParseAllocationFile(text + "</allocations>", "fair-scheduler.xml");
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_EQ(file->warnings.size(), 201U);
  EXPECT_EQ(file->warnings.back(), "fair-scheduler.xml:1:1815: and more like these");
}

TEST(AllocationFile, WhatWasMeantIsNamedAndASecondQueueOfANameIsToldOf) {
  base::Result<AllocationFile> file = ParseAllocationFile(
      "<allocations>\n <queue name='a'><wieght>3</wieght></queue>\n <queue name='a'><weight>2</weight></queue>"
      "<queu name='b'/></allocations>");
  ASSERT_TRUE(file.ok());
  EXPECT_THAT(
      file->warnings,
      ElementsAre("fair-scheduler.xml:3:45: <queu> is not known and ignored; did you mean 'queue'?",
                  "fair-scheduler.xml:2:19: <wieght> is not known in a queue and ignored; did you mean 'weight'?",
                  "fair-scheduler.xml:3:3: queue root.a is written twice; what is written last counts"));
}

TEST(AllocationFile, ErrorsSayWhereAndWhatToWrite) {
  EXPECT_EQ(Refused("<queue name='a'><weight>heavy</weight></queue>"),
            "fair-scheduler.xml:2:18: <weight> is 'heavy'; write a number such as 2.0");
  EXPECT_EQ(ErrorOf("<queue name='a'><weight>heavy</weight></queue>").code, static_cast<int>(AllocationFault::kNumber));
  EXPECT_EQ(ErrorOf("<queue name='a'><weight/></queue>").code, static_cast<int>(AllocationFault::kEmptyElement));
  EXPECT_EQ(ErrorOf("<queue name='a'>").code, static_cast<int>(AllocationFault::kXml));
  EXPECT_THAT(Refused("<queue name='a'>"), StartsWith("fair-scheduler.xml:3:"));
  EXPECT_THAT(Refused("<queue name='a'>\n  <maxResources>lots</maxResources></queue>"),
              StartsWith("fair-scheduler.xml:3:4: <maxResources> is 'lots'"));
  EXPECT_THAT(ParseAllocationFile("<config/>", "f.xml").error().message,
              "f.xml:1:2: the top element is <config>; write <allocations>");
}

TEST(AllocationFile, AllThatIsWrongIsToldAtOnce) {
  const base::Error error = ErrorOf(
      " <queue name='a'><weight>x</weight><maxRunningApps>-</maxRunningApps></queue>\n"
      " <queue name='b.c'><minResources>1 zb</minResources><schedulingPolicy>foo</schedulingPolicy></queue>\n"
      " <queuePlacementPolicy><rule name='wat'/><rule name='user'><rule name='huh'/></rule></queuePlacementPolicy>\n"
      " <userMaxAppsDefault>q</userMaxAppsDefault>");
  EXPECT_EQ(error.code, static_cast<int>(AllocationFault::kConfiguration)) << "queues are read last";
  EXPECT_EQ(std::ranges::count(error.message, '\n'), 7) << error.message;
  size_t at = 0;
  for (const char* line :
       {"xml:2:19: <weight> is 'x'", "xml:2:37: <maxRunningApps> is '-'", "xml:3:3: queue name 'b.c' has a period",
        "xml:3:21: <minResources> is '1 zb'", "xml:3:54: no scheduling policy 'foo'",
        "xml:4:25: no placement rule 'wat'", "no placement rule 'huh'", "xml:5:3: <userMaxAppsDefault> is 'q'"}) {
    at = error.message.find(line, at);
    ASSERT_NE(at, std::string::npos) << line << "\n" << error.message;
  }
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "<queue name='a'><weight>x</weight></queue>";
  const std::string told = Refused(many);
  EXPECT_EQ(std::ranges::count(told, '\n'), 200);
  EXPECT_THAT(told, testing::EndsWith("and more like these"));
}

TEST(AllocationFile, RefusesWhatHadoopRefuses) {
  EXPECT_THAT(Refused("<queue name='a.b'/>"), HasSubstr("has a period"));
  EXPECT_THAT(Refused("<queue name=' '/>"), HasSubstr("has no name"));
  EXPECT_THAT(Refused("<queue/>"), HasSubstr("has no name"));
  EXPECT_THAT(Refused("<queue name='root'/><queue name='b'/>"), HasSubstr("beside the root queue"));
  EXPECT_THAT(Refused("<queue name='a'><schedulingPolicy>best</schedulingPolicy></queue>"),
              HasSubstr("write fair, drf"));
  EXPECT_THAT(Refused("<defaultQueueSchedulingPolicy>fifo</defaultQueueSchedulingPolicy>"), HasSubstr("can't be fifo"));
  EXPECT_THAT(Refused("<queue name='p' type='parent'><maxAMShare>0.3</maxAMShare></queue>"), HasSubstr("maxAMShare"));
  EXPECT_THAT(Refused("<queue name='p'><reservation/><queue name='x'/></queue>"), HasSubstr("reservation"));
  EXPECT_THAT(Refused("<queue name='a'><maxRunningApps>99999999999</maxRunningApps></queue>"),
              HasSubstr("write a number"));
}

TEST(AllocationFile, RefusesRulesThatCannotWork) {
  const auto rules = [](const std::string& body) {
    return Refused("<queuePlacementPolicy>" + body + "</queuePlacementPolicy>");
  };
  EXPECT_THAT(rules("<rule name='user'/><rule name='default'/>"), HasSubstr("rules after rule 1 can never be reached"));
  EXPECT_THAT(rules("<rule name='specified'/>"), HasSubstr("end with <rule name=\"default\"/>"));
  EXPECT_THAT(rules("<rule name='guess'/>"), HasSubstr("no placement rule 'guess'"));
  EXPECT_THAT(rules(""), HasSubstr("is empty"));
  EXPECT_THAT(rules("<rule name='nestedUserQueue'/>"), HasSubstr("needs a rule inside"));
  EXPECT_THAT(rules("<rule name='default'><rule name='user'/></rule>"), HasSubstr("takes no rule inside"));
  EXPECT_THAT(rules("<rule name='user'><rule name='reject'/></rule>"), HasSubstr("not allowed inside"));
  EXPECT_THAT(rules("<rule name='nestedUserQueue'><rule name='user'/></rule>"), HasSubstr("of its own kind"));
}

TEST(AllocationFile, RefusesWhatWouldHarm) {
  EXPECT_THAT(Refused("<queue name='a'><weight>NaN</weight></queue>"), HasSubstr("write a number"));
  EXPECT_THAT(Refused("<queue name='a'><weight>infinity</weight></queue>"), HasSubstr("not finite"));
  EXPECT_THAT(Refused("<queue name='a'><maxAMShare>nan</maxAMShare></queue>"), HasSubstr("not a number"));
  const auto deep = [](int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text = "<queue name='q'>" + text + "</queue>";
    return text;
  };
  EXPECT_THAT(Refused(deep(110)), HasSubstr("queues are nested deeper than 100"));
  EXPECT_THAT(Refused(deep(200)), HasSubstr("it is nested deeper than 128"));
  EXPECT_THAT(ParseAllocationFile(std::string((16 << 20) + 1, ' ')).error().message,
              HasSubstr("it may have 16777216; split it"));
}

TEST(ConfiguredResources, FormsOfHadoop) {
  const auto read = [](const std::string& text) { return ParseConfiguredResources(text, INT64_MAX); };
  EXPECT_EQ(read("1024 mb, 2 vcores")->absolute.at("memory-mb"), 1024);
  EXPECT_EQ(read("2 vcores,1024.7MB")->absolute.at("memory-mb"), 1024);
  EXPECT_EQ(read("1024 mb 2 vcores")->absolute.at("vcores"), 2);
  EXPECT_EQ(read("10.5%")->percent.at("*"), 10.5);
  EXPECT_EQ(read("memory-mb=50%, vcores=30%")->percent.at("vcores"), 30.0);
  EXPECT_EQ(read("memory-mb=50%")->percent.at("*"), 100.0);
  EXPECT_EQ(read("vcores=99999999999")->absolute.at("vcores"), INT32_MAX);
  for (const char* bad : {"", " ", "1024", "1024 mb", "mb, vcores", "-1 mb, 2 vcores", "1024 mb, -2 vcores",
                          "50% memory", "-5%", "5 %%", "memory-mb=1, gpus=2", "memory-mb", "memory-mb=1, vcores=2%",
                          "memory-mb=x", "99999999999 mb, 1 vcores", "memory-mb=-1", "=", "memory-mb=1=2"}) {
    EXPECT_FALSE(read(bad).ok()) << bad;
  }
}

TEST(AccessLists, FormsOfHadoop) {
  EXPECT_TRUE(ParseAccessList("*").everybody);
  EXPECT_TRUE(ParseAccessList(" * ").everybody);
  const model::AccessList nobody = ParseAccessList(" ");
  EXPECT_FALSE(nobody.everybody);
  EXPECT_TRUE(nobody.users.empty() && nobody.groups.empty());
  EXPECT_THAT(ParseAccessList(" staff,ops").groups, ElementsAre("staff", "ops"));
  EXPECT_THAT(ParseAccessList("a, b").users, ElementsAre("a"));
}

}  // namespace
}  // namespace fairlead::config
