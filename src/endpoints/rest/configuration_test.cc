#include "endpoints/rest/configuration.h"

#include <gtest/gtest.h>

namespace fairlead::endpoints::rest {
namespace {

const Configuration kConf({{"yarn.b", "a < b", "yarn-site.xml"},
                           {"hadoop.zk.auth", "digest:me:word", "core-site.xml"}});

TEST(Configuration, IsShownAsHadoopShowsIt) {
  EXPECT_EQ(kConf.Render(true, ""),
            R"({"properties":[{"key":"hadoop.zk.auth","value":"<redacted>","resource":"core-site.xml"},)"
            R"({"key":"yarn.b","value":"a < b","resource":"yarn-site.xml"}]})");
  EXPECT_EQ(kConf.Render(true, "yarn.b"),
            R"({"property":{"key":"yarn.b","value":"a < b","resource":"yarn-site.xml"}})");
  const std::string xml = *kConf.Render(false, "yarn.b");
  EXPECT_TRUE(
      xml.ends_with("<configuration><property><name>yarn.b</name><value>a &lt; b</value>"
                    "<source>yarn-site.xml</source></property></configuration>"))
      << xml;
  EXPECT_EQ(kConf.Render(true, "yarn"), std::nullopt);
}

TEST(Configuration, SecretsAreHiddenByTheirNames) {
  for (const char* key : {"spark.authenticate.secret", "fs.s3a.secret.key", "fs.s3a.bucket.b.session.token",
                          "fs.azure.account.key.me.blob.core.windows.net", "ssl.server.keystore.password",
                          "ssl.keystore.pass", "yarn.resourcemanager.zk-auth", "dfs.adls.oauth2.credential",
                          "hadoop.security.group.mapping.ldap.bind.password", "FS.S3.awsSecretAccessKey.secretKey",
                          "hadoop.security.sensitive-config-keys"}) {
    EXPECT_TRUE(Configuration::IsSecret(key)) << key;
  }
  for (const char* key :
       {"yarn.resourcemanager.address", "yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs",
        "yarn.resource-types", "hadoop.security.token.service.use_ip", "hadoop.zk.acl"}) {
    EXPECT_FALSE(Configuration::IsSecret(key)) << key;
  }
}

TEST(Configuration, MoreMayBeHidden) {
  const Configuration conf({{"my.pin", "1234", ""}, {"my.port", "80", ""}}, {"my.pin"});
  EXPECT_EQ(conf.Render(true, "my.pin"), R"({"property":{"key":"my.pin","value":"<redacted>","resource":""}})");
  EXPECT_EQ(conf.Render(true, "my.port"), R"({"property":{"key":"my.port","value":"80","resource":""}})");
}

}  // namespace
}  // namespace fairlead::endpoints::rest
