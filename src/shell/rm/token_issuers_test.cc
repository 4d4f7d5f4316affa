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
  EXPECT_EQ(issuers[1].kind, "MR_DELEGATION_TOKEN");
  EXPECT_EQ(issuers[1].principal, "");
}

}  // namespace
}  // namespace fairlead::shell
