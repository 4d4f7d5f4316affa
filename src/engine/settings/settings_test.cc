#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engine/settings/job_settings.h"
#include "engine/settings/pools_file.h"
#include "engine/settings/spark_settings.h"
#include "wire/hadoop_rpc/base64.h"

namespace fairlead::engine {
namespace {

using base::Duration;

std::string ErrorOf(const std::map<std::string, std::string>& settings) {
  tasks::Config config;
  const base::Status set = ApplySparkSettings(settings, config);
  return set.ok() ? "" : set.error().message;
}

TEST(SparkSettings, WaitsOfALevelGoAboveTheCommonOne) {
  tasks::Config config;
  ASSERT_TRUE(ApplySparkSettings({{"spark.locality.wait", "1500"}, {"spark.locality.wait.node", "2min"}}, config).ok());
  EXPECT_EQ(config.locality.wait_process, Duration::Millis(1500));
  EXPECT_EQ(config.locality.wait_node, Duration::Seconds(120));
  EXPECT_EQ(config.locality.wait_rack, Duration::Millis(1500));
}

TEST(SparkSettings, UnitsAreSparks) {
  tasks::Config config;
  const std::map<std::string, std::string> settings = {
      {"spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout", "30"},  // seconds
      {"spark.excludeOnFailure.timeout", "1h"},
      {"spark.speculation.interval", "250us"},
      {"spark.speculation.task.duration.threshold", "1d"}};
  ASSERT_TRUE(ApplySparkSettings(settings, config).ok());
  EXPECT_EQ(config.exclusion.unschedulable_timeout, Duration::Seconds(30));
  EXPECT_EQ(config.exclusion.timeout, Duration::Seconds(3600));
  EXPECT_EQ(config.speculation.interval.ns, 250'000);
  EXPECT_EQ(config.speculation.task_duration_threshold, Duration::Seconds(86400));
}

TEST(SparkSettings, TheRestIsReadAsWell) {
  tasks::Config config;
  const std::map<std::string, std::string> settings = {{"spark.scheduler.mode", "fair"},
                                                       {"spark.speculation", "TRUE"},
                                                       {"spark.speculation.quantile", "0.5"},
                                                       {"spark.speculation.multiplier", "3"},
                                                       {"spark.excludeOnFailure.enabled", "true"},
                                                       {"spark.task.maxFailures", "3"},
                                                       {"spark.shuffle.reduceLocality.enabled", "false"}};
  ASSERT_TRUE(ApplySparkSettings(settings, config).ok());
  EXPECT_EQ(config.mode, tasks::PoolMode::kFair);
  EXPECT_TRUE(config.speculation.enabled);
  EXPECT_EQ(config.speculation.quantile, 0.5);
  EXPECT_EQ(config.speculation.multiplier, 3);
  EXPECT_TRUE(config.exclusion.enabled);
  EXPECT_EQ(config.task_max_failures, 3);
  EXPECT_FALSE(config.reduce_locality);
}

TEST(SparkSettings, ShufflesAreMergedWhenItPaysUnlessTheSettingSaysOtherwise) {
  JobSettings settings;
  EXPECT_EQ(MakeMergeWhen(settings).value(), tasks::MergeWhen::kWhenItPays);
  for (const auto& [text, when] : std::map<std::string, tasks::MergeWhen>{{"auto", tasks::MergeWhen::kWhenItPays},
                                                                          {"on", tasks::MergeWhen::kAlways},
                                                                          {"off", tasks::MergeWhen::kNever}}) {
    settings.spark["fairlead.shuffle.merge"] = text;
    EXPECT_EQ(MakeMergeWhen(settings).value(), when) << text;
  }
  EXPECT_EQ(ErrorOf({{"fairlead.shuffle.merge", "true"}}), "fairlead.shuffle.merge is 'true': write auto, on or off");
}

TEST(SparkSettings, WhatIsWrongIsRefusedByNameAndChangesNothing) {
  const std::pair<std::map<std::string, std::string>, std::string> cases[] = {
      {{{"spark.locality.wiat", "1s"}}, "spark.locality.wiat: no such setting; did you mean 'spark.locality.wait'?"},
      {{{"spark.executor.cores", "2"}}, "spark.executor.cores is the option --executor-cores of `fairlead submit`"},
      {{{"spark.locality.wait", "3 s"}}, "spark.locality.wait is '3 s': write a time such as 3s, 500ms or 1min"},
      {{{"spark.locality.wait", "-1s"}}, "spark.locality.wait is '-1s': write a time such as 3s, 500ms or 1min"},
      {{{"spark.locality.wait", "99999999999999d"}},
       "spark.locality.wait is '99999999999999d': write a time such as 3s, 500ms or 1min"},
      {{{"spark.scheduler.mode", "FAIRR"}}, "spark.scheduler.mode is 'FAIRR': write FIFO or FAIR"},
      {{{"spark.task.maxFailures", "0"}}, "spark.task.maxFailures is '0': write a whole number of at least 1"},
      {{{"spark.speculation", "1"}}, "spark.speculation is '1': write true or false"},
      {{{"spark.speculation.quantile", "1.5"}},
       "spark.speculation.quantile is '1.5': write a number of at least 0 and at most 1"},
      {{{"spark.speculation.multiplier", "nan"}},
       "spark.speculation.multiplier is 'nan': write a number of at least 0"},
      {{{"spark.excludeOnFailure.enabled", "true"}, {"spark.task.maxFailures", "2"}},
       "spark.excludeOnFailure.task.maxTaskAttemptsPerNode is 2, which must be less than spark.task.maxFailures, 2: "
       "else "
       "one bad node fails the job"},
  };
  for (const auto& [settings, message] : cases) EXPECT_EQ(ErrorOf(settings), message);
  EXPECT_EQ(ErrorOf({{"fairlead.tls.certificate", "page.crt"}}),
            "fairlead.tls.certificate is 'page.crt': write the whole path, from / on: the file is one of the machine "
            "that runs the driver");
  EXPECT_EQ(ErrorOf({{"fairlead.tls.key", "/page.key"}}),
            "fairlead.tls.key is the key of a certificate; set fairlead.tls.certificate, too");
  EXPECT_EQ(ErrorOf({{"fairlead.tls.certificate", "/page.crt"}, {"fairlead.tls.key", "/page.key"}}), "");
  tasks::Config config;
  EXPECT_FALSE(ApplySparkSettings({{"spark.locality.wait", "1s"}, {"spark.scheduler.mode", "x"}}, config).ok());
  EXPECT_EQ(config.locality.wait_node, Duration::Seconds(3));
}

TEST(SparkSettings, TheDocumentHasEveryOneWithItsDefault) {
  std::ifstream file(FAIRLEAD_SOURCE_DIR "/docs/configuration.md");
  std::stringstream page;
  page << file.rdbuf();
  for (const base::Setting& setting : SparkSettings()) {
    const std::string row = "| `" + setting.key + "` | " + setting.fallback + " | " + setting.meaning + " |\n";
    EXPECT_NE(page.str().find(row), std::string::npos) << row;
  }
}

TEST(PoolsFile, IsSparks) {
  const auto pools = ParsePools("fair.xml", R"(<?xml version="1.0"?>
<!-- pools -->
<allocations>
  <pool name="production">
    <schedulingMode>fair</schedulingMode>
    <weight> 3 </weight>
    <minShare>2</minShare>
  </pool>
  <pool name="test"/>
</allocations>)");
  ASSERT_TRUE(pools.ok()) << pools.error().message;
  ASSERT_EQ(pools->size(), 2u);
  EXPECT_EQ((*pools)[0].name, "production");
  EXPECT_EQ((*pools)[0].mode, tasks::PoolMode::kFair);
  EXPECT_EQ((*pools)[0].weight, 3);
  EXPECT_EQ((*pools)[0].min_share, 2);
  EXPECT_EQ((*pools)[1].mode, tasks::PoolMode::kFifo);
  EXPECT_EQ((*pools)[1].weight, 1);
  EXPECT_EQ((*pools)[1].min_share, 0);
}

TEST(PoolsFile, WhatIsWrongIsRefusedWithItsPlace) {
  const auto error = [](const std::string& text) { return ParsePools("f", text).error().message; };
  EXPECT_EQ(error("<pools/>"), "f:1: the outermost element is <pools>, not <allocations>");
  EXPECT_EQ(error("<allocations>\n<pool/></allocations>"), "f:2: write <pool name=\"NAME\">, not <pool>");
  EXPECT_EQ(error("<allocations><queue name='a'/></allocations>"), "f:1: write <pool name=\"NAME\">, not <queue>");
  EXPECT_EQ(error("<allocations><pool name='a'/>\n\n<pool name='a'/></allocations>"), "f:3: pool a stands there twice");
  EXPECT_EQ(error("<allocations><pool name='a'><weight>0</weight></pool></allocations>"),
            "f:1: pool a: weight is '0': write a whole number of at least 1");
  EXPECT_EQ(error("<allocations><pool name='a'><minShare>x</minShare></pool></allocations>"),
            "f:1: pool a: minShare is 'x': write a whole number of at least 0");
  EXPECT_EQ(error("<allocations><pool name='a'><schedulingMode>LIFO</schedulingMode></pool></allocations>"),
            "f:1: pool a: schedulingMode is 'LIFO': write FIFO or FAIR");
  EXPECT_EQ(error("<allocations><pool name='a'><wieght>1</wieght></pool></allocations>"),
            "f:1: pool a: <wieght> is not known; schedulingMode, weight and minShare are");
  EXPECT_FALSE(ParsePools("f", "<allocations><pool").ok());
  EXPECT_FALSE(ParsePools("f", "").ok());
  EXPECT_EQ(error("<allocations>" + std::string(70'000, ' ') + "</allocations>"), "f is larger than 64 KiB");
}

TEST(ShuffleSecurity, IsMadeFromSettingsAndTheSecretOfDriverAndExecutors) {
  JobSettings settings;
  settings.application_id = "application_1_0001";
  EXPECT_FALSE(MakeShuffleSecurity(settings, "s")->authenticates());
  settings.spark = {{"spark.authenticate", "true"},
                    {"spark.authenticate.enableSaslEncryption", "true"},
                    {"spark.network.crypto.enabled", "true"},
                    {"spark.network.crypto.authEngineVersion", "2"},
                    {"spark.network.crypto.cipher", "AES/GCM/NoPadding"},
                    {"spark.network.crypto.saslFallback", "false"}};
  const auto security = MakeShuffleSecurity(settings, "s");
  ASSERT_TRUE(security.ok()) << security.error().message;
  EXPECT_TRUE(security->authenticates() && security->crypto && security->encrypt_sasl && !security->sasl_fallback);
  EXPECT_EQ(security->version, wire::spark_transport::AuthVersion::kV2);
  EXPECT_EQ(security->cipher, wire::spark_transport::AuthCipher::kGcm);
  EXPECT_EQ(security->app_id, "application_1_0001");
  EXPECT_EQ(security->secret, MakeShuffleSecurity(settings, "s")->secret);
  EXPECT_NE(security->secret, MakeShuffleSecurity(settings, "t")->secret);
  const auto error = [&](const char* name, const char* value) {
    settings.spark = {{name, value}};
    return MakeShuffleSecurity(settings, "s").error().message;
  };
  EXPECT_NE(error("spark.network.crypto.enabled", "true").find("spark.authenticate=true"), std::string::npos);
  EXPECT_NE(error("spark.network.crypto.cipher", "DES").find("AES/GCM/NoPadding"), std::string::npos);
  EXPECT_NE(error("spark.network.crypto.authEngineVersion", "3").find("authEngineVersion is '3'"), std::string::npos);
}

TEST(JobSettings, TravelWhole) {
  JobSettings settings;
  settings.application_id = "application_1_0001";
  settings.name = "\"word\ncount\"";
  settings.executors_max = 7;
  settings.adaptive_delay = true;
  settings.spark = {{"spark.locality.wait", "0"}};
  EXPECT_EQ(EncodeJobSettings(settings).find_first_not_of(
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
            std::string::npos);
  const auto read = DecodeJobSettings(EncodeJobSettings(settings));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(EncodeJobSettings(*read), EncodeJobSettings(settings));
  EXPECT_EQ(read->name, settings.name);
  EXPECT_EQ(read->executors_max, 7);
  EXPECT_EQ(read->executors_min, 2);
  EXPECT_EQ(read->spark, settings.spark);
}

TEST(JobSettings, AnotherReleaseIsUnderstoodUntilItUsesWhatIsNew) {
  const auto decoded = [](const std::string& json) { return DecodeJobSettings(wire::hadoop_rpc::EncodeBase64(json)); };
  EXPECT_EQ(EncodeJobSettings({}), wire::hadoop_rpc::EncodeBase64("{}"));
  EXPECT_TRUE(decoded("{}").ok());
  EXPECT_NE(decoded(R"({"executor_gpus": 1})").error().message.find("the option executor_gpus"), std::string::npos);
  EXPECT_FALSE(decoded(R"({"executors_max": "many"})").ok());
  EXPECT_FALSE(decoded("[]").ok());
  EXPECT_FALSE(DecodeJobSettings("").ok());
  EXPECT_FALSE(DecodeJobSettings("{}").ok());
}

}  // namespace
}  // namespace fairlead::engine
