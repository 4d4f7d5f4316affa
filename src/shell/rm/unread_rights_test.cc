#include "shell/rm/unread_rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "shell/rm/settings.h"

namespace fairlead::shell {
namespace {

using testing::HasSubstr;

/// What core-default.xml and yarn-default.xml of Hadoop 3.4.3 give these keys.
constexpr std::pair<const char*, const char*> kOfHadoop[] = {
    {"hadoop.http.authentication.kerberos.keytab", "${user.home}/hadoop.keytab"},
    {"hadoop.http.authentication.kerberos.principal", "HTTP/_HOST@LOCALHOST"},
    {"hadoop.http.authentication.signature.secret.file", "${user.home}/hadoop-http-auth-signature-secret"},
    {"hadoop.http.authentication.simple.anonymous.allowed", "true"},
    {"hadoop.http.authentication.token.validity", "36000"},
    {"hadoop.http.authentication.type", "simple"},
    {"hadoop.http.cross-origin.allowed-headers", "X-Requested-With,Content-Type,Accept,Origin"},
    {"hadoop.http.cross-origin.allowed-methods", "GET,POST,HEAD"},
    {"hadoop.http.cross-origin.allowed-origins", "*"},
    {"hadoop.http.cross-origin.enabled", "false"},
    {"hadoop.http.cross-origin.max-age", "1800"},
    {"hadoop.http.filter.initializers", "org.apache.hadoop.http.lib.StaticUserWebFilter"},
    {"hadoop.http.idle_timeout.ms", "60000"},
    {"hadoop.http.jmx.nan-filter.enabled", "false"},
    {"hadoop.http.logs.enabled", "true"},
    {"hadoop.http.metrics.enabled", "true"},
    {"hadoop.http.sni.host.check.enabled", "false"},
    {"hadoop.http.staticuser.user", "dr.who"},
    {"hadoop.security.auth_to_local.mechanism", "hadoop"},
    {"hadoop.security.authentication", "simple"},
    {"hadoop.security.authorization", "false"},
    {"hadoop.security.credential.clear-text-fallback", "true"},
    {"hadoop.security.crypto.buffer.size", "8192"},
    {"hadoop.security.crypto.cipher.suite", "AES/CTR/NoPadding"},
    {"hadoop.security.crypto.codec.classes.aes.ctr.nopadding",
     "org.apache.hadoop.crypto.OpensslAesCtrCryptoCodec, org.apache.hadoop.crypto.JceAesCtrCryptoCodec"},
    {"hadoop.security.crypto.codec.classes.sm4.ctr.nopadding",
     "org.apache.hadoop.crypto.OpensslSm4CtrCryptoCodec, org.apache.hadoop.crypto.JceSm4CtrCryptoCodec"},
    {"hadoop.security.crypto.jce.provider.auto-add", "true"},
    {"hadoop.security.dns.log-slow-lookups.enabled", "false"},
    {"hadoop.security.dns.log-slow-lookups.threshold.ms", "1000"},
    {"hadoop.security.group.mapping", "org.apache.hadoop.security.JniBasedUnixGroupsMappingWithFallback"},
    {"hadoop.security.group.mapping.ldap.connection.timeout.ms", "60000"},
    {"hadoop.security.group.mapping.ldap.conversion.rule", "none"},
    {"hadoop.security.group.mapping.ldap.directory.search.timeout", "10000"},
    {"hadoop.security.group.mapping.ldap.num.attempts", "3"},
    {"hadoop.security.group.mapping.ldap.num.attempts.before.failover", "3"},
    {"hadoop.security.group.mapping.ldap.posix.attr.gid.name", "gidNumber"},
    {"hadoop.security.group.mapping.ldap.posix.attr.uid.name", "uidNumber"},
    {"hadoop.security.group.mapping.ldap.read.timeout.ms", "60000"},
    {"hadoop.security.group.mapping.ldap.search.attr.group.name", "cn"},
    {"hadoop.security.group.mapping.ldap.search.attr.member", "member"},
    {"hadoop.security.group.mapping.ldap.search.filter.group", "(objectClass=group)"},
    {"hadoop.security.group.mapping.ldap.search.filter.user", "(&(objectClass=user)(sAMAccountName={0}))"},
    {"hadoop.security.group.mapping.ldap.search.group.hierarchy.levels", "0"},
    {"hadoop.security.group.mapping.ldap.ssl", "false"},
    {"hadoop.security.group.mapping.providers.combined", "true"},
    {"hadoop.security.groups.cache.background.reload", "false"},
    {"hadoop.security.groups.cache.background.reload.threads", "3"},
    {"hadoop.security.groups.cache.secs", "300"},
    {"hadoop.security.groups.cache.warn.after.ms", "5000"},
    {"hadoop.security.groups.negative-cache.secs", "30"},
    {"hadoop.security.groups.shell.command.timeout", "0s"},
    {"hadoop.security.instrumentation.requires.admin", "false"},
    {"hadoop.security.java.secure.random.algorithm", "SHA1PRNG"},
    {"hadoop.security.key.default.bitlength", "128"},
    {"hadoop.security.key.default.cipher", "AES/CTR/NoPadding"},
    {"hadoop.security.kms.client.authentication.retry-count", "1"},
    {"hadoop.security.kms.client.encrypted.key.cache.expiry", "43200000"},
    {"hadoop.security.kms.client.encrypted.key.cache.low-watermark", "0.3f"},
    {"hadoop.security.kms.client.encrypted.key.cache.num.refill.threads", "2"},
    {"hadoop.security.kms.client.encrypted.key.cache.size", "500"},
    {"hadoop.security.kms.client.failover.sleep.base.millis", "100"},
    {"hadoop.security.kms.client.failover.sleep.max.millis", "2000"},
    {"hadoop.security.kms.client.timeout", "60"},
    {"hadoop.security.random.device.file.path", "/dev/urandom"},
    {"hadoop.security.resolver.impl", "org.apache.hadoop.net.DNSDomainNameResolver"},
    {"hadoop.security.secure.random.impl", "org.apache.hadoop.crypto.random.OpensslSecureRandom"},
    {"hadoop.security.token.service.use_ip", "true"},
    {"hadoop.security.uid.cache.secs", "14400"},
    {"yarn.webapp.api-service.enable", "false"},
    {"yarn.webapp.enable-rest-app-submissions", "true"},
    {"yarn.webapp.filter-entity-list-by-user", "false"},
    {"yarn.webapp.filter-invalid-xml-chars", "false"},
    {"yarn.webapp.ui1.tools.enable", "true"},
    {"yarn.webapp.ui2.enable", "false"},
    {"yarn.webapp.xfs-filter.enabled", "true"},
};

std::vector<std::string> WarningsOf(const config::Settings& settings) {
  const auto read = ReadRmSettings(settings, "");
  EXPECT_TRUE(read.ok()) << read.error().message;
  return read.ok() ? read->warnings : std::vector<std::string>();
}

TEST(UnreadRights, WhatHadoopsOwnFilesSayIsNoAlarm) {
  config::Settings settings;
  for (const auto& [key, value] : kOfHadoop) settings.conf.Set(key, value);
  EXPECT_THAT(WarningsOf(settings), testing::IsEmpty());
}

TEST(UnreadRights, KeysWithoutMeaningHereAreNoAlarm) {
  config::Settings settings;
  settings.conf.Set("hadoop.security.crypto.buffer.size", "4096");
  settings.conf.Set("hadoop.security.kms.client.timeout", "5");
  settings.conf.Set("hadoop.security.auth_to_local", "RULE:[1:$1]");
  settings.conf.Set("hadoop.http.authentication.kerberos.keytab", "/etc/spnego.keytab");
  settings.conf.Set("hadoop.http.filter.initializers",
                    "org.apache.hadoop.http.lib.StaticUserWebFilter,"
                    "org.apache.hadoop.security.AuthenticationFilterInitializer");
  settings.conf.Set("hadoop.http.max.threads", "200");
  settings.conf.Set("yarn.webapp.ui2.enable", "true");
  EXPECT_THAT(WarningsOf(settings), testing::IsEmpty());
}

TEST(UnreadRights, KeysThatNobodyReadsAreTold) {
  config::Settings settings;
  const std::pair<const char*, const char*> written[] = {
      {"hadoop.http.authentication.simple.anonymous.allowed", "false"},
      {"hadoop.http.cross-origin.enabled", "true"},
      {"hadoop.http.filter.initializers", "org.example.OurFilter"},
      {"hadoop.http.header.X-Frame-Options", "DENY"},
      {"hadoop.security.groups.cache.secs", "10"},
      {"hadoop.security.of-the-future", "1"},
      {"yarn.webapp.custom.webservice.class", "org.example.Service"},
      {"yarn.webapp.xfs-filter.enabled", "false"},
  };
  std::vector<std::string> told;
  for (const auto& [key, value] : written) {
    settings.conf.Set(key, value);
    told.push_back(std::string(key) + " has no effect on this resource manager with profile fairlead");
  }
  EXPECT_THAT(WarningsOf(settings), testing::ElementsAreArray(told));
}

TEST(UnreadRights, AMisspeltOneIsToldOnceWithTheOneThatIsMeant) {
  config::Settings settings;
  settings.conf.Set("hadoop.http.authentication.typ", "kerberos");
  settings.conf.Set("hadoop.security.authorizatoin", "true");
  settings.conf.Set("yarn.webapp.filter-entity-lists-by-user", "true");
  const auto told = [](const std::string& key, const std::string& meant) {
    return key + " has no effect on this resource manager with profile fairlead; did you mean '" + meant + "'?";
  };
  EXPECT_THAT(WarningsOf(settings),
              testing::UnorderedElementsAre(
                  told("hadoop.http.authentication.typ", "hadoop.http.authentication.type"),
                  told("hadoop.security.authorizatoin", "hadoop.security.authorization"),
                  told("yarn.webapp.filter-entity-lists-by-user", "yarn.webapp.filter-entity-list-by-user")));
}

TEST(UnreadRights, OtherJudgesOfRightsAreRefused) {
  for (const char* key : {"hadoop.security.impersonation.provider.class", "yarn.authorization-provider"}) {
    config::Settings settings;
    settings.conf.Set(key, "org.example.Ours");
    const auto read = ReadRmSettings(settings, "");
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_THAT(read.error().message, HasSubstr(std::string(key) + ": "));
  }
  config::Settings settings;
  settings.conf.Set("hadoop.security.impersonation.provider.class",
                    "org.apache.hadoop.security.authorize.DefaultImpersonationProvider");
  settings.conf.Set("yarn.authorization-provider", "org.apache.hadoop.yarn.security.ConfiguredYarnAuthorizer");
  EXPECT_THAT(WarningsOf(settings), testing::IsEmpty());
}

TEST(UnreadRights, ListsAndSubmissionsByRestAreWhatTheFilesSay) {
  const auto security = [](const std::string& key, const std::string& value) {
    config::Settings settings;
    if (!key.empty()) settings.conf.Set(key, value);
    return ReadRmSettings(settings, "")->manager.security;
  };
  EXPECT_FALSE(security("", "").filters_lists);
  EXPECT_TRUE(security("yarn.webapp.filter-entity-list-by-user", "true").filters_lists);
  EXPECT_TRUE(security("yarn.resourcemanager.display.per-user-apps", "true").filters_lists);
  EXPECT_TRUE(security("", "").rest_submissions);
  EXPECT_FALSE(security("yarn.webapp.enable-rest-app-submissions", "false").rest_submissions);
  EXPECT_EQ(security("", "").web.nobody, "dr.who");
  EXPECT_EQ(security("hadoop.http.staticuser.user", "guest").web.nobody, "guest");
}

}  // namespace
}  // namespace fairlead::shell
