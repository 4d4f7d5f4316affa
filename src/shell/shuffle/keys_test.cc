#include "shell/shuffle/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/keys_for_test.h"
#include "shell/base/common_keys.h"
#include "shell/shuffle/settings.h"

namespace fairlead::shell {
namespace {

TEST(ShuffleKeysTest, TheDocumentHasEveryKeyWithItsDefault) {
  EXPECT_THAT(config::ConfigurationPage(FAIRLEAD_SOURCE_DIR), testing::HasSubstr(config::Markdown(ShuffleKeys())));
}

TEST(ShuffleKeysTest, EveryKeyThatIsReadHasARow) {
  const SparkProperties properties = {
      {"spark.ssl.rpc.enabled", "true"}, {"spark.ssl.standalone.enabled", "true"}, {"spark.authenticate", "true"}};
  SparkKeys keys(properties);
  ShuffleOptions options;
  (void)ReadShuffleSettings(options, keys);
  EXPECT_THAT(config::Undescribed(keys, {"spark.", "fairlead."}, {CommonKeys(), ShuffleKeys()}), testing::IsEmpty());
}

}  // namespace
}  // namespace fairlead::shell
