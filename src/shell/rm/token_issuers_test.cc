#include "shell/rm/token_issuers.h"

#include <gtest/gtest.h>

namespace fairlead::shell {
namespace {

TEST(TokenIssuers, NameNodesAreFoundByAddressAndByNameService) {
  config::HadoopConf conf;
  conf.Set("dfs.namenode.kerberos.principal", "hdfs/_HOST@EXAMPLE.COM");
  conf.Set("dfs.nameservices", "main,other");
  conf.Set("dfs.ha.namenodes.main", "nn1,nn2");
  conf.Set("dfs.namenode.rpc-address.main.nn1", "one.example.com:8020");
  conf.Set("dfs.namenode.rpc-address.main.nn2", "two.example.com");
  const auto issuers = ReadTokenIssuers(conf);
  ASSERT_EQ(issuers.size(), 2U);
  EXPECT_EQ(issuers[0].principal, "hdfs/_HOST@EXAMPLE.COM");
  EXPECT_EQ(issuers[0].addresses("ha-hdfs:main"),
            (std::vector<env::Endpoint>{{"one.example.com", 8020}, {"two.example.com", 8020}}));
  EXPECT_EQ(issuers[0].addresses("127.0.0.1:9000"), (std::vector<env::Endpoint>{{"127.0.0.1", 9000}}));
  for (const char* bad : {"ha-hdfs:unknown", "ha-hdfs:other", "nowhere", ""}) {
    EXPECT_TRUE(issuers[0].addresses(bad).empty()) << bad;
  }
  EXPECT_EQ(issuers[0].web_principal, "HTTP/_HOST@EXAMPLE.COM");
  EXPECT_EQ(issuers[1].kind, "MR_DELEGATION_TOKEN");
  EXPECT_EQ(issuers[1].web_principal, "");
  EXPECT_EQ(issuers[1].principal, "");
}

TEST(TokenIssuers, APatternSaysWhatNameNodesMayBeCalled) {
  config::HadoopConf conf;
  conf.Set("dfs.namenode.kerberos.principal", "hdfs/_HOST@EXAMPLE.COM");
  conf.Set("dfs.namenode.kerberos.principal.pattern", "hdfs/*@*.COM");
  conf.Set("mapreduce.jobhistory.principal.pattern", "jhs/*");
  const auto issuers = ReadTokenIssuers(conf);
  EXPECT_EQ(issuers[0].principal, "hdfs/*@*.COM");
  EXPECT_EQ(issuers[0].web_principal, "HTTP/_HOST@EXAMPLE.COM") << "pages have principals of their own";
  EXPECT_EQ(issuers[1].principal, "jhs/*");
}

TEST(TokenIssuers, AnApplicationWithoutATokenGetsOneOfTheDefaultFileSystem) {
  const auto service = [](const std::string& uri, bool use_ip = true) {
    config::HadoopConf conf;
    conf.Set("dfs.nameservices", "main");
    conf.Set("dfs.namenode.rpc-address.main", "one.example.com:8020");
    conf.Set("fs.defaultFS", uri);
    conf.Set("yarn.resourcemanager.proxy-user-privileges.enabled", "true");
    if (!use_ip) conf.Set("hadoop.security.token.service.use_ip", "false");
    const auto address = [](const std::string& host) { return std::string(host == "unknown" ? "" : "10.0.0.7"); };
    return ReadIssueRules(conf, address).default_service;
  };
  EXPECT_EQ(service("hdfs://nn.example.com:9000/"), "10.0.0.7:9000");
  EXPECT_EQ(service("hdfs://nn.example.com", false), "nn.example.com:8020");
  EXPECT_EQ(service("hdfs://main"), "ha-hdfs:main");
  EXPECT_EQ(service("hdfs://main:8020"), "ha-hdfs:main");
  EXPECT_EQ(ReadIssueRules(config::HadoopConf(), nullptr).kind, "") << "nobody is asked without the key";
  for (const char* none : {"file:///", "hdfs://unknown:1", "hdfs://"}) EXPECT_EQ(service(none), "") << none;
}

}  // namespace
}  // namespace fairlead::shell
