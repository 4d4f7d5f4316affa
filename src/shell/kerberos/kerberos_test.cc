#include "shell/kerberos/kerberos.h"

#include <gtest/gtest.h>

#include <map>

namespace fairlead::shell {
namespace {

using config::HadoopConf;
using wire::hadoop_rpc::Protection;
using wire::hadoop_rpc::Protections;

Protections Read(const std::string& value) {
  HadoopConf conf;
  conf.Set("hadoop.rpc.protection", value);
  const Protections read = ReadProtections(conf);
  EXPECT_EQ(conf.errors().size(), value.find("secrecy") == std::string::npos ? 0U : 1U) << conf.ErrorText();
  return read;
}

TEST(Kerberos, ProtectionsKeepTheirOrder) {
  EXPECT_EQ(ReadProtections(HadoopConf()), Protections{Protection::kAuthentication});
  EXPECT_EQ(Read("privacy"), Protections{Protection::kPrivacy});
  EXPECT_EQ(Read("privacy, integrity,authentication"),
            (Protections{Protection::kPrivacy, Protection::kIntegrity, Protection::kAuthentication}));
  EXPECT_EQ(Read("PRIVACY,Integrity"), (Protections{Protection::kPrivacy, Protection::kIntegrity}));
  EXPECT_EQ(Read("secrecy"), Protections{Protection::kAuthentication});
}

TEST(Kerberos, OtherAuthenticationsAreRefusedByName) {
  HadoopConf conf;
  EXPECT_FALSE(IsKerberos(conf));
  conf.Set("hadoop.security.authentication", "kerberos");
  EXPECT_TRUE(IsKerberos(conf));
  conf.Set("hadoop.security.authentication", "KERBEROS");
  EXPECT_TRUE(IsKerberos(conf));
  conf.Set("hadoop.security.authentication", "Simple");
  EXPECT_FALSE(IsKerberos(conf));
  EXPECT_TRUE(conf.errors().empty()) << conf.ErrorText();
  conf.Set("hadoop.security.authentication", "ldap");
  EXPECT_FALSE(IsKerberos(conf));
  ASSERT_EQ(conf.errors().size(), 1U);
  EXPECT_NE(conf.ErrorText().find("ldap is not supported; write simple or kerberos"), std::string::npos);
}

TEST(Kerberos, ADaemonNeedsPrincipalKeytabAndRulesThatCanBeRead) {
  HadoopConf conf;
  conf.Set("yarn.resourcemanager.principal", "rm");
  conf.Set("hadoop.security.auth_to_local", "RULE:[1:$1](?<!a)");
  conf.Set("hadoop.security.auth_to_local.mechanism", "heimdal");
  ReadDaemonIdentity(conf, "yarn.resourcemanager", "0.0.0.0");
  for (const char* key : {"yarn.resourcemanager.principal", "yarn.resourcemanager.keytab",
                          "hadoop.security.auth_to_local: ", "hadoop.security.auth_to_local.mechanism"}) {
    EXPECT_NE(conf.ErrorText().find(key), std::string::npos) << conf.ErrorText();
  }
  HadoopConf good;
  good.Set("yarn.resourcemanager.principal", "rm/_HOST@EXAMPLE.COM");
  good.Set("yarn.resourcemanager.keytab", "/etc/rm.keytab");
  const DaemonIdentity identity = ReadDaemonIdentity(good, "yarn.resourcemanager", "rm1.example.com");
  EXPECT_TRUE(good.errors().empty()) << good.ErrorText();
  EXPECT_EQ(identity.principal, "rm/_HOST@EXAMPLE.COM");
  EXPECT_EQ(identity.host, "rm1.example.com");
  good.Set("hadoop.security.auth_to_local.mechanism", "Mit");
  EXPECT_TRUE(ReadDaemonIdentity(good, "yarn.resourcemanager", "rm1.example.com").mit);
  EXPECT_TRUE(good.errors().empty()) << good.ErrorText();
}

struct WebRead {
  WebIdentity identity;
  process::login::WebSecurity security;
  std::vector<std::string> warnings;
  std::string errors;
};

WebRead ReadWeb(const std::map<std::string, std::string>& keys) {
  HadoopConf conf;
  for (const auto& [key, value] : keys) conf.Set(key, value);
  WebRead out;
  out.identity = ReadWebIdentity(conf, "yarn.resourcemanager.webapp", "127.0.0.1", out.security, out.warnings);
  if (!conf.errors().empty()) out.errors = conf.ErrorText();
  return out;
}

constexpr char kType[] = "hadoop.http.authentication.type";
const std::pair<const std::string, std::string> kOn{"hadoop.security.authentication", "kerberos"};

TEST(WebIdentityTest, WithKerberosAPortTakesTicketsUnlessItIsToldOtherwise) {
  using process::login::WebMode;
  EXPECT_EQ(ReadWeb({}).security.mode, WebMode::kNames);
  const WebRead closed = ReadWeb({kOn});
  EXPECT_EQ(closed.security.mode, WebMode::kTickets);
  ASSERT_EQ(closed.warnings.size(), 1U);
  EXPECT_EQ(closed.warnings[0].find("pages and REST let nobody in"), 0U);
  const WebRead open = ReadWeb({kOn, {kType, "simple"}});
  EXPECT_EQ(open.security.mode, WebMode::kReadOnly);
  EXPECT_TRUE(open.warnings.empty());
  const WebRead keys = ReadWeb({kOn,
                                {"yarn.resourcemanager.webapp.spnego-principal", "HTTP/_HOST@EXAMPLE.COM"},
                                {"yarn.resourcemanager.webapp.spnego-keytab-file", "/k"},
                                {"hadoop.http.authentication.token.validity", "60"}});
  EXPECT_EQ(keys.errors, "");
  EXPECT_EQ(keys.identity.keytab, "/k");
  EXPECT_EQ(keys.identity.principal, "HTTP/_HOST@EXAMPLE.COM");
  EXPECT_EQ(keys.security.cookie_life, base::Duration::Seconds(60));
}

TEST(WebIdentityTest, WhatCannotBeHonouredIsRefused) {
  const auto refused = [](const std::map<std::string, std::string>& keys, const char* why) {
    const WebRead read = ReadWeb(keys);
    EXPECT_NE(read.errors.find(why), std::string::npos) << read.errors;
  };
  refused({kOn, {kType, "ldap"}}, "ldap is not supported; write simple or kerberos");
  refused({{kType, "kerberos"}}, "write simple here");
  const std::pair<const std::string, std::string> keytab{"hadoop.http.authentication.kerberos.keytab", "/k"};
  const char* principal = "hadoop.http.authentication.kerberos.principal";
  refused({kOn, keytab, {principal, "rm/_HOST@EXAMPLE.COM"}}, "write HTTP/_HOST@REALM, or *");
  refused({kOn, keytab, {principal, "*"}, {"hadoop.http.authentication.signature.secret.file", "/nowhere"}},
          "/nowhere cannot be read, or is empty");
  EXPECT_EQ(ReadWeb({kOn, keytab, {principal, "*"}}).errors, "");
}

}  // namespace
}  // namespace fairlead::shell
