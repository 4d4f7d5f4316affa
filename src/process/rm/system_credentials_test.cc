#include "process/rm/system_credentials.h"

#include <gtest/gtest.h>

#include "endpoints/yarn/credentials.h"

namespace fairlead::process::rm {
namespace {

using wire::yarn::NodeHeartbeatResponseProto;

const endpoints::yarn::RpcToken kToken{"identifier", "password", "HDFS_DELEGATION_TOKEN", "127.0.0.1:8020"};

TEST(SystemCredentials, ANodeIsToldWhatItDoesNotKnowAndNothingTwice) {
  SystemCredentials credentials(100);
  NodeHeartbeatResponseProto silent;
  credentials.Tell(0, silent);
  EXPECT_EQ(silent.Encode(), "") << "nobody has any";
  credentials.Set({1, 1}, {kToken});
  NodeHeartbeatResponseProto first;
  credentials.Tell(0, first);
  EXPECT_EQ(first.TokenSequenceNo(), 101);
  ASSERT_EQ(first.system_credentials_for_apps.size(), 1U);
  EXPECT_EQ(first.system_credentials_for_apps[0].AppId().Id(), 1);
  const auto read = endpoints::yarn::ParseCredentials(first.system_credentials_for_apps[0].CredentialsForApp());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->tokens.at("127.0.0.1:8020"), kToken);
  NodeHeartbeatResponseProto second;
  credentials.Tell(101, second);
  EXPECT_EQ(second.Encode(), "");
  credentials.Set({1, 2}, {kToken});
  credentials.Tell(101, second);
  EXPECT_EQ(second.system_credentials_for_apps.size(), 2U) << "a node takes the list as a whole";
}

TEST(SystemCredentials, AnApplicationThatHasEndedIsToldNoMore) {
  SystemCredentials credentials(100);
  credentials.Set({1, 1}, {kToken});
  EXPECT_EQ(credentials.Of({1, 1}), SystemCredentials::Tokens{kToken});
  credentials.Set({1, 1}, {});
  EXPECT_TRUE(credentials.Of({1, 1}).empty());
  NodeHeartbeatResponseProto response;
  credentials.Tell(0, response);
  EXPECT_EQ(response.Encode(), "");
}

}  // namespace
}  // namespace fairlead::process::rm
