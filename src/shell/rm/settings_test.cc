#include "shell/rm/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiles/profile.h"

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
  EXPECT_THAT(settings.error().message, testing::HasSubstr("write one of fairlead, yarn-fair, tdw"));
}

}  // namespace
}  // namespace fairlead::shell
