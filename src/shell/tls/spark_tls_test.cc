#include "shell/tls/spark_tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::shell {
namespace {

using testing::HasSubstr;

struct Read {
  std::optional<PageTls> tls;
  std::string error;
  std::vector<std::string> warnings;
};

Read ReadThese(const SparkProperties& properties, const config::HadoopConf& conf = config::HadoopConf()) {
  SparkKeys keys(properties);
  Read out;
  out.tls = ReadPageTls(keys, conf, out.warnings);
  out.error = keys.error();
  return out;
}

TEST(SparkTls, TheDaemonsOwnKeysGoBeforeThoseOfAllOfSpark) {
  EXPECT_FALSE(ReadThese({}).tls);
  const SparkProperties all = {{"spark.ssl.enabled", "true"},
                               {"spark.ssl.keyStore", "/all.jks"},
                               {"spark.ssl.keyStorePassword", "all"},
                               {"spark.ssl.keyPassword", "key"},
                               {"spark.ssl.enabledAlgorithms", "A,B"},
                               {"spark.ssl.standalone.keyStorePassword", "own"},
                               {"spark.ssl.port", "1"}};
  const Read read = ReadThese(all);
  ASSERT_TRUE(read.tls) << read.error;
  EXPECT_EQ(read.tls->files.paths, std::vector<std::string>{"/all.jks"});
  EXPECT_EQ(read.tls->files.password + "," + read.tls->files.key_password + "," + read.tls->files.enabled,
            "own,key,A,B");
  EXPECT_FALSE(read.tls->port) << "as in Spark, a port is one module's";
  SparkProperties off = all;
  off["spark.ssl.standalone.enabled"] = "false";
  EXPECT_FALSE(ReadThese(off).tls);
  // What all of Spark has counts where that is enabled itself.
  SparkProperties alone = all;
  alone["spark.ssl.enabled"] = "false";
  alone["spark.ssl.standalone.enabled"] = "true";
  EXPECT_THAT(ReadThese(alone).error, HasSubstr("spark.ssl.standalone.enabled: true needs a key and its certificate"));
}

TEST(SparkTls, FairleadsOwnKeysEnableItAndGoBeforeAStore) {
  const SparkProperties files = {{"spark.fairlead.tls.certificate", "/a.crt"},
                                 {"fairlead.tls.key", "/a.key"},
                                 {"spark.ssl.standalone.keyStore", "/b.jks"},
                                 {"spark.ssl.standalone.keyStorePassword", "b"}};
  Read read = ReadThese(files);
  ASSERT_TRUE(read.tls) << read.error;
  EXPECT_EQ(read.tls->files.paths, (std::vector<std::string>{"/a.crt", "/a.key"}));
  EXPECT_EQ(read.tls->files.password, "");
  config::HadoopConf conf;
  conf.Set("fairlead.tls.certificate", "/set.pem");
  read = ReadThese({}, conf);
  ASSERT_TRUE(read.tls) << read.error;
  EXPECT_EQ(read.tls->files.paths, std::vector<std::string>{"/set.pem"});
}

TEST(SparkTls, ItsPortIsAsSparksOne) {
  SparkProperties properties = {{"spark.fairlead.tls.certificate", "/a.pem"}};
  const PageTls beside = *ReadThese(properties).tls;
  EXPECT_EQ(beside.PortBeside(8080), 8480);
  EXPECT_EQ(beside.PortBeside(0), 0);
  EXPECT_EQ(beside.PortBeside(65500), 1388) << "Utils.userPort goes round above the privileged ones";
  properties["spark.ssl.standalone.port"] = "8443";
  EXPECT_EQ(ReadThese(properties).tls->PortBeside(8080), 8443);
  properties["spark.ssl.standalone.port"] = "70000";
  EXPECT_THAT(ReadThese(properties).error, HasSubstr("spark.ssl.standalone.port: 70000 is no number from 0 to 65535"));
}

TEST(SparkTls, WhatIsNotHonouredIsSaid) {
  SparkProperties properties = {{"spark.fairlead.tls.certificate", "/a.pem"},
                                {"spark.ssl.standalone.protocol", "TLSv1.2"}};
  EXPECT_TRUE(ReadThese(properties).warnings.empty());
  properties["spark.ssl.standalone.protocol"] = "SSLv3";
  EXPECT_THAT(ReadThese(properties).warnings, testing::ElementsAre(HasSubstr("TLS 1.2 and 1.3 are spoken")));
  properties["spark.ssl.standalone.needClientAuth"] = "true";
  const SparkProperties filled = {{"spark.ssl.standalone.enabled", "true"},
                                  {"spark.ssl.standalone.keyStore", "/a.jks"},
                                  {"spark.ssl.standalone.keyStorePassword", "${env:PASSWORD}"}};
  EXPECT_THAT(ReadThese(filled).error, HasSubstr("spark.ssl.standalone.keyStorePassword: is not filled in here"));
  EXPECT_THAT(ReadThese(properties).error, HasSubstr("spark.ssl.standalone.needClientAuth: true is not supported"));
}

std::string TrustIn(const SparkProperties& properties, const config::HadoopConf& conf = config::HadoopConf()) {
  SparkKeys keys(properties);
  const TlsFiles files = ReadPageTrust(keys, conf);
  return (files.paths.empty() ? "" : files.paths.front()) + "," + files.password + "," + files.keys.location +
         keys.error();
}

TEST(SparkTls, WhomAMasterTrustsWhosePagesItFetches) {
  SparkProperties properties;
  EXPECT_EQ(TrustIn(properties), ",,spark.ssl.standalone.trustStore") << "whom this machine trusts";
  properties = {
      {"spark.ssl.enabled", "true"}, {"spark.ssl.trustStore", "/all.jks"}, {"spark.ssl.trustStorePassword", "all"}};
  EXPECT_EQ(TrustIn(properties), "/all.jks,all,spark.ssl.trustStore");
  properties["spark.ssl.standalone.trustStore"] = "/own.jks";
  EXPECT_EQ(TrustIn(properties), "/own.jks,all,spark.ssl.standalone.trustStore");
  properties["spark.ssl.standalone.trustStorePassword"] = "${env:PASSWORD}";
  EXPECT_THAT(TrustIn(properties), HasSubstr("spark.ssl.standalone.trustStorePassword: is not filled in here"));
  properties["spark.fairlead.tls.ca"] = "/ca.pem";
  EXPECT_EQ(TrustIn(properties), "/ca.pem,,spark.fairlead.tls.ca");
  config::HadoopConf conf;
  conf.Set("fairlead.tls.ca", "/set.pem");
  EXPECT_EQ(TrustIn(properties, conf), "/set.pem,,spark.fairlead.tls.ca");
}

}  // namespace
}  // namespace fairlead::shell
