#include "shell/kerberos/kerberos.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(Read("secrecy"), Protections{Protection::kAuthentication});
}

TEST(Kerberos, OtherAuthenticationsAreRefusedByName) {
  HadoopConf conf;
  EXPECT_FALSE(IsKerberos(conf));
  conf.Set("hadoop.security.authentication", "kerberos");
  EXPECT_TRUE(IsKerberos(conf));
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
}

}  // namespace
}  // namespace fairlead::shell
