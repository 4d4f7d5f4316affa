#include "profiles/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/keys_for_test.h"

namespace fairlead::profiles {
namespace {

namespace ev = model::scheduler;
using testing::HasSubstr;

config::HadoopConf Conf(const std::vector<std::pair<std::string, std::string>>& keys) {
  config::HadoopConf conf;
  for (const auto& [key, value] : keys) conf.Set(key, value);
  return conf;
}

std::string ErrorOf(std::string_view name, const std::vector<std::pair<std::string, std::string>>& keys,
                    const model::QueueTree& queues = {}) {
  const auto maker = Read(name, Conf(keys), queues);
  return maker.ok() ? "" : maker.error().message;
}

TEST(ProfilesTest, NamesAreFoundAndOthersRefusedWithTheList) {
  EXPECT_EQ(Names(), (std::vector<std::string>{"fairlead", "yarn-fair", "yarn-capacity", "tdw", "spark-standalone"}));
  EXPECT_EQ(Find("capacity"), nullptr);
  EXPECT_EQ(ErrorOf("capacity", {}),
            "there is no profile \"capacity\"; write one of fairlead, yarn-fair, yarn-capacity, tdw, spark-standalone");
}

TEST(ProfilesTest, WhatAProfilePassesOverIsToldWithTheQueues) {
  model::QueueTree tree;
  for (const char* name : {"root.a", "root.b", "root.c", "root.d"}) {
    tree.queues.emplace_back().name = name;
    tree.queues.back().fair_share_preemption_timeout = base::Duration::Seconds(1);
  }
  tree.queues.front().reservable = true;
  tree.user_max_resources_default.emplace();
  using testing::ElementsAre;
  EXPECT_THAT(PassedOverIn(*Find("fairlead"), tree),
              ElementsAre("profile fairlead passes over fairSharePreemptionTimeout (root.a, root.b, root.c and 1 "
                          "more): its preemption has keys of its own, fairlead.scheduler.preemption.*",
                          "profile fairlead passes over reservation (root.a): nothing is planned ahead"));
  EXPECT_THAT(PassedOverIn(*Find("yarn-fair"), tree),
              ElementsAre("profile yarn-fair passes over maxResources of a user or group: Hadoop has none",
                          "profile yarn-fair passes over reservation (root.a): nothing is planned ahead"));
  EXPECT_THAT(PassedOverIn(*Find("tdw"), {}), ElementsAre());
  model::QueueTree lists;
  lists.queues.emplace_back().name = "root.a";
  lists.queues.back().reservation_acl.emplace();
  for (const char* name : {"fairlead", "yarn-fair", "tdw", "spark-standalone"}) {
    EXPECT_THAT(PassedOverIn(*Find(name), lists),
                ElementsAre("profile " + std::string(name) +
                            " passes over aclSubmitReservations and its like (root.a): nothing is planned ahead"));
  }
  model::QueueTree priority;
  priority.queues.emplace_back().priority = 1;
  EXPECT_THAT(PassedOverIn(*Find("fairlead"), priority),
              ElementsAre("profile fairlead passes over priority: write queue-priority to fairlead.scheduler.wishes"));
  priority.wishes.queue_priority = true;
  EXPECT_THAT(PassedOverIn(*Find("fairlead"), priority), ElementsAre());
}

/// Node, application and its master's ask, and whatever a profile needs to grant it.
std::vector<model::ContainerId> FirstGrant(scheduler::Scheduler& scheduler) {
  ev::NodeAdded node{{0}, "h", 1, "/r", model::Resources::Of(4096, 4), {}};
  ev::AppAdded app;
  app.app = {0};
  app.id = {1, 1};
  app.queue = "root.a";
  app.user = "u";
  ev::AttemptAdded attempt{{0}, 1, false};
  ev::Allocate call;
  call.app = {0};
  call.asks = {{0, -1, "*", true, model::Resources::Of(1024, 1), 1, ""}};
  std::vector<model::ContainerId> granted;
  base::Instant now{};
  const auto step = [&](const std::vector<ev::Event>& events) {
    scheduler::EffectSink effects;
    scheduler.Step(now, events, effects);
    for (const ev::Effect& effect : effects) {
      if (const auto* grant = std::get_if<ev::Granted>(&effect)) granted.push_back(grant->container);
    }
    EXPECT_EQ(scheduler.CheckInvariants(), "");
  };
  step({node, app, attempt, call});
  for (int i = 0; i < 3 && granted.empty(); ++i) {
    now = now + base::Duration::Seconds(1);
    step({ev::NodeUpdated{{0}, {}, {}}});
  }
  return granted;
}

TEST(ProfilesTest, EveryProfileGrantsAContainerThatCarriesTheEpoch) {
  for (const Profile& profile : All()) {
    SCOPED_TRACE(profile.name);
    const auto maker = Read(profile.name, config::HadoopConf(), {});
    ASSERT_TRUE(maker.ok()) << maker.error().message;
    const auto granted = FirstGrant(*(*maker)(7));
    ASSERT_EQ(granted.size(), 1u);
    EXPECT_EQ(granted[0].epoch(), 7);
  }
}

TEST(ProfilesTest, EveryKeyOfTheTableIsReadAndABadValueNamesIt) {
  for (const Profile& profile : All()) {
    for (const Setting& setting : profile.settings()) {
      EXPECT_THAT(ErrorOf(profile.name, {{setting.key, "neither"}}), HasSubstr(setting.key)) << profile.name;
    }
  }
}

TEST(ProfilesTest, TheDefaultOfTheTableCanBeWrittenDown) {
  for (const Profile& profile : All()) {
    for (const Setting& setting : profile.settings()) {
      if (setting.fallback.starts_with("as ")) continue;
      EXPECT_EQ(ErrorOf(profile.name, {{setting.key, setting.fallback}}), "") << setting.key;
    }
  }
}

TEST(ProfilesTest, ValuesOutOfRangeAreRefused) {
  EXPECT_THAT(ErrorOf("tdw", {{"fairlead.scheduler.tdw.round-limit", "0"}}), HasSubstr("at least 1"));
  EXPECT_THAT(ErrorOf("tdw", {{"fairlead.scheduler.cluster-master-share", "1001"}}), HasSubstr("at most 1000"));
  EXPECT_THAT(ErrorOf("fairlead", {{"fairlead.scheduler.node-locality-wait-ms", "-5"}}), HasSubstr("negative"));
  EXPECT_THAT(ErrorOf("fairlead", {{"fairlead.scheduler.node-order", "best"}}), HasSubstr("write spread or pack"));
  EXPECT_THAT(ErrorOf("fairlead", {{"fairlead.scheduler.wishes", "small-job"}}),
              HasSubstr("did you mean 'small-jobs'"));
  EXPECT_THAT(ErrorOf("fairlead", {{"fairlead.scheduler.overcommit.reclaim-percent", "79"}}),
              HasSubstr("write at least 80"));
  EXPECT_EQ(ErrorOf("fairlead", {{"fairlead.scheduler.overcommit.reclaim-percent", "80"}}), "");
  EXPECT_THAT(ErrorOf("yarn-fair", {{"fairlead.scheduler.yarn-fair.version", "2.7.1"}}), HasSubstr("3.3.6"));
  EXPECT_THAT(ErrorOf("yarn-fair", {{"yarn.scheduler.minimum-allocation-mb", "9000"}}), HasSubstr("minimum-alloc"));
}

TEST(ProfilesTest, WhatIsSafeIsWishedWhereNothingIsSet) {
  config::HadoopConf conf;
  EXPECT_EQ(ToString(*ReadWishes("fairlead", conf)), "small-jobs,park-masters");
  EXPECT_EQ(ToString(*ReadWishes("tdw", conf)), "none");
  conf.Set(kWishesKey, "measured-load");
  EXPECT_EQ(ToString(*ReadWishes("fairlead", conf)), "measured-load");
  conf.Set(kWishesKey, "none");
  EXPECT_EQ(ToString(*ReadWishes("fairlead", conf)), "none");
}

TEST(ProfilesTest, AQueueTreeThatAProfileCannotLoadIsRefused) {
  model::QueueTree queues;
  queues.queues.emplace_back().name = "root.a";
  queues.queues.back().policy = "roulette";
  EXPECT_THAT(ErrorOf("fairlead", {}, queues), HasSubstr("root.a"));
}

TEST(ProfileKeys, ListsOfFairnessAreReadOrRefused) {
  const auto read = [](const char* key, const std::string& value) {
    return ErrorOf("fairlead", {{key, value}}).empty();
  };
  constexpr const char* kHalfLives = "fairlead.scheduler.fairness.half-lives-ms";
  for (const char* good : {"", "0", "86400000", "604800000, 86400000,0"}) EXPECT_TRUE(read(kHalfLives, good)) << good;
  for (const char* bad : {"-1", "1d", "5,x", "99999999999999", "18446744073709551616"}) {
    EXPECT_FALSE(read(kHalfLives, bad)) << bad;
  }
  constexpr const char* kBudgets = "fairlead.scheduler.fairness.budgets";
  for (const char* good : {"", "root.a=1 vcores/1s", "root.batch=1000 vcores/7d hard, root.lab=200 memory-mb/24h"}) {
    EXPECT_TRUE(read(kBudgets, good)) << good;
  }
  for (const char* bad : {"root.a", "root.a=", "=1 vcores/1d", "root.a=0 vcores/1d", "root.a=-5 vcores/1d",
                          "root.a=1 vcores", "root.a=1 vcores/0d", "root.a=1 vcores/367d", "root.a=1 nosuch/1d",
                          "root.a=1 vcores/1d soft", "root.a=1099511627777 vcores/1d", "root.a=1/1d vcores"}) {
    EXPECT_FALSE(read(kBudgets, bad)) << bad;
  }
}

TEST(ProfileKeys, ABudgetOfAQueueThatCanNeverBeIsRefused) {
  model::QueueTree queues;
  queues.queues.emplace_back().name = "root.lab.night";
  const auto error = [&](const std::string& queue, const char* undeclared) {
    return ErrorOf("fairlead",
                   {{"fairlead.scheduler.fairness.budgets", queue + "=1 vcores/1d hard"},
                    {"yarn.scheduler.fair.allow-undeclared-pools", undeclared}},
                   queues);
  };
  for (const char* good : {"root", "root.default", "root.lab", "root.lab.night"}) {
    EXPECT_EQ(error(good, "false"), "") << good;
  }
  for (const char* bad : {"root.bal", "lab", "root.la", "root.lab.night.more"}) {
    EXPECT_THAT(error(bad, "false"), HasSubstr("there is no queue '" + std::string(bad) + "'")) << bad;
  }
  EXPECT_EQ(error("root.ann", "true"), "") << "a queue that ann's first application makes";

  queues.placement = {{"specified", false, "", {}}, {"user", false, "", {}}, {"default", true, "root.rest", {}}};
  EXPECT_EQ(error("root.rest", "true"), "");
  EXPECT_THAT(error("root.ann", "true"), HasSubstr("no rule makes it"));
  queues.placement->at(1).create = true;
  EXPECT_EQ(error("root.ann", "true"), "");
  queues.placement = {{"nestedUserQueue", false, "", {{"primaryGroup", true, "", {}}}}};
  EXPECT_EQ(error("root.staff", "true"), "") << "the nested rule makes it";
}

/// docs/configuration.md holds what `fairlead config profiles --markdown` prints.
TEST(ProfilesTest, TheDocumentHasEveryKeyWithItsDefault) {
  const std::string page = config::ConfigurationPage(FAIRLEAD_SOURCE_DIR);
  for (const Profile& profile : All()) {
    const std::string section = Section(profile);
    EXPECT_TRUE(page.find(section) != std::string::npos) << "docs/configuration.md should have\n" << section;
  }
}

}  // namespace
}  // namespace fairlead::profiles
