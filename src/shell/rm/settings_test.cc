#include "shell/rm/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/stored.h"
#include "profiles/profile.h"
#include "wire/yarn/protocols.h"

namespace fairlead::shell {
namespace {

base::Result<RmSettings> Read(const std::string& profile, const std::string& queues) {
  config::Settings settings;
  EXPECT_TRUE(config::AddFairleadYaml("f.yaml", "scheduler: {profile: " + profile + "}\nqueues: " + queues, settings));
  return ReadRmSettings(settings, "");
}

TEST(RmSettingsTest, EveryProfileOfTheRegistryRunsOnAResourceManager) {
  for (const profiles::Profile& profile : profiles::All()) {
    SCOPED_TRACE(profile.name);
    const auto settings = Read(std::string(profile.name), "{bi: {queues: {daily: {weight: 3}, hourly: }}}");
    ASSERT_TRUE(settings.ok()) << settings.error().message;
    EXPECT_EQ(settings->manager.hadoop_scheduler, profile.hadoop_name);
    const auto scheduler = settings->manager.make_scheduler(1);
    ASSERT_TRUE(scheduler.ok());
    std::vector<std::string> leaves;
    for (const scheduler::QueueView& queue : (*scheduler)->GetView().queues) {
      if (queue.parent == "root.bi") leaves.push_back(queue.name);
    }
    EXPECT_THAT(leaves, testing::ElementsAre("root.bi.daily", "root.bi.hourly"));
  }
}

TEST(RmSettingsTest, AnUnknownProfileIsRefusedWithTheKnownOnes) {
  const auto settings = Read("capacity", "{}");
  ASSERT_FALSE(settings.ok());
  EXPECT_THAT(settings.error().message, testing::HasSubstr("f.yaml:1:"));
  EXPECT_THAT(settings.error().message, testing::HasSubstr("fairlead.scheduler.profile"));
  EXPECT_THAT(settings.error().message, testing::HasSubstr("write one of fairlead, yarn-fair, yarn-capacity, tdw"));
}

/// A directory of configuration with these files.
class ConfDirectory {
 public:
  explicit ConfDirectory(const std::map<std::string, std::string>& files)
      : path_(std::filesystem::path(testing::TempDir()) / "capacity-conf") {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    for (const auto& [name, text] : files) std::ofstream(path_ / name) << text;
  }
  ~ConfDirectory() { std::filesystem::remove_all(path_); }
  ConfDirectory(const ConfDirectory&) = delete;
  ConfDirectory& operator=(const ConfDirectory&) = delete;
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string Property(const std::string& name, const std::string& value) {
  return "<property><name>yarn.scheduler.capacity." + name + "</name><value>" + value + "</value></property>";
}

TEST(RmSettingsTest, ACapacitySchedulersFileAloneChoosesItsProfile) {
  const std::string file = "<configuration>" + Property("root.queues", "a,b") + Property("root.a.capacity", "30") +
                           Property("root.b.capacity", "70") + Property("root.b.capacty", "70") + "</configuration>";
  const ConfDirectory directory({{"capacity-scheduler.xml", file}});
  const auto read = ReadRmSettings(config::Settings(), directory.path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->manager.profile, "yarn-capacity");
  EXPECT_EQ(read->manager.hadoop_scheduler, "CapacityScheduler");
  EXPECT_EQ(read->profile_because, directory.path() + " has a capacity-scheduler.xml and no fair-scheduler.xml");
  EXPECT_FALSE(read->watches_queues);
  EXPECT_THAT(read->warnings, testing::Contains(testing::HasSubstr("root.b.capacty is not known")));
  const auto scheduler = read->manager.make_scheduler(1);
  ASSERT_TRUE(scheduler.ok());
  for (const scheduler::QueueView& queue : (*scheduler)->GetQueues().queues) {
    ASSERT_TRUE(queue.capacity.has_value());
    if (queue.name == "root.a") {
      EXPECT_FLOAT_EQ(queue.capacity->partitions.at("").share, 0.3F);
    }
  }
}

TEST(RmSettingsTest, TheSchedulersClassChoosesAndTheOwnKeyGoesFirst) {
  const std::string capacity = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler";
  config::HadoopConf conf;
  EXPECT_EQ(ChooseProfile(conf, "").name, "fairlead");
  conf.Set("yarn.resourcemanager.scheduler.class", capacity);
  EXPECT_EQ(ChooseProfile(conf, "").name, "yarn-capacity");
  EXPECT_EQ(ChooseProfile(conf, "").because, "yarn.resourcemanager.scheduler.class is " + capacity);
  conf.Set("fairlead.scheduler.profile", "tdw");
  EXPECT_EQ(ChooseProfile(conf, "").name, "tdw");
  EXPECT_TRUE(conf.errors().empty());
  config::HadoopConf other;
  other.Set("yarn.resourcemanager.scheduler.class", "org.example.Mine");
  ChooseProfile(other, "");
  EXPECT_THAT(other.ErrorText(), testing::HasSubstr("org.example.Mine is not supported"));
}

TEST(RmSettingsTest, QueuesThatHadoopRefusesAreRefusedAtTheStart) {
  const ConfDirectory directory(
      {{"capacity-scheduler.xml", "<configuration>" + Property("root.queues", "a,b") +
                                      Property("root.a.capacity", "30") + Property("root.b.capacity", "60") +
                                      "</configuration>"}});
  const auto read = ReadRmSettings(config::Settings(), directory.path());
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, testing::HasSubstr("the queues are refused: "));
  const ConfDirectory lives({{"capacity-scheduler.xml",
                              "<configuration>" + Property("root.queues", "a") + Property("root.a.capacity", "100") +
                                  Property("root.a.maximum-application-lifetime", "10") +
                                  Property("root.a.default-application-lifetime", "20") + "</configuration>"}});
  EXPECT_THAT(ReadRmSettings(config::Settings(), lives.path()).error().message,
              testing::HasSubstr("Default lifetime 20 can't exceed maximum lifetime 10"));
}

/// A store that holds what `yarn schedulerconf` made of the queues.
class ConfStore final : public env::Store {
 public:
  void Commit(std::vector<env::Row>, std::function<void(env::CommitStatus)>) override { FAIL() << "only read"; }
  base::Result<std::vector<env::Row>> Load(const std::string& table) override {
    if (table != process::rm::kSchedulerConfTable) return std::vector<env::Row>{};
    const process::rm::SchedulerConfRecord record{
        3, {{"yarn.scheduler.capacity.root.queues", "kept"}, {"yarn.scheduler.capacity.root.kept.capacity", "100"}}};
    return std::vector<env::Row>{{table, "all", base::EncodeStored(record)}};
  }
  std::string Name() const override { return "a store"; }
};

constexpr char kStoreClass[] = "yarn.scheduler.configuration.store.class";

TEST(RmSettingsTest, StoredQueuesGoBeforeTheFilesWhereAStoreKeepsThem) {
  const ConfDirectory directory(
      {{"capacity-scheduler.xml",
        "<configuration>" + Property("root.queues", "a") + Property("root.a.capacity", "100") + "</configuration>"}});
  ConfStore store;
  const auto queue = [&](const char* store_class, env::Store* from) {
    config::Settings settings;
    if (store_class) settings.conf.Set(kStoreClass, store_class);
    const auto read = ReadRmSettings(settings, directory.path(), from);
    EXPECT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->manager.scheduler_conf.has_value(), store_class && std::string_view(store_class) != "file");
    return read->manager.core.queues.queues.back().name;
  };
  for (const char* none : {static_cast<const char*>(nullptr), "file", "memory"})
    EXPECT_EQ(queue(none, &store), "root.a");
  for (const char* kept : {"leveldb", "zk", "fs"}) {
    EXPECT_EQ(queue(kept, nullptr), "root.a");
    EXPECT_EQ(queue(kept, &store), "root.kept");
  }
}

constexpr char kRuleOfAnn[] =
    R"({"rules": [{"type": "user", "matches": "ann", "policy": "custom", "customPlacement": "root.a"}]})";

/// A capacity-scheduler.xml whose mapping rules stand in a file of their own.
std::string FileWithRulesIn(const std::string& path) {
  return "<configuration>" + Property("root.queues", "a,default") + Property("root.a.capacity", "50") +
         Property("root.default.capacity", "50") + Property("root.a.capacty", "5") +
         Property("mapping-rule-format", "json") + Property("mapping-rule-json-file", path) + "</configuration>";
}

TEST(RmSettingsTest, MappingRulesOfAFileOfTheirOwnAreReadWithTheQueues) {
  const std::string rules = testing::TempDir() + "/rules-of-the-test.json";
  std::ofstream(rules) << kRuleOfAnn;
  const ConfDirectory directory({{"capacity-scheduler.xml", FileWithRulesIn(rules)}});
  const auto read = ReadRmSettings(config::Settings(), directory.path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->manager.core.queues.capacity->json_mapping.size(), 1u);
  EXPECT_THAT(
      read->warnings,
      testing::Contains(directory.path() + "/capacity-scheduler.xml: "
                                           "yarn.scheduler.capacity.root.a.capacty is not known, and has no effect"));
  std::ofstream(rules) << R"({"rules": []})";
  std::vector<std::string> warnings;
  const auto again = read->manager.read_queues(warnings);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->capacity->json_mapping.size(), 0u) << "a refresh reads them again";
  std::ofstream(rules) << " ";
  EXPECT_THAT(read->manager.read_queues(warnings).error().message, testing::HasSubstr("': the file is empty; write"));
  std::filesystem::remove(rules);
  ASSERT_EQ(::mkfifo(rules.c_str(), 0600), 0);
  EXPECT_THAT(read->manager.read_queues(warnings).error().message, testing::HasSubstr("': it is a pipe"));
  std::filesystem::remove(rules);
  const std::string told = "yarn.scheduler.capacity.mapping-rule-json-file is '" + rules + "': ";
  EXPECT_THAT(read->manager.read_queues(warnings).error().message, testing::HasSubstr(told));
  EXPECT_THAT(ReadRmSettings(config::Settings(), directory.path()).error().message, testing::HasSubstr(told));
}

TEST(RmSettingsTest, AStoreKeepsTheRulesAndNotTheFileThatHadThem) {
  const std::string rules = testing::TempDir() + "/rules-to-be-stored.json";
  std::ofstream(rules) << kRuleOfAnn;
  const ConfDirectory directory({{"capacity-scheduler.xml", FileWithRulesIn(rules)}});
  config::Settings settings;
  settings.conf.Set(kStoreClass, "memory");
  const auto read = ReadRmSettings(settings, directory.path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  const auto& keys = read->manager.scheduler_conf->start.keys;
  EXPECT_EQ(keys.at("yarn.scheduler.capacity.mapping-rule-json"), kRuleOfAnn);
  EXPECT_FALSE(keys.contains("yarn.scheduler.capacity.mapping-rule-json-file"));
  EXPECT_EQ(read->manager.core.queues.capacity->json_mapping.size(), 1u);
  std::filesystem::remove(rules);
  EXPECT_FALSE(ReadRmSettings(settings, directory.path()).ok());
}

TEST(RmSettingsTest, AStoreAndAPolicyThatNobodyKnowsAreRefused) {
  const ConfDirectory directory(
      {{"capacity-scheduler.xml",
        "<configuration>" + Property("root.queues", "a") + Property("root.a.capacity", "100") + "</configuration>"}});
  config::Settings settings;
  settings.conf.Set(kStoreClass, "db");
  EXPECT_THAT(ReadRmSettings(settings, directory.path()).error().message, testing::HasSubstr("'db' is no store"));
  settings.conf.Set(kStoreClass, "memory");
  const char* policy = "yarn.scheduler.configuration.mutation.acl-policy.class";
  settings.conf.Set(policy, "org.example.Mine");
  EXPECT_THAT(ReadRmSettings(settings, directory.path()).error().message,
              testing::HasSubstr("org.example.Mine is not supported"));
  settings.conf.Set(policy,
                    "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.conf."
                    "QueueAdminConfigurationMutationACLPolicy");
  const auto read = ReadRmSettings(settings, directory.path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->manager.scheduler_conf->queue_admins);
}

TEST(RmSettingsTest, AMisspeltKeyIsToldWithTheOneThatIsMeant) {
  config::Settings settings;
  settings.conf.Set("fairlead.scheduler.node-ordr", "pack");
  settings.conf.Set("yarn.resourcemanger.hostname", "h");
  settings.conf.Set("yarn.of-another-program", "1");
  settings.conf.Set("yarn.node-labels.exclusive-enforced-partitions", "fast");
  const auto read = ReadRmSettings(settings, "");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(read->warnings,
              testing::ElementsAre("fairlead.scheduler.node-ordr has no effect on this resource manager with profile "
                                   "fairlead; did you mean 'fairlead.scheduler.node-order'?",
                                   "yarn.node-labels.exclusive-enforced-partitions has no effect on this resource "
                                   "manager with profile fairlead",
                                   "yarn.resourcemanger.hostname has no effect on this resource manager with profile "
                                   "fairlead; did you mean 'yarn.resourcemanager.hostname'?"));
}

/// Processor time that so many unknown keys take.
double SecondsFor(int keys, std::vector<std::string>& warnings) {
  config::Settings settings;
  std::string text = "<configuration>";
  for (int i = 0; i < keys; ++i) {
    const std::string key =
        (i % 2 == 0 ? "yarn.resourcemanager.no-such-key-" : "yarn.else.no-such-") + std::to_string(i);
    text += "<property><name>" + key + "</name><value>1</value></property>";
  }
  const auto read_file = [](const std::string&) { return base::Error{"", ENOENT}; };
  const std::clock_t began = std::clock();
  EXPECT_TRUE(settings.conf.AddXml("yarn-site.xml", text + "</configuration>", read_file).ok());
  const auto read = ReadRmSettings(settings, "");
  const double took = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  EXPECT_TRUE(read.ok()) << read.error().message;
  if (read.ok()) warnings = read->warnings;
  return took;
}

TEST(RmSettingsTest, OfTwentyThousandUnknownKeysSomeAreTold) {
  std::vector<std::string> warnings;
  const double few = SecondsFor(2000, warnings);
  EXPECT_LT(SecondsFor(20'000, warnings), 40 * few)
      << "ten times the keys; each beside each other would take 100 times";
  ASSERT_EQ(warnings.size(), size_t{501});
  EXPECT_THAT(warnings.back(), testing::StartsWith("more keys than these 500 have no effect on"));
}

TEST(RmSettingsTest, GroupsAreThoseOfTheConfiguration) {
  config::Settings settings;
  const auto groups = [&](const std::string& user) { return ReadRmSettings(settings, "")->manager.groups_of(user); };
  const std::vector<std::string> of_root = groups("root");
  EXPECT_THAT(of_root, testing::Not(testing::IsEmpty()));
  settings.conf.Set("hadoop.user.group.static.mapping.overrides", " ann = staff , dev ;bob=; root=wheel");
  EXPECT_THAT(groups("ann"), testing::ElementsAre("staff", "dev"));
  EXPECT_THAT(groups("bob"), testing::IsEmpty());
  EXPECT_THAT(groups("root"), testing::ElementsAre("wheel"));
  settings.conf.Set("hadoop.user.group.static.mapping.overrides", "ann=staff");
  EXPECT_EQ(groups("root"), of_root);
  settings.conf.Set("hadoop.security.group.mapping", "org.apache.hadoop.security.NullGroupsMapping");
  EXPECT_THAT(groups("root"), testing::IsEmpty());
  EXPECT_THAT(groups("ann"), testing::ElementsAre("staff"));
}

TEST(RmSettingsTest, GroupsThatCannotBeAskedForAreRefused) {
  config::Settings settings;
  settings.conf.Set("hadoop.security.group.mapping", "org.apache.hadoop.security.LdapGroupsMapping");
  settings.conf.Set("hadoop.user.group.static.mapping.overrides", "ann;bob=staff");
  const auto refused = ReadRmSettings(settings, "");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("LdapGroupsMapping is not supported"));
  EXPECT_THAT(refused.error().message, testing::HasSubstr("'ann' names no user and his groups"));
}

TEST(RmSettingsTest, WhoMayActForOthersAndThePolicyAreRead) {
  config::Settings settings;
  settings.conf.Set("hadoop.proxyuser.hue.hosts", "127.0.0.0/8");
  settings.conf.Set("hadoop.proxyuser.hue.groups", "*");
  settings.conf.Set("hadoop.security.authorization", "true");
  settings.conf.Set("security.applicationclient.protocol.acl", "hue");
  const auto read = ReadRmSettings(settings, "");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(read->warnings, testing::IsEmpty());
  const process::rm::AdmissionRules& rules = read->manager.security.admission.rules;
  EXPECT_TRUE(rules.proxies.Judge({"hue", "hue", "bob", "bob", {}, "127.0.0.1"}).ok());
  ASSERT_TRUE(rules.policy.has_value());
  EXPECT_FALSE(
      rules.policy->Judge({wire::yarn::kApplicationClientProtocol, "bob", "bob (auth:SIMPLE)", {}, "127.0.0.1"}).ok());
  const auto refused = ReadRmSettings(settings, "/nowhere");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("/nowhere/hadoop-policy.xml"));
}

TEST(RmSettingsTest, WithoutRecoveryTheManagerAloneWarnsAndOneOfSeveralIsRefused) {
  config::Settings settings;
  const std::string key = "yarn.resourcemanager.recovery.enabled";
  settings.conf.Set(key, "false");
  const auto alone = ReadRmSettings(settings, "");
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  EXPECT_FALSE(alone->manager.recovery);
  EXPECT_THAT(alone->warnings, testing::Contains(testing::StartsWith(key + " is false")));
  settings.conf.Set("yarn.resourcemanager.ha.enabled", "true");
  settings.conf.Set("yarn.resourcemanager.ha.rm-ids", "rm1,rm2");
  const auto member = ReadRmSettings(settings, "");
  ASSERT_FALSE(member.ok());
  EXPECT_THAT(member.error().message, testing::HasSubstr(key + ": with yarn.resourcemanager.ha.enabled"));
}

TEST(RmSettingsTest, AnAclOfZooKeeperWithoutAnIdentityIsRefused) {
  config::Settings settings;
  for (const auto& [key, value] : std::map<std::string, std::string>{{"yarn.resourcemanager.ha.enabled", "true"},
                                                                     {"yarn.resourcemanager.ha.rm-ids", "rm1,rm2"},
                                                                     {"yarn.resourcemanager.ha.id", "rm1"},
                                                                     {"yarn.resourcemanager.hostname.rm1", "h1"},
                                                                     {"yarn.resourcemanager.hostname.rm2", "h2"},
                                                                     {"yarn.resourcemanager.cluster-id", "c"},
                                                                     {"hadoop.zk.address", "z:2181"},
                                                                     {"hadoop.zk.acl", "sasl:yarn:rwcda"}}) {
    settings.conf.Set(key, value);
  }
  const auto refused = ReadRmSettings(settings, "");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message.find("command line: hadoop.zk.acl: without an identity"), 0)
      << refused.error().message;
  settings.conf.Set("hadoop.zk.auth", "digest:yarn:secret");
  const auto read = ReadRmSettings(settings, "");
  EXPECT_TRUE(read.ok()) << read.error().message;
  settings.conf.Set("hadoop.zk.auth", "");
  settings.conf.Set("hadoop.zk.acl", "world:anyone:rwcda");
  EXPECT_TRUE(ReadRmSettings(settings, "").ok());
}

std::vector<std::string> WarningsOf(const std::map<std::string, std::string>& keys) {
  config::Settings settings;
  for (const auto& [key, value] : keys) settings.conf.Set(key, value);
  const auto read = ReadRmSettings(settings, "");
  EXPECT_TRUE(read.ok()) << read.error().message;
  return read.ok() ? read->warnings : std::vector<std::string>{};
}

TEST(RmSettingsTest, KeysOfAnotherProfileAreTold) {
  EXPECT_THAT(WarningsOf({{"fairlead.scheduler.profile", "tdw"},
                          {"fairlead.scheduler.wishes", "small-jobs"},
                          {"fairlead.scheduler.overcommit.percent", "50"},
                          {"fairlead.scheduler.tdw.round-limits", "10"}}),
              testing::ElementsAre(
                  "fairlead.scheduler.overcommit.percent has no effect on this resource manager with profile tdw",
                  "fairlead.scheduler.tdw.round-limits has no effect on this resource manager with profile tdw; did "
                  "you mean 'fairlead.scheduler.tdw.round-limit'?",
                  "fairlead.scheduler.wishes has no effect on this resource manager with profile tdw"));
}

TEST(RmSettingsTest, WishesWithoutWhatTheyNeedAreTold) {
  EXPECT_THAT(
      WarningsOf({{"fairlead.scheduler.wishes", "park-masters,learned-use"}}),
      testing::ElementsAre("fairlead.scheduler.wishes: park-masters has no effect without small-jobs",
                           "fairlead.scheduler.wishes: learned-use only learns without measured-load or overcommit"));
  EXPECT_THAT(WarningsOf({{"fairlead.scheduler.wishes", "all"}}), testing::IsEmpty());
}

TEST(RmSettingsTest, AddressesThatCannotBeListenedAtAreRefused) {
  config::Settings settings;
  settings.conf.Set("yarn.resourcemanager.address", "127.0.0.1:8088");
  settings.conf.Set("yarn.resourcemanager.webapp.address", "127.0.0.1:8088");
  settings.conf.Set("yarn.resourcemanager.admin.address", "${x}:1");
  settings.conf.Set("x", "${y}");
  settings.conf.Set("y", "${x}");
  const auto read = ReadRmSettings(settings, "");
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, testing::HasSubstr("this is yarn.resourcemanager.address, too"));
  EXPECT_THAT(read.error().message, testing::HasSubstr("yarn.resourcemanager.admin.address"));
}

config::Settings TwoManagers() {
  config::Settings settings;
  for (const auto& [key, value] : std::map<std::string, std::string>{{"yarn.resourcemanager.ha.enabled", "true"},
                                                                     {"yarn.resourcemanager.ha.rm-ids", "rm1,rm2"},
                                                                     {"yarn.resourcemanager.ha.id", "rm2"},
                                                                     {"yarn.resourcemanager.cluster-id", "c"},
                                                                     {"yarn.resourcemanager.hostname.rm1", "h1"},
                                                                     {"yarn.resourcemanager.hostname.rm2", "h2"},
                                                                     {"yarn.resourcemanager.admin.address.rm2", "h3:1"},
                                                                     {"hadoop.zk.address", "z:2181"},
                                                                     {"hadoop.zk.auth", "digest:u:p:q"},
                                                                     {"fairlead.rm.state-dir", "/s"}}) {
    settings.conf.Set(key, value);
  }
  return settings;
}

TEST(RmSettingsTest, OneOfTwoManagersHasItsOwnAddresses) {
  const auto settings = ReadRmSettings(TwoManagers(), "");
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(settings->manager.ports.client.ToString(), "h2:8032");
  EXPECT_EQ(settings->manager.ports.admin.ToString(), "h3:1");
  EXPECT_EQ(settings->state_directory, "/s/rm2");
  ASSERT_TRUE(settings->ha.has_value());
  EXPECT_EQ(settings->ha->admin.at("rm1").ToString(), "h1:8033");
  EXPECT_EQ(settings->ha->web.at("rm2").ToString(), "h2:8088");
  EXPECT_EQ(settings->ha->elector.root, "/fairlead/c");
  EXPECT_EQ(settings->ha->elector.identity, "u:p:q");
  EXPECT_EQ(settings->ha->elector.timeout, base::Duration::Seconds(2));
}

TEST(RmSettingsTest, AllThatIsWrongIsToldAtOnce) {
  config::Settings settings = TwoManagers();
  settings.conf.Set("yarn.resourcemanager.cluster-id", "a/b");
  settings.conf.Set("yarn.http.policy", "HTTPS_ONLY");
  settings.conf.Set("yarn.resourcemanager.address", "nonsense:x");
  settings.conf.Set("fairlead.scheduler.profile", "fastest");
  const auto read = ReadRmSettings(settings, "");
  ASSERT_FALSE(read.ok());
  const std::string& told = read.error().message;
  for (const char* key :
       {"cluster-id", "yarn.http.policy", "yarn.resourcemanager.address", "fairlead.scheduler.profile"}) {
    EXPECT_THAT(told, testing::HasSubstr(key));
  }
  EXPECT_EQ(std::ranges::count(told, '\n'), 3) << told;
}

TEST(RmSettingsTest, WhatManagersCannotShareIsToldAtOnceAlsoWhereNobodyKnowsWhoRunsHere) {
  config::Settings settings = TwoManagers();
  const std::map<std::string, std::string> wrong{
      {"yarn.resourcemanager.ha.id", "rm9"},
      {"yarn.resourcemanager.admin.address.rm2", "h2:x"},
      {"yarn.resourcemanager.store.class", "FileSystemRMStateStore"},
      {"yarn.resourcemanager.recovery.enabled", "false"},
      {"yarn.resourcemanager.ha.automatic-failover.enabled", "false"},
      {"yarn.resourcemanager.cluster-id", "a/b"},
      {"fairlead.ha.zookeeper-path", "fairlead"},
      {"yarn.resourcemanager.zk-timeout-ms", "100"},
      {"yarn.resourcemanager.zk-auth", "sasl:u"},
  };
  int line = 0;
  for (const auto& [key, value] : wrong) settings.conf.Set(key, value, {"yarn-site.xml", ++line, 5});
  settings.conf.Set("yarn.resourcemanager.am.max-attempts", "two");
  settings.conf.Set("yarn.resourcemanager.nosuch", "1");
  std::vector<std::string> warnings;
  const auto read = ReadRmSettings(settings, "", nullptr, &warnings);
  ASSERT_FALSE(read.ok());
  line = 0;
  for (const auto& [key, value] : wrong) {
    EXPECT_THAT(read.error().message,
                testing::HasSubstr("yarn-site.xml:" + std::to_string(++line) + ":5: " + key + ": "));
  }
  EXPECT_THAT(read.error().message, testing::HasSubstr("am.max-attempts: 'two'"));
  EXPECT_THAT(warnings, testing::Contains(testing::StartsWith("yarn.resourcemanager.nosuch has no effect")));
}

TEST(RmSettingsTest, AllValuesOfACapacitySchedulersFileThatAreWrongAreTold) {
  const ConfDirectory directory(
      {{"capacity-scheduler.xml",
        "<configuration>\n" + Property("root.queues", "a,b") + "\n" + Property("root.a.capacity", "fifty") + "\n" +
            Property("root.b.capacity", "40") + "\n" + Property("root.b.state", "PAUSED") + "\n" +
            Property("root.b.maximum-applications", "viele") + "\n" + Property("root.unlisted.capacity", "much") +
            "\n" + Property("node-locality-delay", "some") + "</configuration>"}});
  const auto read = ReadRmSettings(config::Settings(), directory.path());
  ASSERT_FALSE(read.ok());
  const std::string prefix = "yarn.scheduler.capacity.";
  const std::string file = directory.path() + "/capacity-scheduler.xml:";
  for (const std::string& told :
       {file + "3:1: For input string: \"fifty\"; " + prefix + "root.a.capacity is 'fifty'",
        file + "5:1: Invalid queue state configuration. We can only use RUNNING or STOPPED. " + prefix +
            "root.b.state is",
        file + "6:1: For input string: \"viele\"; " + prefix + "root.b.maximum-applications is 'viele'",
        file + "8:1: For input string: \"some\"; " + prefix + "node-locality-delay is 'some'"}) {
    EXPECT_THAT(read.error().message, testing::HasSubstr(told));
  }
  EXPECT_EQ(std::ranges::count(read.error().message, '\n'), 3) << read.error().message;
}

TEST(RmSettingsTest, FaultsOfQueuesAndOfRulesAreToldTogether) {
  const auto refusals = [](const std::string& properties) {
    const ConfDirectory directory(
        {{"capacity-scheduler.xml", "<configuration>\n" + Property("root.queues", "a,b") +
                                        Property("root.a.capacity", "50") + properties + "</configuration>"}});
    const auto read = ReadRmSettings(config::Settings(), directory.path());
    EXPECT_FALSE(read.ok());
    return read.ok() ? "" : read.error().message;
  };
  using testing::AllOf;
  using testing::HasSubstr;
  const std::string b = Property("root.b.capacity", "40");
  const std::string rule = Property("queue-mappings", "u:ann:root.nosuch");
  const char* sum = "Illegal capacity sum of 0.9";
  const char* target = "'nosuch'";
  EXPECT_THAT(refusals(b), AllOf(HasSubstr(sum), testing::Not(HasSubstr("\n"))));
  EXPECT_THAT(refusals(Property("root.b.capacity", "50") + rule),
              AllOf(HasSubstr(target), testing::Not(HasSubstr("\n"))));
  EXPECT_THAT(refusals(b + rule), AllOf(HasSubstr(sum), HasSubstr(target)));
  EXPECT_THAT(refusals(b + Property("queue-mappings", "u:ann")),
              AllOf(HasSubstr(sum), HasSubstr("Illegal queue mapping u:ann")));
  EXPECT_THAT(refusals(Property("root.b.capacity", "much") + rule),
              AllOf(HasSubstr("root.b.capacity is 'much'; write"), HasSubstr(target)));
}

TEST(RmSettingsTest, ALongSessionOfZooKeeperIsTold) {
  config::Settings settings = TwoManagers();
  const auto about = testing::Contains(testing::StartsWith("yarn.resourcemanager.zk-timeout-ms"));
  EXPECT_THAT(ReadRmSettings(settings, "")->warnings, testing::Not(about));
  settings.conf.Set("hadoop.zk.timeout-ms", "60000");
  EXPECT_THAT(ReadRmSettings(settings, "")->warnings, about);
}

TEST(RmSettingsTest, WhatTwoManagersCannotDoIsRefusedByKey) {
  const std::map<std::string, std::string> wrong{{"yarn.resourcemanager.ha.rm-ids", "rm1"},
                                                 {"yarn.resourcemanager.ha.id", "rm3"},
                                                 {"yarn.resourcemanager.cluster-id", "a/b"},
                                                 {"yarn.resourcemanager.store.class", "FileSystemRMStateStore"},
                                                 {"yarn.resourcemanager.ha.automatic-failover.enabled", "false"},
                                                 {"yarn.resourcemanager.zk-auth", "sasl:u"},
                                                 {"yarn.resourcemanager.zk-timeout-ms", "100"},
                                                 {"fairlead.ha.zookeeper-path", "fairlead"}};
  for (const auto& [key, value] : wrong) {
    config::Settings settings = TwoManagers();
    settings.conf.Set(key, value);
    const auto read = ReadRmSettings(settings, "");
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_THAT(read.error().message, testing::HasSubstr(key));
  }
}

}  // namespace
}  // namespace fairlead::shell
