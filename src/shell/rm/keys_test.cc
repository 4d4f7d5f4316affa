#include "shell/rm/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/keys_for_test.h"
#include "profiles/profile.h"
#include "shell/base/common_keys.h"

namespace fairlead::shell {
namespace {

TEST(ManagerKeysTest, TheDocumentHasEveryKeyWithItsDefault) {
  EXPECT_THAT(config::ConfigurationPage(FAIRLEAD_SOURCE_DIR), testing::HasSubstr(config::Markdown(ManagerKeys())));
}

TEST(ManagerKeysTest, EveryKeyThatIsReadHasARow) {
  for (const char* profile : {"fairlead", "yarn-fair"}) {
    config::Settings settings;
    settings.conf.Set("fairlead.scheduler.profile", profile);
    settings.conf.Set("hadoop.security.authentication", "kerberos");
    (void)ReadRmSettings(settings, "");
    EXPECT_THAT(config::Undescribed(settings.conf, {"yarn.", "fairlead.", "hadoop.", "net."},
                                    {CommonKeys(), ManagerKeys(), profiles::Find(profile)->settings()}),
                testing::IsEmpty())
        << profile;
  }
}

TEST(ManagerKeysTest, WhatFollowsFromOtherKeys) {
  config::Settings settings;
  settings.conf.Set("yarn.resourcemanager.am.max-attempts", "5");
  settings.conf.Set("yarn.resourcemanager.max-completed-applications", "10");
  settings.conf.Set("yarn.resourcemanager.state-store.max-completed-applications", "20");
  settings.conf.Set("yarn.cluster.max-application-priority", "0");
  const auto read = ReadRmSettings(settings, "");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->manager.core.global_max_attempts, 5);
  EXPECT_EQ(read->manager.core.max_stored_apps, 10);
  EXPECT_EQ(read->manager.core.max_priority, INT32_MAX);
  EXPECT_EQ(read->journal_bytes_max, uint64_t{1} << 30);
}

TEST(ManagerKeysTest, KeysOfEachKindOfTokenRollByTheirOwn) {
  const auto read = [](const char* masters, const char* nodes, const char* containers) {
    config::Settings settings;
    settings.conf.Set("yarn.am.liveness-monitor.expiry-interval-ms", "10000");
    settings.conf.Set("yarn.nm.liveness-monitor.expiry-interval-ms", "20000");
    settings.conf.Set("yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs", masters);
    settings.conf.Set("yarn.resourcemanager.nm-tokens.master-key-rolling-interval-secs", nodes);
    settings.conf.Set("yarn.resourcemanager.container-tokens.master-key-rolling-interval-secs", containers);
    return ReadRmSettings(settings, "");
  };
  const auto settings = read("31", "61", "62");
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(settings->manager.keys.amrm_roll, base::Duration::Seconds(31));
  EXPECT_EQ(settings->manager.keys.node_roll, base::Duration::Seconds(61));
  EXPECT_EQ(settings->manager.keys.container_roll, base::Duration::Seconds(62));
  for (const auto& [masters, nodes, containers, refused] :
       {std::tuple{"30", "61", "61", "am-rm-tokens.master-key-rolling-interval-secs: 30 is too short"},
        std::tuple{"31", "60", "61", "nm-tokens.master-key-rolling-interval-secs: 60 is too short"},
        std::tuple{"31", "61", "0", "container-tokens.master-key-rolling-interval-secs: 0 is too short"}})
    EXPECT_THAT(read(masters, nodes, containers).error().message, testing::HasSubstr(refused));
}

}  // namespace
}  // namespace fairlead::shell
