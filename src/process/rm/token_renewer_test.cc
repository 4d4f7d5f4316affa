// Tokens of applications, with an issuer of the test's own.
#include "process/rm/token_renewer.h"

#include <gtest/gtest.h>

#include <optional>

#include "endpoints/yarn/credentials.h"
#include "env_sim/world.h"
#include "wire/yarn/client.h"
#include "wire/yarn/tokens.h"

namespace fairlead::process::rm {
namespace {

using base::Duration;
using endpoints::yarn::RpcToken;

constexpr char kKind[] = "HDFS_DELEGATION_TOKEN";

/// Hadoop's Writable form: owner, renewer, real user; what follows is not read.
RpcToken HdfsToken(const std::string& renewer, const std::string& number = "1") {
  std::string identifier(1, '\0');
  for (const std::string& text : {std::string("alice"), renewer, std::string()}) {
    identifier.push_back(static_cast<char>(text.size()));
    identifier += text;
  }
  return {identifier + number, "password", kKind, "127.0.0.1:8020"};
}

struct Calls {
  std::vector<int64_t> renewed_at;  // milliseconds
  int cancelled = 0;
  std::optional<TokenService::Failure> failure;
  int64_t life_ms = 60'000;
  int64_t most_ms = INT64_MAX;  // no renewal leads beyond
  bool silent = false;
  bool knows = true;
};

class TestService final : public TokenService {
 public:
  TestService(env::Loop& loop, Calls& calls) : loop_(loop), calls_(calls) {}
  bool Knows(const RpcToken&) const override { return calls_.knows; }
  void Renew(const RpcToken&, Renewed done) override {
    calls_.renewed_at.push_back(loop_.Wall().ms);
    if (calls_.silent) return;
    loop_.Post([this, done = std::move(done)] {
      if (calls_.failure) return done(*calls_.failure);
      done(std::min(loop_.Wall().ms + calls_.life_ms, calls_.most_ms));
    });
  }
  void Cancel(const RpcToken&) override { ++calls_.cancelled; }

 private:
  env::Loop& loop_;
  Calls& calls_;
};

class TokenRenewerTest : public ::testing::Test {
 protected:
  void SetUp() override { Make({}); }
  void Make(RenewalTimes times) {
    TokenRenewer::Services services;
    services.emplace(kKind, std::make_unique<TestService>(loop(), calls_));
    renewer_.emplace(loop(), std::move(services), times, [this](const std::string& text) { warned_.push_back(text); });
  }
  env::Loop& loop() { return machine_.loop(); }

  static std::string Submission(const std::vector<RpcToken>& tokens, bool cancel = true) {
    endpoints::yarn::Credentials credentials;
    for (size_t i = 0; i < tokens.size(); ++i) credentials.tokens["token " + std::to_string(i)] = tokens[i];
    wire::yarn::ApplicationSubmissionContextProto context;
    context.application_id.emplace();
    context.am_container_spec.emplace();
    context.am_container_spec->tokens = EncodeCredentials(credentials);
    if (!cancel) context.cancel_tokens_when_complete = false;
    return context.Encode();
  }
  static model::ApplicationId App(int32_t number) { return {1, number}; }

  /// What Add says.
  base::Status Add(int32_t number, const std::string& submission,
                   TokenRenewer::Patience patience = TokenRenewer::Patience::kOfASubmission) {
    std::optional<base::Status> told;
    renewer_->Add(
        App(number), submission, [&](const base::Status& status) { told = status; }, patience);
    EXPECT_TRUE(Run(Duration::Seconds(30), [&] { return told.has_value(); }));
    return told.value_or(base::Error{"nothing"});
  }
  bool Run(
      Duration limit, const std::function<bool()>& done = [] { return false; }) {
    // Time moves with events alone.
    loop().After(limit, [] {});
    return world_.RunUntil(world_.now() + limit, done);
  }

  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("rm");
  Calls calls_;
  std::optional<TokenRenewer> renewer_;
  std::vector<std::string> warned_;
};

TEST_F(TokenRenewerTest, RenewedBeforeTheStartAndAtNineTenthsAndCancelledAtTheEnd) {
  ASSERT_TRUE(Add(1, Submission({HdfsToken("yarn")})).ok());
  Run(Duration::Seconds(120));
  ASSERT_EQ(calls_.renewed_at.size(), 3U);
  EXPECT_NEAR(static_cast<double>(calls_.renewed_at[1] - calls_.renewed_at[0]), 54'000, 100);
  renewer_->Remove(App(1));
  EXPECT_EQ(calls_.cancelled, 1);
  EXPECT_EQ(renewer_->tokens(), 0U);
  Run(Duration::Seconds(120));
  EXPECT_EQ(calls_.renewed_at.size(), 3U);
}

TEST_F(TokenRenewerTest, OneThatIsSaidToLastForEverIsRenewedOnceAYear) {
  calls_.life_ms = INT64_MAX / 2;
  ASSERT_TRUE(Add(1, Submission({HdfsToken("yarn")})).ok());
  Run(Duration::Seconds(24 * 3600));
  EXPECT_EQ(calls_.renewed_at.size(), 1U);
  Run(Duration::Seconds(int64_t{365} * 24 * 3600));
  EXPECT_EQ(calls_.renewed_at.size(), 2U);
}

TEST_F(TokenRenewerTest, OneThatIsSaidToHaveEndedLongAgoIsNotAskedForAgain) {
  calls_.most_ms = INT64_MIN;
  ASSERT_TRUE(Add(1, Submission({HdfsToken("yarn")})).ok());
  Run(Duration::Seconds(120));
  EXPECT_EQ(calls_.renewed_at.size(), 1U);
}

TEST_F(TokenRenewerTest, OneForAllThatShareItAndCancelledWithTheLast) {
  ASSERT_TRUE(Add(1, Submission({HdfsToken("yarn")})).ok());
  ASSERT_TRUE(Add(2, Submission({HdfsToken("yarn")})).ok());
  EXPECT_EQ(calls_.renewed_at.size(), 1U);
  renewer_->Remove(App(1));
  EXPECT_EQ(calls_.cancelled, 0);
  renewer_->Remove(App(2));
  EXPECT_EQ(calls_.cancelled, 1);
}

TEST_F(TokenRenewerTest, OneThatWantsItKeptKeepsIt) {
  ASSERT_TRUE(Add(1, Submission({HdfsToken("yarn")})).ok());
  ASSERT_TRUE(Add(2, Submission({HdfsToken("yarn")}, false)).ok());
  renewer_->Remove(App(2));
  renewer_->Remove(App(1));
  EXPECT_EQ(calls_.cancelled, 0);
}

TEST_F(TokenRenewerTest, ARefusedRenewalRefusesTheSubmission) {
  calls_.failure = TokenService::Failure{"yarn tries to renew a token with non-matching renewer bob"};
  const base::Status added = Add(1, Submission({HdfsToken("bob"), HdfsToken("bob", "2")}));
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(
      added.error().message,
      "Failed to renew token: Kind: HDFS_DELEGATION_TOKEN, Service: 127.0.0.1:8020: yarn tries to renew a token with "
      "non-matching renewer bob");
  EXPECT_EQ(renewer_->tokens(), 0U);
  EXPECT_FALSE(renewer_->Has(App(1)));
  EXPECT_EQ(calls_.cancelled, 0) << "it was never ours";
}

TEST_F(TokenRenewerTest, WhatIsNotTakenKeepsItsTokens) {
  ASSERT_TRUE(Add(1, Submission({HdfsToken("yarn")})).ok());
  renewer_->Forget(App(1));
  EXPECT_EQ(renewer_->tokens(), 0U);
  EXPECT_EQ(calls_.cancelled, 0) << "its user may submit again with them";
}

TEST_F(TokenRenewerTest, WhereNobodyAnswersASubmissionIsTriedThriceAndOneThatRunsOnAndOn) {
  calls_.failure = TokenService::Failure{"refused", true};
  EXPECT_FALSE(Add(1, Submission({HdfsToken("yarn")})).ok());
  EXPECT_EQ(calls_.renewed_at.size(), 3U);
  renewer_->Add(
      App(2), Submission({HdfsToken("yarn")}), [](const base::Status&) {}, TokenRenewer::Patience::kOfOneThatRuns);
  Run(Duration::Seconds(200));
  EXPECT_GT(calls_.renewed_at.size(), 15U);
  calls_.failure.reset();
  Run(Duration::Seconds(20));
  renewer_->Remove(App(2));
  EXPECT_EQ(calls_.cancelled, 1);
}

TEST_F(TokenRenewerTest, AnEmptyRenewerIsObeyedAndOtherKindsAreCarriedAndSaidOnce) {
  RpcToken hive = HdfsToken("yarn");
  hive.kind = "HIVE_DELEGATION_TOKEN";
  ASSERT_TRUE(Add(1, Submission({HdfsToken(""), hive})).ok());
  ASSERT_TRUE(Add(2, Submission({hive})).ok());
  EXPECT_TRUE(calls_.renewed_at.empty());
  ASSERT_EQ(warned_.size(), 1U);
  EXPECT_EQ(warned_[0],
            "tokens of kind HIVE_DELEGATION_TOKEN are carried to containers and not renewed: nobody here knows how");
  calls_.knows = false;
  ASSERT_TRUE(Add(3, Submission({HdfsToken("yarn")})).ok());
  EXPECT_EQ(warned_.size(), 2U);
}

TEST_F(TokenRenewerTest, OneThatCannotBeRenewedFurtherEndsInPeace) {
  calls_.most_ms = loop().Wall().ms + 100'000;
  ASSERT_TRUE(Add(1, Submission({HdfsToken("yarn")})).ok());
  Run(Duration::Seconds(400));
  EXPECT_LE(calls_.renewed_at.size(), 4U);
}

TEST_F(TokenRenewerTest, WithLogsToBeAggregatedTheEndIsLater) {
  RenewalTimes times;
  times.cancel_delay = Duration::Seconds(600);
  Make(times);
  ASSERT_TRUE(Add(1, Submission({HdfsToken("yarn")})).ok());
  renewer_->Remove(App(1));
  Run(Duration::Seconds(599));
  EXPECT_EQ(calls_.cancelled, 0);
  Run(Duration::Seconds(2));
  EXPECT_EQ(calls_.cancelled, 1);
}

TEST_F(TokenRenewerTest, AtMostSomeRunAtOnceAndWhatIsRemovedMeanwhileIsForgotten) {
  RenewalTimes times;
  times.at_once = 2;
  Make(times);
  calls_.silent = true;
  std::vector<RpcToken> tokens;
  for (int i = 0; i < 5; ++i) tokens.push_back(HdfsToken("yarn", std::to_string(i)));
  bool told = false;
  renewer_->Add(App(1), Submission(tokens), [&](const base::Status&) { told = true; });
  Run(Duration::Seconds(1));
  EXPECT_EQ(calls_.renewed_at.size(), 2U);
  renewer_->Remove(App(1));
  EXPECT_EQ(renewer_->tokens(), 0U);
  EXPECT_FALSE(told);
}

TEST_F(TokenRenewerTest, HostileSubmissions) {
  EXPECT_TRUE(Add(1, "no protobuf").ok());  // the launch says so
  RpcToken cut = HdfsToken("yarn");
  cut.identifier.resize(3);
  const base::Status refused = Add(2, Submission({cut}));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("its identifier cannot be read"), std::string::npos);
  std::vector<RpcToken> many;
  for (int i = 0; i < 101; ++i) many.push_back(HdfsToken("yarn", std::to_string(i)));
  EXPECT_EQ(Add(3, Submission(many)).error().message, "more than 100 tokens to be renewed");
  EXPECT_EQ(renewer_->tokens(), 0U);
}

TEST(RenewerOf, ReadsBothForms) {
  EXPECT_EQ(*RenewerOf(HdfsToken("yarn")), "yarn");
  wire::yarn::YARNDelegationTokenIdentifierProto id;
  id.owner = "alice@EXAMPLE.COM";
  id.renewer = "bob";
  EXPECT_EQ(*RenewerOf({id.Encode(), "", "RM_DELEGATION_TOKEN", ""}), "bob");
  const std::string longer(300, 'r');
  std::string identifier("\0\5alice\x8E\x01\x2C", 10);  // a length of two bytes
  EXPECT_EQ(*RenewerOf({identifier + longer, "", kKind, ""}), longer);
  EXPECT_FALSE(RenewerOf({std::string("\0\x8C", 2), "", kKind, ""}).ok());
}

}  // namespace
}  // namespace fairlead::process::rm
