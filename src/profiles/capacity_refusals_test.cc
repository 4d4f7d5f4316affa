#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "profiles/profile.h"

// Files that a CapacityScheduler refuses: at the start with the words of both, at a reload with the same, and the old
// queues stay.

namespace fairlead::profiles {
namespace {

namespace ev = model::scheduler;
using testing::HasSubstr;
using Keys = std::map<std::string, std::string>;

std::string FileOf(const Keys& keys) {
  std::string text = "<configuration>\n";
  for (const auto& [name, value] : keys) {
    text += "<property><name>yarn.scheduler.capacity." + name + "</name><value>" + value + "</value></property>\n";
  }
  return text + "</configuration>\n";
}

const Keys kGood = {{"root.queues", "a,b"}, {"root.a.capacity", "40"}, {"root.b.capacity", "60"}};

Keys GoodWith(const Keys& changes) {
  Keys keys = changes;
  keys.insert(kGood.begin(), kGood.end());
  return keys;
}

struct Bad {
  const char* what;
  Keys keys;
  const char* words;
};

const Bad kBad[] = {
    {"a queue listed twice", GoodWith({{"root.queues", "a,b,a"}}),
     "Illegal capacity sum of 1.4 for children of queue root for label=. It should be either 0 or 1.0; root.a is "
     "listed twice; name it once in yarn.scheduler.capacity.root.queues"},
    {"a queue listed twice that Hadoop would take",
     GoodWith({{"root.queues", "a,b,a"}, {"root.a.capacity", "2w"}, {"root.b.capacity", "1w"}}),
     "root.a is listed twice; name it once"},
    {"a root without queues", {{"root.capacity", "100"}}, "Queue configuration missing child queue names for root"},
    {"queues below themselves", {}, "nested deeper than 100"},  // its keys are made below
    {"percentages that do not add up", GoodWith({{"root.a.capacity", "30"}}),
     "Illegal capacity sum of 0.90000004 for children of queue root for label=. It should be either 0 or 1.0"},
    {"a percentage above 100", GoodWith({{"root.a.capacity", "140"}}),
     "Illegal capacity of 140.0 for queue root.a; yarn.scheduler.capacity.root.a.capacity is '140'; write 0 to 100"},
    {"a percentage of a label above 100",
     GoodWith({{"root.a.accessible-node-labels", "fast"}, {"root.a.accessible-node-labels.fast.capacity", "140"}}),
     "Illegal capacity of 140.0 for node-label=fast in queue=root.a, valid capacity should in range of [0, 100]. "
     "yarn.scheduler.capacity.root.a.accessible-node-labels.fast.capacity is '140'; write 0 to 100"},
    {"a weight above 10000", GoodWith({{"root.a.capacity", "20000w"}, {"root.b.capacity", "1w"}}),
     "Illegal weight=20000.0 for queue=root.alabel=. Acceptable values: [0, 10000], -1 is same as not set; "
     "yarn.scheduler.capacity.root.a.capacity is '20000w'; write 0w to 10000w"},
    {"a weight that is none", GoodWith({{"root.a.capacity", "xw"}}), "For input string: \"x\"; "},
    {"an amount that is none", GoodWith({{"root.a.capacity", "[memory=12x4,vcores=1]"}}),
     "For input string: \"12x4\"; yarn.scheduler.capacity.root.a.capacity is '[memory=12x4,vcores=1]'; write amounts"},
    {"an amount without a number", GoodWith({{"root.a.capacity", "[memory=much,vcores=1]"}}), "empty String; "},
    {"a number that is none", GoodWith({{"root.a.user-limit-factor", "much"}}),
     "For input string: \"much\"; yarn.scheduler.capacity.root.a.user-limit-factor is 'much'; write a number"},
    {"a number of two points", GoodWith({{"root.a.user-limit-factor", "1.2.3"}}), "multiple points; "},
    {"a whole number that is none", GoodWith({{"root.a.maximum-applications", " 1.5 "}}),
     "For input string: \"1.5\"; yarn.scheduler.capacity.root.a.maximum-applications is ' 1.5 '; write a whole"},
    {"a largest container that is none", GoodWith({{"root.a.maximum-allocation", "memory=much"}}),
     "\"memory=much\" is not a valid resource type/amount pair. Please provide key=amount pairs separated by commas. "
     "yarn.scheduler.capacity.root.a.maximum-allocation is 'memory=much'; write amounts"},
    {"queues below a queue that makes its own",
     GoodWith({{"root.a.queues", "one"},
               {"root.a.one.capacity", "100"},
               {"root.a.auto-create-child-queue.enabled", "true"}}),
     "Can not convert parent queue: root.a to auto create enabled parent queue since it could have other "
     "pre-configured queues which is not supported; take out"},
    {"weights beside percentages", GoodWith({{"root.a.capacity", "2w"}}),
     "have children queue used mixed of  weight mode, percentage and absolute mode, it is not allowed, please double "
     "check, details:{Queue=root.a, label= uses weight mode}. {Queue=root.b, label= uses percentage mode}. "},
    {"what is no capacity", GoodWith({{"root.a.capacity", "much"}}),
     "For input string: \"much\"; yarn.scheduler.capacity.root.a.capacity is 'much'; write a percentage"},
    {"labels that the parent has not",
     GoodWith({{"root.a.accessible-node-labels", "fast"},
               {"root.a.queues", "one"},
               {"root.a.one.capacity", "100"},
               {"root.a.one.accessible-node-labels", "slow"}}),
     "Some labels of child queue is not a subset of parent queue, these labels=[slow]"},
    {"a default label without access",
     GoodWith({{"root.a.accessible-node-labels", " "}, {"root.a.default-node-label-expression", "fast"}}),
     "Invalid default label expression of  queue=root.a doesn't have permission to access all labels in default label "
     "expression. labelExpression of resource request=fast. Queue labels="},
    {"a weight of a user", GoodWith({{"root.a.user-settings.ann.weight", "200"}}),
     "Weight (200.0) for user \"ann\" must be between 0 and 100 / 100.0 (= 1.0, the number of concurrent active users "
     "in "
     "root.a)"},
    {"a container above the cluster's", GoodWith({{"root.a.maximum-allocation-mb", "999999"}}),
     "Queue maximum allocation cannot be larger than the cluster setting for queue root.a max allocation per queue: "
     "<memory:999999, vCores:4> cluster setting: <memory:8192, vCores:4>"},
    {"a mapping to no queue", GoodWith({{"queue-mappings", "u:ann:nowhere"}}),
     "Path root 'nowhere' does not exist. Path 'nowhere' is invalid"},
    {"a mapping to a queue that may not be made", GoodWith({{"queue-mappings", "u:ann:root.c"}}),
     "Mapping rule specified a parent queue 'root', but it is not a dynamic parent queue, and no queue exists with "
     "name "
     "'c' under it."},
    {"a mapping to a parent", GoodWith({{"queue-mappings", "u:ann:root"}}),
     "Target queue 'root' but it's not a leaf queue"},
    {"a rule of JSON that is none",
     GoodWith({{"mapping-rule-format", "json"},
               {"mapping-rule-json", "{\"rules\": [{\"type\": \"user\", \"matches\": \"*\"}]}"}}),
     "policy"},
    {"a state that is none", GoodWith({{"root.a.state", "DRAINING"}}),
     "Invalid queue state configuration. We can only use RUNNING or STOPPED. yarn.scheduler.capacity.root.a.state is "
     "'DRAINING'; write RUNNING or STOPPED"},
    {"an ordering policy that is none", GoodWith({{"root.a.ordering-policy", "random"}}),
     "Unable to construct ordering policy for: random, random"},
    {"an order by partitions", GoodWith({{"root.a.ordering-policy", "fifo-with-partitions"}}),
     "Unable to construct ordering policy for: fifo-with-partitions: an order for each exclusive partition is not "
     "kept"},
    {"a lifetime above the maximum",
     GoodWith({{"root.a.maximum-application-lifetime", "10"}, {"root.a.default-application-lifetime", "20"}}),
     "Default lifetime 20 can't exceed maximum lifetime 10"},
    {"nodes sorted for each ask", GoodWith({{"multi-node-placement-enabled", "true"}}),
     "is not supported; write false"},
    {"rules in a file that nobody has read",
     GoodWith({{"mapping-rule-format", "json"}, {"mapping-rule-json-file", "/etc/rules"}}),
     "mapping-rule-json-file is not read here; write the rules into yarn.scheduler.capacity.mapping-rule-json"},
    {"queues for reservations", GoodWith({{"root.a.reservable", "true"}}), "reservable is not supported"},
    {"an older way of making queues that fails",
     GoodWith({{"root.a.auto-create-child-queue.enabled", "true"},
               {"root.a.auto-create-child-queue.fail-on-exceeding-parent-capacity", "true"}}),
     "fail-on-exceeding-parent-capacity is not supported"},
};

Keys Endless() {
  Keys keys;
  std::string path = "root";
  for (int i = 0; i < 120; ++i) {
    keys[path + ".queues"] = "a";
    keys[path + ".a.capacity"] = "100";
    path += ".a";
  }
  return keys;
}

base::Result<model::QueueTree> Parse(const Keys& keys) {
  std::vector<std::string> warnings;
  return Find("yarn-capacity")
      ->queue_file.parse(FileOf(keys), "capacity-scheduler.xml", config::HadoopConf(), warnings);
}

class CapacityRefusals : public ::testing::TestWithParam<Bad> {
 protected:
  model::QueueTree Tree() const {
    auto tree = Parse(GetParam().keys.empty() ? Endless() : GetParam().keys);
    EXPECT_TRUE(tree.ok()) << "what is wrong with queues is told when they are used";
    return tree.ok() ? *tree : model::QueueTree{};
  }
};

std::vector<ev::Effect> Step(scheduler::Scheduler& scheduler, ev::Event event) {
  std::vector<ev::Effect> effects;
  scheduler.Step({}, {&event, 1}, effects);
  EXPECT_EQ(scheduler.CheckInvariants(), "");
  return effects;
}

TEST_P(CapacityRefusals, AtTheStart) {
  const auto maker = Read("yarn-capacity", config::HadoopConf(), Tree());
  ASSERT_FALSE(maker.ok());
  EXPECT_THAT(maker.error().message, HasSubstr(GetParam().words));
}

TEST_P(CapacityRefusals, AtAReloadTheOldQueuesStay) {
  const auto maker = Read("yarn-capacity", config::HadoopConf(), *Parse(kGood));
  ASSERT_TRUE(maker.ok()) << maker.error().message;
  const std::unique_ptr<scheduler::Scheduler> scheduler = (*maker)(1);
  Step(*scheduler, ev::NodeAdded{{0}, "n0", 1, "/r", model::Resources::Of(8192, 8), {}});
  const auto effects = Step(*scheduler, ev::QueuesReloaded{Tree(), 7});
  ASSERT_EQ(effects.size(), 1u);
  const auto& refused = std::get<ev::CallRefused>(effects.front()).refused;
  EXPECT_EQ(refused.why, model::Refusal::kBadQueues);
  EXPECT_THAT(refused.names.at(0), HasSubstr("Failed to re-init queues : "));
  EXPECT_THAT(refused.names.at(0), HasSubstr(GetParam().words));
  std::map<std::string, int64_t> guaranteed;
  for (const auto& queue : scheduler->GetQueues().queues) guaranteed[queue.name] = queue.fair_share[0];
  EXPECT_EQ(guaranteed, (std::map<std::string, int64_t>{{"root", 8192}, {"root.a", 3276}, {"root.b", 4915}}));
}

INSTANTIATE_TEST_SUITE_P(Files, CapacityRefusals, ::testing::ValuesIn(kBad),
                         [](const ::testing::TestParamInfo<Bad>& bad) {
                           std::string name;
                           for (const char c : std::string_view(bad.param.what)) {
                             name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           }
                           return name;
                         });

TEST(CapacityRefusal, WrongMappingsAreToldTogether) {
  const Keys keys = GoodWith({{"queue-mappings", "u:ann:nowhere,u:bob:root,u:cid:a,u:dan:nowhere,u:eve:root.c.%user"}});
  for (const char* version : {"3.4.3", "3.3.6"}) {
    config::HadoopConf conf;
    conf.Set("fairlead.scheduler.hadoop-version", version);
    const auto maker = Read("yarn-capacity", conf, *Parse(keys));
    ASSERT_FALSE(maker.ok());
    const std::string& text = maker.error().message;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
    for (const char* target : {"nowhere", "root", "root.c.%user"}) EXPECT_THAT(text, HasSubstr(target));
  }
  // Of many a few are told.
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "u:ann:q" + std::to_string(i) + ",";
  const std::string text =
      Read("yarn-capacity", config::HadoopConf(), *Parse(GoodWith({{"queue-mappings", many}}))).error().message;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 20) << text;
  EXPECT_THAT(text, HasSubstr("More rules are wrong."));
}

TEST(CapacityRefusal, AQueueInUseIsNotTakenAway) {
  const auto maker = Read("yarn-capacity", config::HadoopConf(), *Parse(kGood));
  ASSERT_TRUE(maker.ok());
  const std::unique_ptr<scheduler::Scheduler> scheduler = (*maker)(1);
  const auto without_b = [] { return *Parse({{"root.queues", "a"}, {"root.a.capacity", "100"}}); };
  const auto refused = Step(*scheduler, ev::QueuesReloaded{without_b(), 7});
  EXPECT_THAT(
      std::get<ev::CallRefused>(refused.front()).refused.names.at(0),
      HasSubstr("root.b cannot be deleted from the capacity scheduler configuration, as the queue is not yet in "
                "stopped state. Current State : RUNNING"));
  EXPECT_EQ(scheduler->GetQueues().queues.size(), 3u);
  Step(*scheduler, ev::QueuesReloaded{*Parse(GoodWith({{"root.b.state", "STOPPED"}})), 8});
  EXPECT_TRUE(std::holds_alternative<ev::ReloadAnswered>(Step(*scheduler, ev::QueuesReloaded{without_b(), 9}).front()));
  EXPECT_EQ(scheduler->GetQueues().queues.size(), 2u);
}

TEST(CapacityRefusal, AFileOfFiftyMegabytesIsReadOrRefusedWithoutHarm) {
  std::string text = "<configuration>\n";
  for (int i = 0; text.size() < 50'000'000; ++i) {
    text += "<property><name>yarn.scheduler.capacity.root.q" + std::to_string(i) +
            ".capacity</name><value>1</value></property>\n";
  }
  text += "</configuration>\n";
  std::vector<std::string> warnings;
  const auto tree =
      Find("yarn-capacity")->queue_file.parse(text, "capacity-scheduler.xml", config::HadoopConf(), warnings);
  ASSERT_FALSE(tree.ok());
  EXPECT_THAT(tree.error().message, HasSubstr("capacity-scheduler.xml"));
}

}  // namespace
}  // namespace fairlead::profiles
