#include "config/capacity_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  const model::QueueTree tree = CapacityTreeOf(*keys, site, warnings);
  EXPECT_EQ(tree.queues.size(), 3u);
  EXPECT_FLOAT_EQ(tree.capacity->queues.at("root.a").own.capacity.at("").percent, 70);
  EXPECT_TRUE(warnings.empty());
  EXPECT_FALSE(CapacityProperties("<configuration>", "capacity-scheduler.xml").ok());
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
