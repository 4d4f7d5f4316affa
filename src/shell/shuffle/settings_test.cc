#include "shell/shuffle/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace fairlead::shell {
namespace {

using testing::HasSubstr;

ShuffleOptions Options(std::vector<std::string> conf = {}) {
  ShuffleOptions options;
  options.local_roots = {"/tmp"};
  options.state = "/tmp/state";
  options.conf = std::move(conf);
  return options;
}

TEST(ShuffleSettings, Properties) {
  const auto properties = ParseSparkProperties("# c\nspark.a  1\nspark.b=2 \n spark.c : 3\r\n\n!x\nspark.d");
  EXPECT_EQ(properties.at("spark.a"), "1");
  EXPECT_EQ(properties.at("spark.b"), "2");
  EXPECT_EQ(properties.at("spark.c"), "3");
  EXPECT_EQ(properties.at("spark.d"), "");
  EXPECT_EQ(properties.size(), 4u);
  EXPECT_EQ(*ParseSparkBytes("100m"), 100 << 20);
  EXPECT_EQ(*ParseSparkBytes("7"), 7);
  EXPECT_FALSE(ParseSparkBytes("7x").ok());
  EXPECT_EQ(*ParseSparkTime("2min", base::Duration::Seconds(1)), base::Duration::Seconds(120));
  EXPECT_EQ(*ParseSparkTime("7", base::Duration::Millis(1)), base::Duration::Millis(7));
  EXPECT_FALSE(ParseSparkTime("9999999999999d", base::Duration::Seconds(1)).ok()) << "more than a time can hold";
  EXPECT_FALSE(ParseSparkBytes("9999999999999", int64_t{1} << 30).ok());
}

TEST(ShuffleSettings, Defaults) {
  const auto settings = ReadShuffleSettings(Options());
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(settings->config.listen.ToString(), "127.0.0.1:7337");
  EXPECT_EQ(settings->config.core.local_roots[0], "/tmp");
  EXPECT_TRUE(settings->config.core.refuse_foreign_dirs);
  EXPECT_TRUE(settings->warnings.empty());
}

TEST(ShuffleSettings, MergingIsSetByTheKeysOfSpark) {
  const std::string manager =
      "spark.shuffle.push.server.mergedShuffleFileManagerImpl=org.apache.spark.network.shuffle.";
  EXPECT_FALSE(ReadShuffleSettings(Options())->config.merges);
  EXPECT_FALSE(ReadShuffleSettings(Options({manager + "NoOpMergedShuffleFileManager"}))->config.merges);
  const auto merges = ReadShuffleSettings(
      Options({manager + "RemoteBlockPushResolver", "spark.shuffle.push.server.minChunkSizeInMergedShuffleFile=1m",
               "spark.shuffle.push.server.ioExceptionsThresholdDuringMerge=7", "fairlead.shuffle.merge.memory=8m",
               "fairlead.shuffle.merge.partitions-per-application=9"}));
  ASSERT_TRUE(merges.ok()) << merges.error().message;
  EXPECT_TRUE(merges->config.merges);
  EXPECT_TRUE(merges->warnings.empty());
  const auto& limits = merges->config.merge_limits;
  EXPECT_EQ(limits.chunk_bytes_min, 1 << 20);
  EXPECT_EQ(limits.write_failures_max, 7);
  EXPECT_EQ(limits.memory_bytes, size_t{8} << 20);
  EXPECT_EQ(limits.partitions_per_app, 9u);
  for (const char* other : {"Other", "NoOpRemoteBlock", "MyRemoteBlockPushResolver"}) {
    const auto unknown = ReadShuffleSettings(Options({manager + other}));
    ASSERT_TRUE(unknown.ok());
    EXPECT_FALSE(unknown->config.merges) << other;
    ASSERT_EQ(unknown->warnings.size(), 1u) << other;
    EXPECT_THAT(unknown->warnings[0], HasSubstr("is unknown"));
  }
  const std::string chunk = "spark.shuffle.push.server.minChunkSizeInMergedShuffleFile=";
  EXPECT_EQ(ReadShuffleSettings(Options({chunk + "0"}))->config.merge_limits.chunk_bytes_min, 0);
  for (const char* bad : {"fairlead.shuffle.merge.memory=1k", "fairlead.shuffle.merge.memory=x",
                          "fairlead.shuffle.merge.partitions-per-application=-1",
                          "spark.shuffle.push.server.minChunkSizeInMergedShuffleFile=-1"}) {
    EXPECT_FALSE(ReadShuffleSettings(Options({bad})).ok()) << bad;
  }
}

TEST(ShuffleSettings, OnANodeSparksOwnSiteFileGoesOverYarnsForKeysOfSpark) {
  const std::string directory = testing::TempDir() + "shuffle_site_test";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  config::HadoopConf conf;
  conf.Set("spark.shuffle.service.port", "1", {"yarn-site.xml", 1, 1});
  conf.Set("spark.authenticate", "false");
  EXPECT_TRUE(AddSparkShuffleSite(directory, conf).ok()) << "it need not be there";
  const auto write = [&](const std::string& text) { std::ofstream(directory + "/spark-shuffle-site.xml") << text; };
  const auto property = [](const std::string& key, const std::string& value) {
    return "<property><name>" + key + "</name><value>" + value + "</value></property>";
  };
  write("<configuration>" + property("spark.shuffle.service.port", "2") + property("spark.authenticate", "true") +
        property("yarn.nodemanager.hostname", "n") + "</configuration>");
  EXPECT_TRUE(AddSparkShuffleSite(directory, conf).ok());
  EXPECT_EQ(conf.String("spark.shuffle.service.port"), "2");
  EXPECT_THAT(conf.OriginOf("spark.shuffle.service.port").file, HasSubstr("spark-shuffle-site.xml"));
  EXPECT_EQ(conf.String("spark.authenticate"), "false") << "of the command line";
  EXPECT_FALSE(conf.IsSet("yarn.nodemanager.hostname"));
  write("<configuration>");
  EXPECT_THAT(AddSparkShuffleSite(directory, conf).error().message, HasSubstr("spark-shuffle-site.xml"));
}

TEST(ShuffleSettings, TlsKeysAreReadAsSparkReadsThem) {
  const auto error = [](std::vector<std::string> conf) {
    conf.emplace_back("spark.ssl.rpc.enabled=true");
    const auto settings = ReadShuffleSettings(Options(std::move(conf)));
    return settings.ok() ? std::string("accepted") : settings.error().message;
  };
  const std::string path = testing::TempDir() + "shuffle_settings_test.jks";
  std::ofstream(path) << "\xfe\xed\xfe\xed\0\0";
  EXPECT_THAT(error({}), HasSubstr("give keyStore, or privateKey and certChain"));
  EXPECT_THAT(error({"spark.authenticate=true", "spark.network.crypto.enabled=true"}),
              HasSubstr("TLS encrypts already"));
  EXPECT_THAT(error({"spark.ssl.rpc.keyStore=" + path}), HasSubstr("keytool -importkeystore"));
  EXPECT_THAT(error({"spark.ssl.rpc.keyStore=/nowhere"}), HasSubstr("spark.ssl.rpc.keyStore: cannot read /nowhere"));
  // spark.ssl.* stands for what spark.ssl.rpc.* leaves out, but only when it is enabled itself.
  EXPECT_THAT(error({"spark.ssl.keyStore=" + path}), HasSubstr("give keyStore"));
  EXPECT_THAT(error({"spark.ssl.keyStore=" + path, "spark.ssl.enabled=true"}), HasSubstr("keytool"));
  EXPECT_EQ(ReadShuffleSettings(Options({"spark.ssl.enabled=true"}))->config.tls, nullptr)
      << "rpc has a switch of its own";
}

TEST(ShuffleSettings, SparksKeys) {
  const auto settings = ReadShuffleSettings(
      Options({"spark.shuffle.service.port=1234", "spark.authenticate=true", "spark.authenticate.secret=s",
               "spark.network.crypto.enabled=true", "spark.network.crypto.authEngineVersion=2",
               "spark.network.crypto.cipher=AES/GCM/NoPadding", "spark.network.timeout=300s",
               "spark.shuffle.service.index.cache.size=64m", "spark.shuffle.io.serverThreads=2"}));
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  const auto& config = settings->config;
  EXPECT_EQ(config.listen.port, 1234);
  EXPECT_TRUE(config.session.security.crypto);
  EXPECT_EQ(config.session.security.version, wire::spark_transport::AuthVersion::kV2);
  EXPECT_EQ(config.session.security.cipher, wire::spark_transport::AuthCipher::kGcm);
  EXPECT_EQ(config.cluster_secret, "s");
  EXPECT_EQ(config.connection_idle_max, base::Duration::Seconds(300));
  EXPECT_EQ(settings->io_threads, 2);
  EXPECT_EQ(config.index_cache_bytes, 32u << 20) << "each thread has its share";
}

TEST(ShuffleSettings, AnsweringAs35TakesOneThreadUnlessTold) {
  ShuffleOptions options = Options({});
  options.answer_as = "3.5";
  EXPECT_EQ(ReadShuffleSettings(options)->io_threads, 1);
  options.io_threads = 3;
  EXPECT_EQ(ReadShuffleSettings(options)->io_threads, 3);
}

TEST(ShuffleSettings, WhatCannotBeHonouredIsRefused) {
  const auto error = [](ShuffleOptions options) {
    const auto settings = ReadShuffleSettings(options);
    return settings.ok() ? std::string("accepted") : settings.error().message;
  };
  EXPECT_THAT(error(Options({"spark.authenticate=true"})), HasSubstr("spark.authenticate.secret"));
  EXPECT_THAT(error(Options({"spark.network.crypto.authEngineVersion=3"})), HasSubstr("write 1 or 2"));
  EXPECT_THAT(error(Options({"nonsense"})), HasSubstr("spark.key=value"));
  ShuffleOptions options = Options();
  options.answer_as = "2.4";
  EXPECT_THAT(error(options), HasSubstr("3.5 or 4.3"));
  options = Options();
  options.local_roots = {"relative"};
  EXPECT_THAT(error(options), HasSubstr("absolute"));
  options.local_roots = {"/does/not/exist"};
  EXPECT_THAT(error(options), HasSubstr("create it first"));
  options.local_roots.clear();
  EXPECT_THAT(error(options), HasSubstr("--local-roots"));
}

TEST(ShuffleSettings, OffLoopbackWithoutAuthenticationWarns) {
  ShuffleOptions options = Options();
  options.bind = "0.0.0.0";
  const auto settings = ReadShuffleSettings(options);
  ASSERT_TRUE(settings.ok());
  ASSERT_EQ(settings->warnings.size(), 1u);
  EXPECT_THAT(settings->warnings[0], HasSubstr("spark.authenticate=true"));
}

TEST(ShuffleSettings, WarnsOfTheOldServicesRegistrations) {
  const std::string root = testing::TempDir() + "shuffle_settings_test";
  std::filesystem::create_directories(root + "/registeredExecutors.rdb");
  ShuffleOptions options = Options();
  options.local_roots = {root};
  const auto settings = ReadShuffleSettings(options);
  std::filesystem::remove_all(root);
  ASSERT_TRUE(settings.ok());
  ASSERT_EQ(settings->warnings.size(), 1u);
  EXPECT_THAT(settings->warnings[0], HasSubstr("drain the node"));
}

}  // namespace
}  // namespace fairlead::shell
