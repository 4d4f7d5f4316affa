#include "shell/tls/tls.h"

#include <gtest/gtest.h>

namespace fairlead::shell {
namespace {

using config::HadoopConf;

TEST(Tls, PagesAreHttpUnlessThePolicySaysOtherwise) {
  HadoopConf conf;
  EXPECT_EQ(WebScheme(conf), "http://");
  EXPECT_EQ(WebAddressKey(conf, "yarn.nodemanager.webapp"), "yarn.nodemanager.webapp.address");
  conf.Set("yarn.http.policy", "HTTPS_ONLY");
  EXPECT_EQ(WebScheme(conf), "https://");
  EXPECT_EQ(WebAddressKey(conf, "yarn.nodemanager.webapp"), "yarn.nodemanager.webapp.https.address");
  conf.Set("yarn.http.policy", "https_only");
  EXPECT_EQ(WebScheme(conf), "https://");
  conf.Set("yarn.http.policy", "Http_Only");
  EXPECT_EQ(WebScheme(conf), "http://");
  EXPECT_TRUE(conf.errors().empty());
  conf.Set("yarn.http.policy", "HTTP_AND_HTTPS");
  EXPECT_FALSE(IsHttpsOnly(conf));
  EXPECT_NE(conf.ErrorText().find("HTTP_AND_HTTPS is not supported: YARN's daemons have one web port each"),
            std::string::npos);
}

TEST(Tls, HttpsWithoutAKeySaysWhatToWrite) {
  HadoopConf conf;
  conf.Set("yarn.http.policy", "HTTPS_ONLY");
  EXPECT_TRUE(ReadServerTls(conf).paths.empty());
  EXPECT_NE(conf.ErrorText().find("ssl.server.keystore.location"), std::string::npos);
  EXPECT_NE(conf.ErrorText().find("fairlead.tls.certificate"), std::string::npos);
}

TEST(Tls, FairleadsOwnKeysGoBeforeHadoopsStore) {
  HadoopConf conf;
  conf.Set("yarn.http.policy", "HTTPS_ONLY");
  conf.Set("ssl.server.keystore.location", "/etc/keystore.jks");
  conf.Set("ssl.server.keystore.password", "store");
  conf.Set("ssl.server.keystore.keypassword", "key");
  conf.Set("ssl.server.exclude.cipher.list", "A,B");
  TlsFiles files = ReadServerTls(conf);
  EXPECT_EQ(files.paths, std::vector<std::string>{"/etc/keystore.jks"});
  EXPECT_EQ(files.password + "," + files.key_password + "," + files.excluded, "store,key,A,B");
  conf.Set("fairlead.tls.certificate", "/etc/rm.crt");
  conf.Set("fairlead.tls.key", "/etc/rm.key");
  files = ReadServerTls(conf);
  EXPECT_EQ(files.paths, (std::vector<std::string>{"/etc/rm.crt", "/etc/rm.key"}));
  EXPECT_EQ(files.password, "");
  EXPECT_TRUE(conf.errors().empty()) << conf.ErrorText();
}

TEST(Tls, APasswordOfACredentialProviderIsRefusedByName) {
  HadoopConf conf;
  conf.Set("yarn.http.policy", "HTTPS_ONLY");
  conf.Set("ssl.server.keystore.location", "/etc/keystore.jks");
  conf.Set("hadoop.security.credential.provider.path", "jceks://file/etc/passwords");
  ReadServerTls(conf);
  EXPECT_NE(conf.ErrorText().find("write ssl.server.keystore.password"), std::string::npos) << conf.ErrorText();
}

TEST(Tls, StrictTransportIsOfHttpsAlone) {
  HadoopConf conf;
  conf.Set("hadoop.http.header.Strict-Transport-Security", "max-age=60");
  EXPECT_EQ(StrictTransport(conf), "");
  conf.Set("yarn.http.policy", "HTTPS_ONLY");
  EXPECT_EQ(StrictTransport(conf), "max-age=60");
}

}  // namespace
}  // namespace fairlead::shell
