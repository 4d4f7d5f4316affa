#include "process/rm/delegation_tokens.h"

#include <gtest/gtest.h>

#include "base/stored.h"
#include "env_sim/world.h"
#include "wire/hadoop_rpc/message_kinds.h"
#include "wire/yarn/tokens.h"

namespace fairlead::process::rm {
namespace {

using endpoints::yarn::Caller;
using endpoints::yarn::RemoteException;
using endpoints::yarn::RpcToken;

Caller By(const std::string& user, model::LoginMethod method = model::LoginMethod::kKerberos) {
  Caller caller;
  caller.user = user;
  caller.method = method;
  caller.principal = user + "@EXAMPLE.COM";
  caller.full_name = caller.principal;
  return caller;
}

/// On a clock that the test moves; rows are stored at once.
class Delegation : public ::testing::Test {
 protected:
  Delegation() { Begin({}, false); }

  void Begin(DelegationTokens::Stored stored, bool laid_open) {
    tokens_.reset();
    tokens_ = std::make_unique<DelegationTokens>(machine_.loop(), times_, endpoints::yarn::TokenHmac::kSha1,
                                                 [](const std::string& principal) -> base::Result<std::string> {
                                                   return principal.substr(0, principal.find('@'));
                                                 });
    const auto save = [this](std::vector<env::Row> rows, std::function<void()> stored_now) {
      Keep(rows);
      stored_now();
    };
    Keep(tokens_->Start(std::move(stored), laid_open, save));
  }
  void Keep(const std::vector<env::Row>& rows) {
    for (const env::Row& row : rows) {
      if (row.value) {
        rows_[{row.table, row.key}] = *row.value;
      } else {
        rows_.erase({row.table, row.key});
      }
    }
  }
  /// What a later run finds.
  DelegationTokens::Stored Found() {
    DelegationTokens::Stored stored;
    for (const auto& [at, value] : rows_) {
      if (at.first == "rm/delegation-key") stored.keys.push_back(*base::DecodeStored<DelegationTokens::Key>(value));
      if (at.first == "rm/delegation-token") {
        stored.tokens.push_back(*base::DecodeStored<DelegationTokens::Token>(value));
      }
      if (at.first == "rm/delegation-number") stored.last_number = *base::DecodeStored<int32_t>(value);
    }
    return stored;
  }
  base::Result<RpcToken, RemoteException> Get(const Caller& caller, const std::string& renewer) {
    base::Result<RpcToken, RemoteException> got = RemoteException{"nothing", ""};
    tokens_->Get(caller, renewer, [&](auto result) { got = std::move(result); });
    return got;
  }
  std::string Renew(const Caller& caller, const RpcToken& token) {
    std::string out;
    tokens_->Renew(caller, token, [&](auto until) { out = until.ok() ? "ok" : until.error().message; });
    return out;
  }
  std::string Cancel(const Caller& caller, const RpcToken& token) {
    std::string out;
    tokens_->Cancel(caller, token, [&](auto done) { out = done.ok() ? "ok" : done.error().message; });
    return out;
  }
  std::string Use(const RpcToken& token) {
    const auto secret = tokens_->Secret(token.identifier);
    return secret.ok() ? secret->user : secret.error().message;
  }
  void Pass(base::Duration time) {
    bool over = false;  // time goes to the next thing that happens
    machine_.loop().After(time, [&over] { over = true; });
    world_.RunUntil(world_.now() + time, [&over] { return over; });
  }

  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("rm");
  DelegationTimes times_{.key_update = base::Duration::Seconds(50),
                         .max_life = base::Duration::Seconds(100),
                         .renewal = base::Duration::Seconds(30),
                         .sweep = base::Duration::Seconds(60)};
  std::map<std::pair<std::string, std::string>, std::string> rows_;
  std::unique_ptr<DelegationTokens> tokens_;
};

TEST_F(Delegation, AGatewaysTokenIsTheUsersAndSaysWhoGotIt) {
  Caller gateway = By("livy");
  gateway.user = gateway.full_name = "bob";
  gateway.real_user = "livy";
  const RpcToken token = *Get(gateway, "yarn");
  wire::yarn::YARNDelegationTokenIdentifierProto id;
  ASSERT_TRUE(id.ParseFrom(token.identifier, wire::hadoop_rpc::kTokenIdentifier).ok());
  EXPECT_EQ(id.Owner(), "bob");
  EXPECT_EQ(id.RealUser(), "livy@EXAMPLE.COM");
  const auto secret = tokens_->Secret(token.identifier);
  ASSERT_TRUE(secret.ok()) << secret.error().message;
  EXPECT_EQ(secret->user, "bob");
  EXPECT_EQ(secret->real_user, "livy");
  const DelegationTokens::About about = tokens_->Of(token.identifier);
  EXPECT_EQ(about.owner, "bob");
  EXPECT_LE(about.renewed_until_ms, about.max_date_ms);
  EXPECT_NE(Cancel(By("livy"), token), "ok") << "it is bob's";
  EXPECT_EQ(Cancel(gateway, token), "ok");
  EXPECT_EQ(tokens_->Of(token.identifier).owner, "");
}

TEST_F(Delegation, ATokenThatCannotBeReadIsLeftOut) {
  const RpcToken kept = *Get(By("alice"), "yarn");
  const RpcToken lost = *Get(By("bob"), "yarn");
  rows_[{"rm/delegation-token", "2"}] = "\x01\xff\xff";
  rows_[{"rm/delegation-token", "7"}] = base::EncodeStored(DelegationTokens::Token{"\xff", "password", 1});
  const auto store = [this](const std::string& table, const std::string& key, const std::string& value) {
    machine_.store().Commit({{table, key, value}}, [](const env::CommitStatus&) {});
    world_.RunUntil(world_.now() + base::Duration::Seconds(1), [] { return false; });
  };
  for (const auto& [at, value] : rows_) store(at.first, at.second, value);
  std::vector<env::UnreadRow> unread;
  auto found = DelegationTokens::Load(machine_.store(), unread);
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(unread.size(), 2U);
  EXPECT_EQ(unread[0].table + " " + unread[0].key, "rm/delegation-token 2");
  EXPECT_EQ(unread[1].table + " " + unread[1].key, "rm/delegation-token 7");
  Begin(std::move(*found), false);
  EXPECT_EQ(Use(kept), "alice");
  EXPECT_NE(Use(lost), "bob");
  // A key that cannot be read is refused: all that it has signed would be.
  store("rm/delegation-key", "1", "\x01\xff\xff");
  EXPECT_FALSE(DelegationTokens::Load(machine_.store(), unread).ok());
}

TEST_F(Delegation, ATokenStandsForItsOwner) {
  const auto token = Get(By("alice"), "bob@EXAMPLE.COM");
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->kind, "RM_DELEGATION_TOKEN");
  wire::yarn::YARNDelegationTokenIdentifierProto id;
  ASSERT_TRUE(id.ParseFrom(token->identifier, wire::hadoop_rpc::kTokenIdentifier).ok());
  EXPECT_EQ(id.Owner(), "alice@EXAMPLE.COM");
  EXPECT_EQ(id.Renewer(), "bob");
  EXPECT_EQ(id.SequenceNumber(), 1);
  EXPECT_EQ(id.MaxDate() - id.IssueDate(), 100'000);
  EXPECT_EQ(token->password.size(), 20U);
  EXPECT_EQ(Use(*token), "alice");
  RpcToken forged = *token;
  forged.identifier += "x";
  EXPECT_NE(Use(forged), "alice");
}

TEST_F(Delegation, OnlyATicketGetsRenewsAndCancels) {
  const auto token = Get(By("alice"), "bob");
  ASSERT_TRUE(token.ok());
  for (const auto method : {model::LoginMethod::kToken, model::LoginMethod::kSimple}) {
    EXPECT_EQ(Get(By("alice", method), "bob").error().message,
              "Delegation Token can be issued only with kerberos authentication");
    EXPECT_EQ(Renew(By("bob", method), *token), "Delegation Token can be renewed only with kerberos authentication");
    EXPECT_EQ(Cancel(By("bob", method), *token), "Delegation Token can be cancelled only with kerberos authentication");
  }
  EXPECT_EQ(Use(*token), "alice");
}

TEST_F(Delegation, RenewerAndOwnerHaveTheirRights) {
  const auto token = Get(By("alice"), "bob");
  ASSERT_TRUE(token.ok());
  EXPECT_NE(Renew(By("carol"), *token).find("with non-matching renewer bob"), std::string::npos);
  EXPECT_NE(Renew(By("alice"), *token).find("with non-matching renewer bob"), std::string::npos);
  RpcToken wrong = *token;
  wrong.password = "x";
  EXPECT_NE(Renew(By("bob"), wrong).find("with wrong password"), std::string::npos);
  EXPECT_EQ(Renew(By("bob"), *token), "ok");
  EXPECT_NE(Cancel(By("carol"), *token).find("is not authorized to cancel the token"), std::string::npos);
  EXPECT_EQ(Cancel(By("alice"), *token), "ok");
  EXPECT_EQ(Use(*token), "Token for real user: , can't be found in cache");
  EXPECT_NE(Cancel(By("alice"), *token).find("Token not found"), std::string::npos);
  EXPECT_NE(Renew(By("bob"), *token).find("Renewal request for unknown token"), std::string::npos);
  const auto nobodys = Get(By("alice"), "");
  ASSERT_TRUE(nobodys.ok());
  EXPECT_NE(Renew(By("bob"), *nobodys).find("without a renewer"), std::string::npos);
}

TEST_F(Delegation, WhatIsNotRenewedEnds) {
  const auto token = Get(By("alice"), "bob");
  ASSERT_TRUE(token.ok());
  Pass(base::Duration::Seconds(31));
  EXPECT_NE(Use(*token).find("Token has expired"), std::string::npos);
  EXPECT_EQ(Renew(By("bob"), *token), "ok") << "until it is swept";
  EXPECT_EQ(Use(*token), "alice");
  Pass(base::Duration::Seconds(90));
  EXPECT_EQ(tokens_->tokens(), 0U);
  EXPECT_NE(Renew(By("bob"), *token).find("tried to renew an expired token"), std::string::npos);
}

TEST_F(Delegation, ALaterRunKnowsThemAndHasAKeyOfItsOwn) {
  const auto token = Get(By("alice"), "bob");
  const auto cancelled = Get(By("alice"), "bob");
  ASSERT_TRUE(token.ok() && cancelled.ok());
  EXPECT_EQ(Cancel(By("bob"), *cancelled), "ok");
  Begin(Found(), false);
  EXPECT_EQ(Use(*token), "alice");
  EXPECT_NE(Use(*cancelled), "alice");
  const auto later = Get(By("alice"), "bob");
  ASSERT_TRUE(later.ok());
  wire::yarn::YARNDelegationTokenIdentifierProto id;
  ASSERT_TRUE(id.ParseFrom(later->identifier, wire::hadoop_rpc::kTokenIdentifier).ok());
  EXPECT_EQ(id.SequenceNumber(), 3);
  EXPECT_EQ(id.MasterKeyId(), 2);
}

TEST_F(Delegation, WhatLayOpenEnds) {
  const auto token = Get(By("alice"), "bob");
  ASSERT_TRUE(token.ok());
  Begin(Found(), true);
  EXPECT_NE(Use(*token), "alice");
  EXPECT_TRUE(Found().tokens.empty());
  EXPECT_EQ(Found().keys.size(), 1U);
}

TEST_F(Delegation, KeysRollAndEnd) {
  Pass(base::Duration::Seconds(49 + 50 * 5));
  const DelegationTokens::Stored found = Found();
  ASSERT_FALSE(found.keys.empty());
  EXPECT_LE(found.keys.size(), 5U) << "one a minute, kept for as long as a token lives";
  EXPECT_EQ(found.keys.back().id, 6);
}

TEST_F(Delegation, ManyTokensOfOneOwnerAreBounded) {
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(Get(By("alice"), "bob").ok());
  EXPECT_NE(Get(By("alice"), "bob").error().message.find("has 10000 delegation tokens already"), std::string::npos);
  EXPECT_TRUE(Get(By("carol"), "bob").ok());
}

TEST_F(Delegation, ARenewersNameIsBounded) {
  EXPECT_TRUE(Get(By("alice"), std::string(1024, 'b')).ok());
  EXPECT_NE(Get(By("alice"), std::string(1025, 'b')).error().message.find("renewer: 1025 bytes"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::process::rm
