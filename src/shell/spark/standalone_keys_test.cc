#include "shell/spark/standalone_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/keys_for_test.h"
#include "process/spark_master/master_json.h"
#include "shell/base/common_keys.h"
#include "shell/shuffle/keys.h"

namespace fairlead::shell {
namespace {

TEST(StandaloneKeysTest, TheDocumentHasEveryKeyWithItsDefault) {
  const std::string page = config::ConfigurationPage(FAIRLEAD_SOURCE_DIR);
  EXPECT_THAT(page, testing::HasSubstr(config::Markdown(MasterKeys())));
  EXPECT_THAT(page, testing::HasSubstr(config::Markdown(WorkerKeys())));
}

TEST(StandaloneKeysTest, EveryKeyThatIsReadHasARow) {
  const SparkProperties properties = {{"spark.authenticate", "true"},
                                      {"spark.authenticate.secret", "s"},
                                      {"spark.deploy.recoveryMode", "ZOOKEEPER"},
                                      {"spark.executor.logs.rolling.strategy", "time"},
                                      {"spark.fairlead.rest.https", "true"},
                                      {"spark.master.rest.enabled", "true"},
                                      {"spark.ssl.standalone.enabled", "true"},
                                      {"spark.ui.filters", "org.apache.spark.ui.JWSFilter"},
                                      {"spark.ui.reverseProxy", "true"},
                                      {"spark.worker.cleanup.enabled", "true"}};
  SparkKeys of_master(properties);
  (void)ReadStandaloneMasterSettings({}, {}, of_master);
  EXPECT_THAT(config::Undescribed(of_master, {"spark.", "fairlead."}, {CommonKeys(), MasterKeys()}),
              testing::IsEmpty());
  SparkKeys of_worker(properties);
  SparkWorkerOptions options;
  options.masters = "spark://127.0.0.1:7077";
  (void)ReadSparkWorkerSettings(options, {}, properties, of_worker);
  EXPECT_THAT(config::Undescribed(of_worker, {"spark.", "fairlead."}, {CommonKeys(), WorkerKeys()}),
              testing::IsEmpty());
  EXPECT_TRUE(of_worker.Asked().contains("spark.ssl.standalone.keyStore"));
}

TEST(StandaloneKeysTest, AMisspeltKeyOfTheMasterIsNamed) {
  const SparkProperties properties = {
      {"spark.deploy.recoveryTimeuot", "9"}, {"spark.deploy.recoveryTimeout", "9"}, {"spark.executor.memory", "1g"}};
  SparkKeys keys(properties);
  SparkMasterOptions options;
  options.settings.overrides = {"fairlead.spark-master.zookeeper-sesion-ms=1"};
  const auto read = ReadStandaloneMasterSettings(options, {}, keys);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(read->warnings, testing::Contains("spark.deploy.recoveryTimeuot has no effect on this Spark master"));
  EXPECT_THAT(read->warnings,
              testing::Contains("fairlead.spark-master.zookeeper-sesion-ms has no effect on this Spark master; did you "
                                "mean 'fairlead.spark-master.zookeeper-session-ms'?"));
  EXPECT_THAT(read->warnings, testing::Not(testing::Contains(testing::HasSubstr("recoveryTimeout"))));
}

TEST(StandaloneKeysTest, TheMasterSaysWhichProfileAndWishesAreOn) {
  const auto about = [](const std::string& profile, const std::string& wishes) {
    const SparkProperties none;
    SparkKeys keys(none);
    SparkMasterOptions options;
    options.profile = profile;
    if (!wishes.empty()) options.settings.overrides = {"fairlead.scheduler.wishes=" + wishes};
    const auto read = ReadStandaloneMasterSettings(options, {}, keys);
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
    return read.ok() ? process::spark_master::AboutJson({"4.0", "", true, read->profile, read->wishes}) : "";
  };
  EXPECT_THAT(about("", ""), testing::AllOf(testing::HasSubstr(R"("profile": "spark-standalone")"),
                                            testing::HasSubstr(R"("wishes": "none")")));
  EXPECT_THAT(about("fairlead", ""), testing::AllOf(testing::HasSubstr(R"("profile": "fairlead")"),
                                                    testing::HasSubstr(R"("wishes": "none")")));
  EXPECT_THAT(about("fairlead", "small-jobs"), testing::HasSubstr(R"("wishes": "small-jobs")"));
  EXPECT_THAT(about("fairlead", "measured-load,overcommit"), testing::HasSubstr(R"("wishes": "measured-load")"));
}

TEST(StandaloneKeysTest, ValuesReachTheirFields) {
  const SparkProperties properties = {{"spark.deploy.spreadOut", "false"},
                                      {"spark.deploy.spreadOutApps", "TRUE"},
                                      {"spark.deploy.appNumberModulo", "2000"},
                                      {"spark.deploy.workerSelectionPolicy", "MEMORY_FREE_ASC"},
                                      {"spark.worker.timeout", "2min"},
                                      {"spark.master.ui.decommission.allow.mode", "DENY"},
                                      {"spark.master.rest.maxRequestBodySize", "1m"}};
  SparkKeys keys(properties);
  StandaloneMasterSettings of4;
  ReadMasterKeys(keys, true, of4);
  ASSERT_EQ(keys.error(), "");
  EXPECT_TRUE(of4.cluster.scheduling.spread_out_apps) << "the second key goes before the first";
  EXPECT_EQ(of4.cluster.ids.application_numbers, 2000u);
  EXPECT_EQ(of4.cluster.scheduling.worker_policy, scheduler::standalone::WorkerPolicy::kMemoryFreeAsc);
  EXPECT_EQ(of4.cluster.worker_timeout, base::Duration::Seconds(120));
  EXPECT_EQ(of4.cluster.recovery_timeout, base::Duration::Seconds(120)) << "as the worker's";
  EXPECT_EQ(of4.orders.decommission_from, process::spark_master::DecommissionFrom::kNobody);
  EXPECT_EQ(of4.rest_limits.body_bytes_max, 1u << 20);
  StandaloneMasterSettings of3;
  ReadMasterKeys(keys, false, of3);
  EXPECT_EQ(of3.cluster.ids.application_numbers, UINT32_MAX) << "3.5 has no such key";
  EXPECT_EQ(of3.cluster.scheduling.worker_policy, scheduler::standalone::WorkerPolicy::kCoresFreeDescUntied);
}

TEST(StandaloneKeysTest, AValueOutOfItsRangeNamesTheKey) {
  const auto error = [](const char* key, const char* value) {
    const SparkProperties properties = {{key, value}};
    SparkKeys keys(properties);
    StandaloneMasterSettings settings;
    ReadMasterKeys(keys, true, settings);
    return keys.error();
  };
  EXPECT_EQ(error("spark.deploy.defaultCores", "0"), "spark.deploy.defaultCores: 0 is no number from 1 to 2147483647");
  EXPECT_EQ(error("spark.worker.timeout", "9999999999999d"),
            "spark.worker.timeout: '9999999999999d' is not a number with a unit");
  EXPECT_EQ(error("spark.master.rest.maxRequestBodySize", "101m"),
            "spark.master.rest.maxRequestBodySize: write 1 to 104857600");
  EXPECT_EQ(error("spark.ui.killEnabled", "yes"), "spark.ui.killEnabled: yes is neither true nor false");
}

}  // namespace
}  // namespace fairlead::shell
