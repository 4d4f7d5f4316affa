#include "shell/spark/door_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/keys_for_test.h"
#include "shell/base/common_keys.h"

namespace fairlead::shell {
namespace {

TEST(DoorSettingsTest, TheDocumentHasEveryKeyWithItsDefault) {
  EXPECT_THAT(config::ConfigurationPage(FAIRLEAD_SOURCE_DIR), testing::HasSubstr(config::Markdown(DoorKeys())));
}

TEST(DoorSettingsTest, EveryKeyThatIsReadHasARow) {
  const config::Settings source;
  (void)ReadDoorSettings({}, source);
  EXPECT_THAT(config::Undescribed(source.conf, {"yarn.", "fairlead.", "spark."}, {CommonKeys(), DoorKeys()}),
              testing::IsEmpty());
}

TEST(DoorSettingsTest, TheCommandLineGoesOverTheKeys) {
  config::Settings source;
  source.conf.Set("fairlead.spark-master.queue", "prod");
  source.conf.Set("fairlead.spark-master.port", "7100");
  source.conf.Set("fairlead.spark-master.default-cores", "3");
  source.conf.Set("hadoop.tmp.dir", "/t");
  SparkMasterOptions options;
  const auto by_keys = ReadDoorSettings(options, source);
  ASSERT_TRUE(by_keys.ok()) << by_keys.error().message;
  EXPECT_EQ(by_keys->yarn.queue, "prod");
  EXPECT_EQ(by_keys->yarn.policy.default_cores, 3);
  EXPECT_EQ(by_keys->state_directory, "/t/fairlead-spark-master-7100");
  options.queue = "adhoc";
  options.port = 0;
  options.spark_homes = {"/s"};
  const auto by_words = ReadDoorSettings(options, source);
  ASSERT_TRUE(by_words.ok()) << by_words.error().message;
  EXPECT_EQ(by_words->yarn.queue, "adhoc");
  EXPECT_EQ(by_words->master.listen.port, 0);
  EXPECT_THAT(by_words->spark_homes, testing::ElementsAre("/s"));
}

TEST(DoorSettingsTest, AMisspeltKeyIsNamedWithTheOneThatIsMeant) {
  config::Settings source;
  source.conf.Set("fairlead.spark-master.default-coers", "3");
  const auto read = ReadDoorSettings({}, source);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(
      read->warnings,
      testing::ElementsAre("fairlead.spark-master.default-coers has no effect on this Spark master; did you mean "
                           "'fairlead.spark-master.default-cores'?"));
}

}  // namespace
}  // namespace fairlead::shell
