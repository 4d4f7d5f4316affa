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

}  // namespace
}  // namespace fairlead::shell
