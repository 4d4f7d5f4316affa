#include "config/capacity_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>

namespace fairlead::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Xml(const std::map<std::string, std::string>& keys) {
  std::string text = "<configuration>\n";
  for (const auto& [name, value] : keys) {
    text += "<property><name>" + name + "</name><value>" + value + "</value></property>\n";
  }
  return text + "</configuration>";
}

const std::map<std::string, std::string> kTwoQueues = {
    {"yarn.scheduler.capacity.root.queues", "bi,science"},
    {"yarn.scheduler.capacity.root.bi.capacity", "60"},
    {"yarn.scheduler.capacity.root.bi.queues", "daily"},
    {"yarn.scheduler.capacity.root.bi.daily.capacity", "100"},
    {"yarn.scheduler.capacity.root.bi.acl_submit_applications", "ann,bob staff"},
    {"yarn.scheduler.capacity.root.science.capacity", "40"},
    {"yarn.scheduler.capacity.root.science.maximum-allocation-mb", "4096"},
    {"yarn.scheduler.capacity.root.acl_submit_applications", " "},
};

model::QueueTree Parsed(const std::map<std::string, std::string>& keys, std::vector<std::string>& warnings,
                        const HadoopConf& site = HadoopConf()) {
  auto tree = ParseCapacityFile(Xml(keys), "capacity-scheduler.xml", site, warnings);
  EXPECT_TRUE(tree.ok()) << tree.error().message;
  return tree.ok() ? *tree : model::QueueTree{};
}

TEST(CapacityFile, NamesItsQueuesWithWhatEveryProfileKnowsOfThem) {
  std::vector<std::string> warnings;
  const model::QueueTree tree = Parsed(kTwoQueues, warnings);
  std::vector<std::string> names;
  for (const model::QueueConfig& queue : tree.queues) names.push_back(queue.name);
  EXPECT_THAT(names, ElementsAre("root", "root.bi", "root.bi.daily", "root.science"));
  EXPECT_TRUE(tree.queues[1].parent_type);
  EXPECT_FALSE(tree.queues[2].parent_type);
  EXPECT_FALSE(tree.queues[0].submit_acl->everybody);
  EXPECT_THAT(tree.queues[1].submit_acl->users, ElementsAre("ann", "bob"));
  EXPECT_THAT(tree.queues[1].submit_acl->groups, ElementsAre("staff"));
  EXPECT_EQ(tree.queues[3].max_container_allocation->absolute.at("memory-mb"), 4096);
  ASSERT_TRUE(tree.capacity.has_value());
  EXPECT_FLOAT_EQ(tree.capacity->queues.at("root.bi").own.capacity.at("").percent, 60);
  EXPECT_THAT(warnings, ElementsAre());
}

TEST(CapacityFile, AKeyThatNothingReadsIsNamed) {
  std::map<std::string, std::string> keys = kTwoQueues;
  keys["yarn.scheduler.capacity.root.bi.capcity"] = "50";
  keys["yarn.scheduler.capacity.root.bi.multi-node-sorting.policy.names"] = "resource-based";
  std::vector<std::string> warnings;
  Parsed(keys, warnings);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("root.bi.capcity"), HasSubstr("multi-node-sorting.policy.names")));
}

TEST(CapacityFile, AnIgnoredKeyIsNamedWithTheReasonUnlessItAsksForNothing) {
  std::map<std::string, std::string> keys = kTwoQueues;
  keys["yarn.scheduler.capacity.application.fail-fast"] = "false";
  keys["yarn.scheduler.capacity.root.bi.acl_list_reservations"] = "*";
  keys["yarn.scheduler.capacity.root.bi.multi-node-sorting.policy"] = "";
  std::vector<std::string> warnings;
  Parsed(keys, warnings);
  EXPECT_THAT(warnings, ElementsAre());
  keys["yarn.scheduler.capacity.application.fail-fast"] = "true";
  keys["yarn.scheduler.capacity.root.bi.acl_submit_reservations"] = "ann";
  Parsed(keys, warnings);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("application.fail-fast is ignored: an application whose queue is gone"),
                                    HasSubstr("acl_submit_reservations is ignored: nothing is planned")));
}

TEST(CapacityFile, KeysOfYarnSiteCountBelowItAndVariablesAreReplaced) {
  HadoopConf site;
  site.Set("share", "70");
  site.Set("yarn.scheduler.capacity.maximum-applications", "77");
  site.Set("yarn.scheduler.capacity.root.bi.capacity", "1");
  std::map<std::string, std::string> keys = kTwoQueues;
  keys["yarn.scheduler.capacity.root.bi.capacity"] = "${share}";
  std::vector<std::string> warnings;
  const model::QueueTree tree = Parsed(keys, warnings, site);
  EXPECT_EQ(tree.capacity->maximum_applications, 77);
  EXPECT_FLOAT_EQ(tree.capacity->queues.at("root.bi").own.capacity.at("").percent, 70);
}

TEST(CapacityFile, KeysOfAFileMeanTheSameByThemselves) {
  HadoopConf site;
  site.Set("share", "70");
  const auto keys = CapacityProperties(
      "<configuration><property><name>yarn.scheduler.capacity.root.queues</name><value>a,b</value></property>"
      "<property><name> yarn.scheduler.capacity.root.a.capacity </name><value>${share}</value></property>"
      "</configuration>",
      "capacity-scheduler.xml");
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(*keys, (Properties{{"yarn.scheduler.capacity.root.queues", "a,b"},
                               {"yarn.scheduler.capacity.root.a.capacity", "${share}"}}));
  std::vector<std::string> warnings;
  const model::QueueTree tree = CapacityTreeOf(*keys, "a store", site, warnings);
  EXPECT_EQ(tree.queues.size(), 3u);
  EXPECT_FLOAT_EQ(tree.capacity->queues.at("root.a").own.capacity.at("").percent, 70);
  EXPECT_TRUE(warnings.empty());
  EXPECT_FALSE(CapacityProperties("<configuration>", "capacity-scheduler.xml").ok());
}

TEST(CapacityFile, WhetherPassesRunIsADefaultOfTheRelease) {
  const auto asynchronous = [](const std::string& version, const std::map<std::string, std::string>& more) {
    HadoopConf site;
    if (!version.empty()) site.Set("fairlead.scheduler.hadoop-version", version);
    std::map<std::string, std::string> keys = kTwoQueues;
    keys.insert(more.begin(), more.end());
    std::vector<std::string> warnings;
    return Parsed(keys, warnings, site).capacity->asynchronous;
  };
  const std::string key = "yarn.scheduler.capacity.schedule-asynchronously.enable";
  EXPECT_FALSE(asynchronous("", {}));
  EXPECT_FALSE(asynchronous("3.4.3", {}));
  EXPECT_TRUE(asynchronous("3.5.0", {}));
  EXPECT_FALSE(asynchronous("3.5.0", {{key, "false"}}));
  EXPECT_TRUE(asynchronous("3.3.6", {{key, "true"}}));
}

TEST(CapacityFile, PreemptionGoesByTheListOfMonitors) {
  constexpr char kHadoop[] = "org.apache.hadoop.yarn.server.resourcemanager.";
  const std::string preemption = std::string(kHadoop) + "monitor.capacity.ProportionalCapacityPreemptionPolicy";
  const std::string leaves = std::string(kHadoop) + "scheduler.capacity.QueueManagementDynamicEditPolicy";
  std::vector<std::string> warnings;
  const auto takes_back = [&](const std::optional<std::string>& policies) {
    HadoopConf site;
    site.Set("yarn.resourcemanager.scheduler.monitor.enable", "true");
    if (policies) site.Set("yarn.resourcemanager.scheduler.monitor.policies", *policies);
    const model::QueueTree tree = Parsed(kTwoQueues, warnings, site);
    EXPECT_TRUE(tree.capacity->preemption.enabled);
    return !tree.capacity->preemption.observe_only;
  };
  EXPECT_TRUE(takes_back(std::nullopt));
  EXPECT_TRUE(takes_back(leaves + " , " + preemption));
  EXPECT_FALSE(takes_back(leaves));
  EXPECT_FALSE(takes_back(""));
  EXPECT_THAT(warnings, ElementsAre());
  EXPECT_FALSE(takes_back("org.example.OurPolicy"));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("monitor.policies names org.example.OurPolicy")));
}

TEST(CapacityFile, PreemptionForQueuesOfHigherPriorityIsOfTheWholeFile) {
  const std::string name = "ordering-policy.priority-utilization.underutilized-preemption.";
  std::map<std::string, std::string> keys = kTwoQueues;
  keys["yarn.scheduler.capacity." + name + "enabled"] = "true";
  keys["yarn.scheduler.capacity." + name + "reserved-container-delay-ms"] = "1500";
  keys["yarn.scheduler.capacity." + name + "allow-move-reservation"] = "true";
  keys["yarn.scheduler.capacity.root.bi." + name + "enabled"] = "true";
  std::vector<std::string> warnings;
  const model::CapacityPriorityPreemption read = Parsed(keys, warnings).capacity->preemption.for_priority;
  EXPECT_TRUE(read.enabled);
  EXPECT_TRUE(read.move_reservations);
  EXPECT_EQ(read.reserved_delay_ms, 1500);
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr("root.bi.ordering-policy.priority-utilization.underutilized-preemption")));
}

TEST(CapacityFile, KeysOfAPolicyThatSortsNodesAreIgnoredAsItsNameIs) {
  const std::string policy = "yarn.scheduler.capacity.multi-node-sorting.policy.resource-based.";
  std::map<std::string, std::string> keys = kTwoQueues;
  keys[policy + "class"] = "org.example.Sorter";
  keys[policy + "sorting-interval.ms"] = "1000";
  keys[policy + "sorting"] = "1";
  std::vector<std::string> warnings;
  Parsed(keys, warnings);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("class is ignored: nodes are offered"), HasSubstr("sorting is not known"),
                                    HasSubstr("sorting-interval.ms is ignored: nodes are offered")));
}

TEST(CapacityFile, TemplatesOfTheOlderWayAreThoseOfLeaves) {
  std::map<std::string, std::string> keys = kTwoQueues;
  keys["yarn.scheduler.capacity.root.science.auto-create-child-queue.enabled"] = "true";
  keys["yarn.scheduler.capacity.root.science.auto-create-child-queue.max-queues"] = "7";
  keys["yarn.scheduler.capacity.root.science.leaf-queue-template.capacity"] = "25";
  keys["yarn.scheduler.capacity.root.science.leaf-queue-template.ordering-policy.fair.enable-size-based-weight"] =
      "true";
  keys["yarn.scheduler.capacity.root.science.leaf-queue-template.accessible-node-labels.fast.capacity"] = "50";
  std::vector<std::string> warnings;
  const model::CapacityQueueKeys read = Parsed(keys, warnings).capacity->queues.at("root.science");
  EXPECT_THAT(warnings, ElementsAre());
  EXPECT_EQ(read.own.max_queues, 7);
  EXPECT_FLOAT_EQ(read.leaves.capacity.at("").percent, 25);
  EXPECT_FLOAT_EQ(read.leaves.capacity.at("fast").percent, 50);
  EXPECT_EQ(read.leaves.size_based_weight, true);
}

/// The names of Hadoop 3.4.3's and 3.5.0's CapacitySchedulerConfiguration, below its prefixes.
constexpr const char* kNamesOfHadoop[] = {"maximum-applications",
                                          "maximum-am-resource-percent",
                                          "queues",
                                          "capacity",
                                          "maximum-capacity",
                                          "minimum-user-limit-percent",
                                          "user-limit-factor",
                                          "user-settings",
                                          "state",
                                          "accessible-node-labels",
                                          "default-node-label-expression",
                                          "reservations-continue-look-all-nodes",
                                          "skip-allocate-on-nodes-with-reserved-containers",
                                          "maximum-allocation",
                                          "maximum-allocation-mb",
                                          "maximum-allocation-vcores",
                                          "ordering-policy",
                                          "user-metrics.enable",
                                          "resource-calculator",
                                          "node-locality-delay",
                                          "rack-locality-additional-delay",
                                          "rack-locality-full-reset",
                                          "maximum-offswitch-assignments",
                                          "schedule-asynchronously.enable",
                                          "schedule-asynchronously.maximum-threads",
                                          "maximum-pending-backlogs",
                                          "scheduling-interval-ms",
                                          "application.fail-fast",
                                          "queue-mappings",
                                          "queue-mappings-override.enable",
                                          "workflow-priority-mappings",
                                          "workflow-priority-mappings-override.enable",
                                          "disable_preemption",
                                          "default-application-priority",
                                          "average-capacity",
                                          "reservable",
                                          "reservation-window",
                                          "instantaneous-max-capacity",
                                          "reservation-policy",
                                          "reservation-agent",
                                          "show-reservations-as-queues",
                                          "reservation-planner",
                                          "reservation-move-on-expiry",
                                          "reservation-enforcement-window",
                                          "lazy-preemption-enabled",
                                          "multiple-assignments-enabled",
                                          "maximum-container-assignments",
                                          "max-parallel-apps",
                                          "allow-zero-capacity-sum",
                                          "mapping-rule-format",
                                          "mapping-rule-json",
                                          "mapping-rule-json-file",
                                          "legacy-queue-mode.enabled",
                                          "observe_only",
                                          "monitoring_interval",
                                          "max_wait_before_kill",
                                          "total_preemption_per_round",
                                          "max_ignored_over_capacity",
                                          "natural_termination_factor",
                                          "additional_res_balance_based_on_reserved_containers",
                                          "select_based_on_reserved_containers",
                                          "intra-queue-preemption.enabled",
                                          "minimum-threshold",
                                          "max-allowable-limit",
                                          "preemption-order-policy",
                                          "conservative-drf",
                                          "preemption-to-balance-queue-after-satisfied.enabled",
                                          "max-wait-before-kill",
                                          "global-queue-max-application",
                                          "underutilized-preemption.enabled",
                                          "reserved-container-delay-ms",
                                          "allow-move-reservation",
                                          "maximum-application-lifetime",
                                          "default-application-lifetime",
                                          "auto-create-child-queue.enabled",
                                          "auto-queue-creation-v2.enabled",
                                          "leaf-queue-template",
                                          "fail-on-exceeding-parent-capacity",
                                          "management-policy",
                                          "queue-management.monitoring-interval",
                                          "queue-auto-removal.enable",
                                          "queue-expiration-time",
                                          "queue.auto.refresh.monitoring-interval",
                                          "multi-node-sorting.policy",
                                          "sorting-interval.ms",
                                          "multi-node-placement-enabled",
                                          "acl_submit_applications",
                                          "acl_administer_queue",
                                          "acl_application_max_priority",
                                          "acl_administer_reservations",
                                          "acl_list_reservations",
                                          "acl_submit_reservations",
                                          "yarn.resourcemanager.scheduler.monitor.enable",
                                          "yarn.resourcemanager.scheduler.monitor.policies",
                                          "am.allow-non-exclusive-allocation",
                                          "am.default-node-label-expression",
                                          "yarn.node-labels.enabled",
                                          "yarn.node-labels.configuration-type",
                                          "yarn.node-labels.fs-store.root-dir",
                                          "fs-store.impl.class",
                                          "exclusive-enforced-partitions",
                                          "yarn.resourcemanager.node-labels.provider",
                                          "provider.fetch-interval-ms",
                                          "provider.update-newly-registered-nodes-interval-ms",
                                          "yarn.resourcemanager.reservation-system.enable",
                                          "yarn.resourcemanager.reservation-system.class",
                                          "plan.follower",
                                          "planfollower.time-step",
                                          "max-periodicity",
                                          "yarn.resourcemanager.placement-constraints.handler",
                                          "yarn.resourcemanager.placement-constraints.algorithm.",
                                          "retry-attempts",
                                          "scheduler.pool-size",
                                          "yarn.scheduler.queue-placement-rules",
                                          "yarn.scheduler.configuration.store.class",
                                          "yarn.scheduler.configuration.mutation.acl-policy.class",
                                          "leveldb-store.path",
                                          "leveldb-store.compaction-interval-secs",
                                          "store.max-logs",
                                          "max.version",
                                          "yarn.resourcemanager.activities-manager.",
                                          "autocorrect.container.allocation",
                                          "yarn.webapp.scheduler-ui."};

TEST(CapacityFile, EveryKeyOfHadoopIsInTheTableOfTheDocuments) {
  std::ifstream file(std::string(FAIRLEAD_SOURCE_DIR) + "/docs/scheduler-yarn-capacity.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t begin = page.find("## What counts");
  ASSERT_NE(begin, std::string::npos);
  const std::string table = page.substr(begin, page.find("## Asynchronous scheduling") - begin);
  for (const char* name : kNamesOfHadoop) EXPECT_NE(table.find(name), std::string::npos) << name;
}

TEST(CapacityFile, QueuesThatAreTheirOwnParentsEndSomewhere) {
  std::map<std::string, std::string> keys;
  std::string path = "root";
  for (int i = 0; i < 200; ++i) {
    keys["yarn.scheduler.capacity." + path + ".queues"] = "a,a";
    path += ".a";
  }
  std::vector<std::string> warnings;
  const model::QueueTree tree = Parsed(keys, warnings);
  EXPECT_THAT(tree.capacity->problem.message, HasSubstr("nested deeper than 100"));
  EXPECT_TRUE(tree.queues.empty());
}

TEST(CapacityFile, WhatIsNoXmlIsAnErrorWithItsPlace) {
  std::vector<std::string> warnings;
  const auto read = ParseCapacityFile("<configuration><property>", "capacity-scheduler.xml", HadoopConf(), warnings);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("capacity-scheduler.xml"));
}

}  // namespace
}  // namespace fairlead::config
