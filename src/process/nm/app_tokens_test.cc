#include "process/nm/app_tokens.h"

#include <gtest/gtest.h>

#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/url_token.h"
#include "env_sim/world.h"

namespace fairlead::process::nm {
namespace {

using endpoints::yarn::Credentials;
using endpoints::yarn::RpcToken;

constexpr model::ApplicationId kApp{1, 1};

RpcToken Token(const std::string& identifier, const std::string& kind = "HDFS_DELEGATION_TOKEN") {
  return {identifier, "password", kind, "10.0.0.1:8020"};
}

class AppTokensTest : public ::testing::Test {
 protected:
  static wire::yarn::NodeHeartbeatResponseProto Answer(int64_t sequence, const std::string& credentials) {
    wire::yarn::NodeHeartbeatResponseProto answer;
    answer.token_sequence_no = sequence;
    auto& one = answer.system_credentials_for_apps.emplace_back();
    one.app_id = endpoints::yarn::ToWire(kApp);
    one.credentials_for_app = credentials;
    return answer;
  }
  static Credentials Of(const RpcToken& token) { return {{{"alias", token}}, {}}; }
  /// The identifiers of an application's tokens.
  static std::vector<std::string> Identifiers(const AppTokens& tokens) {
    std::vector<std::string> out;
    for (const FileSystemToken& token : tokens.Of(kApp)) {
      const auto read = endpoints::yarn::DecodeUrlToken(token.text);
      EXPECT_TRUE(read.ok());
      EXPECT_EQ(read->kind, "HDFS_DELEGATION_TOKEN") << "name nodes and data nodes know no other kind";
      out.push_back(read->identifier);
    }
    return out;
  }

  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("node");
  env::NullLog log_;
  StateWriter state_{machine_.loop(), machine_.store(), log_, [](const std::string&) {}};
  AppTokens tokens_{state_, log_};
};

TEST_F(AppTokensTest, WhatTheManagerTellsGoesBeforeWhatCameWithAContainer) {
  tokens_.Came(kApp, Of(Token("old")));
  EXPECT_EQ(Identifiers(tokens_), std::vector<std::string>{"old"});
  EXPECT_EQ(tokens_.sequence(), 0);
  tokens_.Told(Answer(7, EncodeCredentials(Of(Token("new")))));
  EXPECT_EQ(Identifiers(tokens_), std::vector<std::string>{"new"});
  EXPECT_EQ(tokens_.sequence(), 7);
  tokens_.Told({});
  EXPECT_EQ(Identifiers(tokens_), std::vector<std::string>{"new"}) << "no news";
  tokens_.Came(kApp, Of(Token("web", "WEBHDFS delegation")));
  EXPECT_EQ(Identifiers(tokens_), (std::vector<std::string>{"new", "web"}));
  tokens_.Forget(kApp);
  EXPECT_TRUE(Identifiers(tokens_).empty());
}

TEST_F(AppTokensTest, OtherKindsAndWhatCannotBeReadAreNone) {
  tokens_.Came(kApp, Of(Token("hive", "HIVE_DELEGATION_TOKEN")));
  EXPECT_TRUE(Identifiers(tokens_).empty());
  tokens_.Told(Answer(8, "no credentials"));
  EXPECT_TRUE(Identifiers(tokens_).empty());
  EXPECT_EQ(tokens_.sequence(), 8) << "asking again would bring the same";
  Credentials many;
  for (int i = 0; i < 200; ++i) {
    many.tokens[std::to_string(i)] = Token(std::to_string(i));
    many.tokens[std::to_string(i)].service = std::to_string(i);
  }
  tokens_.Came(kApp, many);
  EXPECT_EQ(Identifiers(tokens_).size(), 100U);
}

TEST_F(AppTokensTest, ARestartKeepsWhatCameAndAsksForTheRest) {
  tokens_.Came(kApp, Of(Token("old")));
  tokens_.Told(Answer(7, EncodeCredentials(Of(Token("new")))));
  world_.RunUntil(world_.now() + base::Duration::Seconds(5), [] { return false; });
  AppTokens next(state_, log_);
  std::vector<env::UnreadRow> unread;
  ASSERT_TRUE(next.Load(machine_.store(), unread).ok());
  EXPECT_EQ(Identifiers(next), std::vector<std::string>{"old"});
  EXPECT_EQ(next.sequence(), 0);
  next.Forget(kApp);
  world_.RunUntil(world_.now() + base::Duration::Seconds(5), [] { return false; });
  AppTokens third(state_, log_);
  ASSERT_TRUE(third.Load(machine_.store(), unread).ok());
  EXPECT_TRUE(Identifiers(third).empty());
}

}  // namespace
}  // namespace fairlead::process::nm
