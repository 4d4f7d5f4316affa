#include "shell/nm/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>

#include "config/keys_for_test.h"
#include "shell/base/common_keys.h"

namespace fairlead::shell {
namespace {

TEST(NodeKeysTest, TheDocumentHasEveryKeyWithItsDefault) {
  EXPECT_THAT(config::ConfigurationPage(FAIRLEAD_SOURCE_DIR), testing::HasSubstr(config::Markdown(CommonKeys())));
  EXPECT_THAT(config::ConfigurationPage(FAIRLEAD_SOURCE_DIR), testing::HasSubstr(config::Markdown(NodeKeys())));
}

TEST(NodeKeysTest, EveryKeyThatIsReadHasARow) {
  config::Settings settings;
  settings.conf.Set("yarn.log-aggregation-enable", "true");
  settings.conf.Set("yarn.nodemanager.aux-services", "spark_shuffle");
  settings.conf.Set("yarn.resource-types", "keys-test");
  settings.conf.Set("hadoop.security.authentication", "kerberos");
  (void)ReadNmSettings(settings);
  EXPECT_THAT(config::Undescribed(settings.conf, {"yarn.", "fairlead.", "dfs.", "mapreduce.", "spark."},
                                  {CommonKeys(), NodeKeys()}),
              testing::IsEmpty());
}

TEST(NodeKeysTest, ValuesReachTheirFields) {
  config::Settings settings;
  settings.conf.Set("yarn.nodemanager.localizer.cache.target-size-mb", "3");
  settings.conf.Set("yarn.nodemanager.log.retain-seconds", "7");
  settings.conf.Set("yarn.nodemanager.sleep-delay-before-sigkill.ms", "2s");
  settings.conf.Set("yarn.nodemanager.resource-monitor.interval-ms", "500");
  settings.conf.Set("yarn.nodemanager.pmem-check-enabled", "false");
  const auto read = ReadNmSettings(settings);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->manager.core.cache_bytes_max, 3 << 20);
  EXPECT_EQ(read->manager.log_retain, base::Duration::Seconds(7));
  EXPECT_EQ(read->containers.leftover_grace, base::Duration::Seconds(2));
  EXPECT_EQ(read->containers.usage_interval, base::Duration::Millis(500));
  EXPECT_FALSE(read->containers.limit_memory);
}

TEST(NodeKeysTest, WhoWroteThatContainersOutliveARestartIsToldThatAStopEndsThem) {
  const auto told = [](const std::map<std::string, std::string>& keys) {
    config::Settings settings;
    for (const auto& [key, value] : keys) settings.conf.Set("yarn.nodemanager.recovery." + key, value);
    const auto read = ReadNmSettings(settings);
    EXPECT_TRUE(read.ok()) << read.error().message;
    return std::ranges::count_if(read->warnings, [](const std::string& warning) {
      return warning.starts_with("yarn.nodemanager.recovery.supervised is false: a stop by SIGTERM ends ");
    });
  };
  EXPECT_EQ(told({{"enabled", "true"}}), 1);
  EXPECT_EQ(told({{"enabled", "true"}, {"supervised", "true"}}), 0);
  EXPECT_EQ(told({{"enabled", "true"}, {"supervised", "false"}}), 0) << "its author decided";
  EXPECT_EQ(told({{"enabled", "false"}}), 0);
  EXPECT_EQ(told({}), 0) << "a stop of Hadoop's agents ends containers, too";
}

TEST(NodeKeysTest, LessThanNothingIsRefusedWithItsPlace) {
  config::Settings settings;
  settings.conf.Set("yarn.nodemanager.resource.memory-mb", "-5", {"yarn-site.xml", 4, 1});
  settings.conf.Set("yarn.nodemanager.resource.cpu-vcores", "-2", {"yarn-site.xml", 5, 1});
  settings.conf.Set("yarn.nodemanager.nosuch", "1");
  std::vector<std::string> warnings;
  const auto read = ReadNmSettings(settings, &warnings);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, testing::HasSubstr("yarn-site.xml:4:1: yarn.nodemanager.resource.memory-mb: '-5'"));
  EXPECT_THAT(read.error().message, testing::HasSubstr("yarn-site.xml:5:1: yarn.nodemanager.resource.cpu-vcores: "));
  EXPECT_THAT(warnings, testing::Contains(testing::StartsWith("yarn.nodemanager.nosuch has no effect")));
}

TEST(NodeKeysTest, WhichManagerRunsHereIsNoMisspelling) {
  config::Settings settings;
  settings.conf.Set("yarn.resourcemanager.ha.enabled", "true");
  settings.conf.Set("yarn.resourcemanager.ha.rm-ids", "rm1,rm2");
  settings.conf.Set("yarn.resourcemanager.ha.id", "rm2");
  settings.conf.Set("yarn.resourcemanager.ha.ids", "rm2");
  std::vector<std::string> warnings;
  (void)ReadNmSettings(settings, &warnings);
  EXPECT_THAT(warnings, testing::Contains(testing::HasSubstr("ha.ids has no effect")));
  EXPECT_THAT(warnings, testing::Not(testing::Contains(testing::HasSubstr("ha.id has"))));
}

TEST(NodeKeysTest, WhatTheYamlHasANameForIsNoMisspelling) {
  config::Settings settings;
  for (const config::YamlEntry& entry : config::YamlEntries()) settings.conf.Set(entry.key, "1");
  settings.conf.Set("yarn.resourcemanager.ha.enabled", "true");
  settings.conf.Set("yarn.resourcemanager.ha.rm-ids", "rm1,rm2");
  std::vector<std::string> warnings;
  (void)ReadNmSettings(settings, &warnings);
  EXPECT_THAT(warnings, testing::Not(testing::Contains(testing::HasSubstr("did you mean"))));
}

config::Settings WithLogs(const std::map<std::string, std::string>& keys) {
  config::Settings settings;
  settings.conf.Set("yarn.log-aggregation-enable", "true");
  for (const auto& [key, value] : keys) settings.conf.Set(key, value);
  return settings;
}

TEST(NodeKeysTest, LogsHaveAFormatAPlaceAndATime) {
  const std::string prefix = "yarn.nodemanager.log-aggregation.";
  auto read = ReadNmSettings(WithLogs({{"yarn.log-aggregation.file-formats", "Indexed,TFile"},
                                       {"yarn.log-aggregation.file-controller.Indexed.class",
                                        "org.apache.hadoop.yarn.logaggregation.filecontroller.ifile."
                                        "LogAggregationIndexedFileController"},
                                       {"yarn.log-aggregation.Indexed.remote-app-log-dir", "file:/own"},
                                       {prefix + "compression-type", "gz"},
                                       {prefix + "num-log-files-per-app", "0"},
                                       {prefix + "roll-monitoring-interval-seconds", "10"},
                                       {"yarn.log-aggregation.retain-seconds", "100"}}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->aggregate_logs);
  EXPECT_EQ(read->log_aggregation.format, LogFileFormat::kIFile);
  EXPECT_EQ(read->log_aggregation.root, "/own");
  EXPECT_EQ(read->log_aggregation.suffix, "logs-indexed");
  EXPECT_TRUE(read->log_aggregation.compress);
  EXPECT_EQ(read->log_aggregation.files_max, 30);
  EXPECT_EQ(read->manager.logs.roll_every, base::Duration::Seconds(3600)) << "Hadoop's least";
  EXPECT_THAT(read->warnings, testing::Contains(testing::HasSubstr("logs roll every 3600 seconds")));
  EXPECT_THAT(read->warnings,
              testing::Contains(testing::HasSubstr("the MapReduce history server deletes gathered logs")));

  read = ReadNmSettings(WithLogs({{prefix + "roll-monitoring-interval-seconds", "10"},
                                  {prefix + "debug-enabled", "true"},
                                  {"yarn.log-aggregation.TFile.remote-app-log-dir-suffix", "mine"}}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->manager.logs.roll_every, base::Duration::Seconds(10));
  EXPECT_EQ(read->log_aggregation.suffix, "mine");

  for (const auto& [formats, first] : {std::pair{"Mine,TFile", "Mine"}, std::pair{",", "''"}}) {
    read = ReadNmSettings(WithLogs({{"yarn.log-aggregation.file-formats", formats}}));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_FALSE(read->aggregate_logs);
    EXPECT_THAT(read->warnings,
                testing::Contains(testing::HasSubstr("file-formats " + std::string(first) + " is not supported")));
  }

  for (const char* key : {"policy.class", "compression-type"})
    EXPECT_THAT(ReadNmSettings(WithLogs({{prefix + key, "lzo"}})).error().message, testing::HasSubstr(prefix + key));
}

void UseKerberos(config::Settings& settings) {
  settings.conf.Set("hadoop.security.authentication", "kerberos");
  settings.conf.Set("yarn.resourcemanager.principal", "rm/_HOST@EXAMPLE.COM");
  settings.conf.Set("yarn.nodemanager.principal", "nm/_HOST@EXAMPLE.COM");
  settings.conf.Set("yarn.nodemanager.keytab", "/etc/nm.keytab");
}

TEST(NodeKeysTest, WithKerberosContainersRunAsTheirSubmitters) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may run containers as their users";
  config::Settings settings;
  settings.conf.Set("yarn.nodemanager.container-executor.class",
                    "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor");
  const auto open = ReadNmSettings(settings);
  ASSERT_TRUE(open.ok()) << open.error().message;
  EXPECT_EQ(open->run_as.always, "nobody");
  UseKerberos(settings);
  const auto secured = ReadNmSettings(settings);
  ASSERT_TRUE(secured.ok()) << secured.error().message;
  EXPECT_EQ(secured->run_as.always, "");
}

TEST(NodeKeysTest, WithKerberosANodeIsTheMachineWhereverItListens) {
  config::Settings settings;
  settings.conf.Set("yarn.nodemanager.address", "127.0.0.2:0");
  UseKerberos(settings);
  const auto read = ReadNmSettings(settings);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->kerberos->host, "");  // 127.0.0.2 has a name nowhere, and no key
}

TEST(NodeKeysTest, WithKerberosContainersOfOneUserAreWarnedOf) {
  config::Settings settings;
  settings.conf.Set("fairlead.nm.user", "nobody");  // where root starts it
  UseKerberos(settings);
  const auto read = ReadNmSettings(settings);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(read->warnings, testing::Contains(testing::HasSubstr("each can read the tokens of all others")));
}

TEST(NodeKeysTest, AValueOutOfItsRangeNamesTheKey) {
  config::Settings settings;
  settings.conf.Set("yarn.nodemanager.localizer.fetch.thread-count", "65");
  settings.conf.Set("yarn.nodemanager.health-checker.interval-ms", "-5");
  const auto read = ReadNmSettings(settings);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, testing::HasSubstr("yarn.nodemanager.localizer.fetch.thread-count"));
  EXPECT_THAT(read.error().message, testing::HasSubstr("at most 64"));
  EXPECT_THAT(read.error().message, testing::HasSubstr("yarn.nodemanager.health-checker.interval-ms"));
}

}  // namespace
}  // namespace fairlead::shell
