#include "shell/base/shown_configuration.h"

#include <gtest/gtest.h>

namespace fairlead::shell {
namespace {

/// The value that is shown of my.pin, which is "1${my.rest}".
std::string Shown(const std::string& sensitive) {
  config::HadoopConf conf;
  conf.Set("my.pin", "1${my.rest}", {"/etc/hadoop/yarn-site.xml", 3, 1});
  conf.Set("my.rest", "234");
  if (!sensitive.empty()) conf.Set("hadoop.security.sensitive-config-keys", sensitive);
  return ShownConfiguration(conf)->Render(true, "my.pin").value_or("");
}

TEST(ShownConfiguration, WhatIsSetIsShownUnlessTheFilesHideIt) {
  EXPECT_EQ(Shown(""), R"({"property":{"key":"my.pin","value":"1234","resource":"yarn-site.xml"}})");
  const std::string hidden = R"({"property":{"key":"my.pin","value":"<redacted>","resource":"yarn-site.xml"}})";
  EXPECT_EQ(Shown("other$,\n  ^my\\.pi\n x"), hidden);
  EXPECT_EQ(Shown("("), hidden) << "nobody knows what it would hide";
  EXPECT_NE(Shown("pin.$"), hidden);
}

TEST(ShownConfiguration, NobodyIsAnAdministratorByAName) {
  config::HadoopConf conf;
  conf.Set("hadoop.security.instrumentation.requires.admin", "true");
  EXPECT_EQ(ShownConfiguration(conf), nullptr);
}

}  // namespace
}  // namespace fairlead::shell
