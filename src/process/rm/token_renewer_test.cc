// Tokens of applications, with an issuer of the test's own.
#include "process/rm/token_renewer.h"

#include <gtest/gtest.h>

#include <optional>

#include "endpoints/yarn/credentials.h"
#include "env_sim/world.h"
#include "process/rm/token_identifier.h"
#include "wire/yarn/client.h"
#include "wire/yarn/tokens.h"

namespace fairlead::process::rm {
namespace {

using base::Duration;
using endpoints::yarn::RpcToken;

constexpr char kKind[] = "HDFS_DELEGATION_TOKEN";

/// Hadoop's Writable form: owner, renewer, real user, and then times.
RpcToken WritableToken(const std::string& renewer, const std::string& times) {
  std::string identifier(1, '\0');
  for (const std::string& text : {std::string("alice"), renewer, std::string()}) {
    identifier.push_back(static_cast<char>(text.size()));
    identifier += text;
  }
  return {identifier + times, "password", kKind, "127.0.0.1:8020"};
}

/// One that is cut where its times begin: eight bytes would follow.
RpcToken HdfsToken(const std::string& renewer, const std::string& number = "1") {
  return WritableToken(renewer, "\x88" + number);
}

/// One that ends for good at `max_ms`.
RpcToken MortalToken(int64_t max_ms, const std::string& number = "1") {
  RpcToken token =
      WritableToken("yarn", std::string("\1\x88", 2));  // issued in the first millisecond; eight bytes follow
  for (int shift = 56; shift >= 0; shift -= 8) token.identifier.push_back(static_cast<char>(max_ms >> shift));
  token.identifier += number;
  return token;
}

struct Calls {
  std::vector<int64_t> renewed_at;  // milliseconds
  int cancelled = 0;
  std::optional<TokenService::Failure> failure;
  int64_t life_ms = 60'000;
  int64_t most_ms = INT64_MAX;  // no renewal leads beyond
  bool silent = false;
  bool knows = true;
  bool issues = false;
  std::vector<std::string> issued_to;
  std::optional<TokenService::Failure> issue_failure;
  int64_t issue_life_ms = 100'000;
  std::string default_service;
};

class TestService final : public TokenService {
 public:
  TestService(env::Loop& loop, Calls& calls) : loop_(loop), calls_(calls) {}
  bool Knows(const RpcToken&) const override { return calls_.knows; }
  void Renew(const RpcToken& token, Renewed done) override {
    calls_.renewed_at.push_back(loop_.Wall().ms);
    if (calls_.silent) return;
    loop_.Post([this, most = std::min(calls_.most_ms, ReadIdentifier(token)->max_ms), done = std::move(done)] {
      if (calls_.failure) return done(*calls_.failure);
      if (most <= loop_.Wall().ms && most > 0) return done(Failure{"token is expired"});
      done(std::min(loop_.Wall().ms + calls_.life_ms, most));
    });
  }
  bool Issues() const override { return calls_.issues; }
  std::string DefaultService() const override { return calls_.default_service; }
  void Issue(const std::string& service, const std::string& owner, Issued done) override {
    calls_.issued_to.push_back(owner);
    loop_.Post([this, service, owner, done = std::move(done)] {
      if (calls_.issue_failure) return done(*calls_.issue_failure);
      RpcToken token = MortalToken(loop_.Wall().ms + calls_.issue_life_ms, owner + std::to_string(loop_.Wall().ms));
      token.service = service;
      done(std::move(token));
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
  void Make(RenewalTimes times, Duration least_left = Duration::Seconds(5)) {
    TokenRenewer::Services services;
    services.emplace(kKind, std::make_unique<TestService>(loop(), calls_));
    times.issue.least_left = least_left;
    renewer_.emplace(loop(), std::move(services), times,
                     TokenRenewer::Told{[this](const std::string& text) { warned_.push_back(text); },
                                        [this](const auto& app, const auto& tokens) { issued_[app] = tokens; }});
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

  static TokenRenewer::Application Of(int32_t number, const std::string& submission) {
    return {App(number), "user" + std::to_string(number / 10), submission};
  }
  /// What Add says.
  base::Status Add(int32_t number, const std::string& submission,
                   TokenRenewer::Patience patience = TokenRenewer::Patience::kOfASubmission) {
    std::optional<base::Status> told;
    renewer_->Add(
        Of(number, submission), [&](const base::Status& status) { told = status; }, patience);
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
  std::map<model::ApplicationId, std::vector<RpcToken>> issued_;
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

// yarn.resourcemanager.delegation-token.always-cancel.
TEST_F(TokenRenewerTest, OneThatWantsItKeptIsNotAskedWhereAllAreCancelled) {
  RenewalTimes times;
  times.always_cancel = true;
  Make(times);
  ASSERT_TRUE(Add(1, Submission({HdfsToken("yarn")}, false)).ok());
  renewer_->Remove(App(1));
  EXPECT_EQ(calls_.cancelled, 1);
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
      Of(2, Submission({HdfsToken("yarn")})), [](const base::Status&) {}, TokenRenewer::Patience::kOfOneThatRuns);
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
  times.cancel_look = Duration::Millis(100);
  Make(times);
  ASSERT_TRUE(Add(1, Submission({HdfsToken("yarn")})).ok());
  renewer_->Remove(App(1));
  Run(Duration::Seconds(599));
  EXPECT_EQ(calls_.cancelled, 0);
  Run(Duration::Seconds(2));
  EXPECT_EQ(calls_.cancelled, 1);
}

// yarn.resourcemanager.delayed.delegation-token.removal-interval-ms.
TEST_F(TokenRenewerTest, TheEndIsTheFirstLookAfterIt) {
  RenewalTimes times;
  times.cancel_delay = Duration::Seconds(600);
  times.cancel_look = Duration::Seconds(450);
  Make(times);
  ASSERT_TRUE(Add(1, Submission({HdfsToken("yarn")})).ok());
  renewer_->Remove(App(1));
  Run(Duration::Seconds(890));
  EXPECT_EQ(calls_.cancelled, 0);
  Run(Duration::Seconds(20));
  EXPECT_EQ(calls_.cancelled, 1);
}

// DelegationTokenRenewer.updateKeepAliveApplications.
TEST_F(TokenRenewerTest, AnEndIsLaterWhileANodeSaysThatLogsAreOnTheirWay) {
  RenewalTimes times;
  times.cancel_delay = Duration::Seconds(600);
  times.cancel_look = Duration::Millis(100);
  Make(times);
  ASSERT_TRUE(Add(1, Submission({HdfsToken("yarn")})).ok());
  ASSERT_TRUE(Add(2, Submission({HdfsToken("yarn", "2")})).ok());
  renewer_->KeepAlive({App(1), App(2), App(77)});
  Run(Duration::Seconds(601));
  EXPECT_EQ(renewer_->tokens(), 2U) << "they have not ended";
  renewer_->Remove(App(1));
  renewer_->Remove(App(2));
  Run(Duration::Seconds(500));
  renewer_->KeepAlive({App(1)});
  renewer_->Remove(App(1));  // a container of it has ended, too
  Run(Duration::Seconds(101));
  EXPECT_EQ(calls_.cancelled, 1);
  EXPECT_TRUE(renewer_->Has(App(1)));
  EXPECT_FALSE(renewer_->Has(App(2)));
  Run(Duration::Seconds(480));
  renewer_->KeepAlive({App(1)});
  const size_t renewed = calls_.renewed_at.size();
  Run(Duration::Seconds(590));
  EXPECT_GT(calls_.renewed_at.size(), renewed) << "it is renewed meanwhile";
  EXPECT_EQ(calls_.cancelled, 1);
  Run(Duration::Seconds(20));
  EXPECT_EQ(calls_.cancelled, 2);
  EXPECT_FALSE(renewer_->Has(App(1)));
}

TEST_F(TokenRenewerTest, AtMostSomeRunAtOnceAndWhatIsRemovedMeanwhileIsForgotten) {
  RenewalTimes times;
  times.at_once = 2;
  Make(times);
  calls_.silent = true;
  std::vector<RpcToken> tokens;
  for (int i = 0; i < 5; ++i) tokens.push_back(HdfsToken("yarn", std::to_string(i)));
  bool told = false;
  renewer_->Add(Of(1, Submission(tokens)), [&](const base::Status&) { told = true; });
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

class NewTokensTest : public TokenRenewerTest {
 protected:
  void SetUp() override {
    calls_.issues = true;
    Make({});
  }
  int64_t Later(int64_t seconds) { return loop().Wall().ms + seconds * 1000; }
};

TEST_F(NewTokensTest, OneThatNearsItsGreatestLifeGetsASuccessorForEachOwnerAndIsNotCancelled) {
  const RpcToken old = MortalToken(Later(100));
  for (const int32_t app : {1, 2, 11}) ASSERT_TRUE(Add(app, Submission({old})).ok());
  Run(Duration::Seconds(60));
  EXPECT_TRUE(calls_.issued_to.empty()) << "the end is far away";
  ASSERT_EQ(calls_.renewed_at.size(), 2U);
  Run(Duration::Seconds(36));  // that renewal led to the end; nine tenths of the rest
  EXPECT_EQ(calls_.issued_to, (std::vector<std::string>{"user0", "user1"}));
  ASSERT_EQ(issued_[App(1)].size(), 1U);
  EXPECT_NE(issued_[App(1)], std::vector<RpcToken>{old});
  EXPECT_EQ(issued_[App(1)], issued_[App(2)]);
  EXPECT_NE(issued_[App(1)], issued_[App(11)]) << "another user's";
  EXPECT_EQ(calls_.cancelled, 0) << "containers have the old one";
  EXPECT_EQ(renewer_->tokens(), 2U);
  Run(Duration::Seconds(1000));
  EXPECT_GE(calls_.issued_to.size(), 18U) << "and so on and on";
  EXPECT_LE(calls_.issued_to.size(), 28U);
  for (const int32_t app : {1, 2, 11}) renewer_->Remove(App(app));
  EXPECT_EQ(calls_.cancelled, 2);
  EXPECT_TRUE(issued_[App(1)].empty());
  EXPECT_TRUE(warned_.empty());
}

TEST_F(NewTokensTest, OneThatHasExpiredBeforeItsSubmissionGetsASuccessor) {
  const RpcToken other = HdfsToken("yarn", "other");
  ASSERT_TRUE(Add(1, Submission({MortalToken(Later(-1)), other})).ok());
  ASSERT_EQ(calls_.issued_to, std::vector<std::string>{"user0"});
  EXPECT_EQ(issued_[App(1)].size(), 2U);
  EXPECT_NE(std::find(issued_[App(1)].begin(), issued_[App(1)].end(), other), issued_[App(1)].end())
      << "nodes forget those of the submission";
  const base::Status recovered = Add(2, Submission({MortalToken(Later(-1))}), TokenRenewer::Patience::kOfOneThatRuns);
  EXPECT_TRUE(recovered.ok());
  EXPECT_EQ(calls_.issued_to.size(), 2U);
}

TEST_F(NewTokensTest, WithoutTheKeyNoneIsAskedFor) {
  calls_.issues = false;
  calls_.default_service = "10.0.0.1:8020";
  EXPECT_FALSE(Add(1, Submission({MortalToken(Later(-1))})).ok());
  EXPECT_TRUE(Add(2, Submission({})).ok());
  ASSERT_TRUE(Add(3, Submission({MortalToken(Later(100))})).ok());
  Run(Duration::Seconds(200));
  EXPECT_TRUE(calls_.issued_to.empty());
}

TEST_F(NewTokensTest, ARefusalIsSaidOnceAndTheJobGoesOnAndIsAskedForMoreAndMoreSeldom) {
  calls_.issue_failure = TokenService::Failure{"User: rm is not allowed to impersonate user0"};
  ASSERT_TRUE(Add(1, Submission({MortalToken(Later(50))})).ok());
  Run(Duration::Seconds(3600));
  EXPECT_TRUE(renewer_->Has(App(1)));
  ASSERT_EQ(warned_.size(), 1U);
  EXPECT_EQ(warned_[0],
            "no new HDFS_DELEGATION_TOKEN of 127.0.0.1:8020 for user0: User: rm is not allowed to impersonate user0; "
            "applications go on without it, and it is asked for again");
  EXPECT_GE(calls_.issued_to.size(), 10U);
  EXPECT_LE(calls_.issued_to.size(), 14U);
  calls_.issue_failure.reset();
  Run(Duration::Seconds(601));
  EXPECT_EQ(issued_[App(1)].size(), 1U);
}

TEST_F(NewTokensTest, OneWithoutASuccessorIsRenewedAsLongAsItCanBe) {
  Make({}, Duration::Seconds(100));
  calls_.issue_failure = TokenService::Failure{"refused"};
  ASSERT_TRUE(Add(1, Submission({MortalToken(Later(200))})).ok());
  Run(Duration::Seconds(190));
  EXPECT_GE(calls_.issued_to.size(), 3U);
  EXPECT_GE(calls_.renewed_at.back(), Later(-50)) << "it would have ended";
  calls_.issue_failure.reset();
  Run(Duration::Seconds(200));
  EXPECT_EQ(issued_[App(1)].size(), 1U);
}

TEST_F(NewTokensTest, ASubmissionWhoseExpiredTokenGetsNoSuccessorFails) {
  calls_.issue_failure = TokenService::Failure{"User: rm is not allowed to impersonate user0"};
  const base::Status refused = Add(1, Submission({MortalToken(Later(-1))}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "Failed to renew token: Kind: HDFS_DELEGATION_TOKEN, Service: 127.0.0.1:8020: User: rm is not allowed to "
            "impersonate user0");
  EXPECT_EQ(renewer_->tokens(), 0U);
}

TEST_F(NewTokensTest, WhoBringsNoneGetsOneOfTheDefaultFileSystem) {
  calls_.default_service = "10.0.0.1:8020";
  ASSERT_TRUE(Add(1, Submission({})).ok());
  ASSERT_EQ(issued_[App(1)].size(), 1U);
  EXPECT_EQ(issued_[App(1)][0].service, "10.0.0.1:8020");
  ASSERT_TRUE(Add(2, Submission({HdfsToken("")})).ok()) << "who says that nobody is to renew it has one";
  EXPECT_EQ(calls_.issued_to.size(), 1U);
  calls_.issue_failure = TokenService::Failure{"refused"};
  ASSERT_TRUE(Add(3, Submission({})).ok()) << "it can do without";
  EXPECT_TRUE(issued_[App(3)].empty());
  calls_.issue_failure.reset();
  Run(Duration::Seconds(11));
  EXPECT_EQ(issued_[App(3)].size(), 1U);
  Run(Duration::Seconds(10));
  renewer_->Remove(App(3));
  EXPECT_EQ(calls_.cancelled, 1);
}

TEST_F(NewTokensTest, OneThatComesAfterTheEndIsCancelled) {
  ASSERT_TRUE(Add(1, Submission({HdfsToken("yarn")})).ok());
  calls_.default_service = "10.0.0.1:8020";
  renewer_->Add(Of(2, Submission({})), [](const base::Status&) {});
  renewer_->Remove(App(2));
  Run(Duration::Seconds(1));
  EXPECT_EQ(calls_.issued_to.size(), 1U);
  EXPECT_EQ(calls_.cancelled, 1);
  EXPECT_EQ(renewer_->tokens(), 1U);
}

TEST(TokenIdentifier, ReadsBothForms) {
  EXPECT_EQ(ReadIdentifier(HdfsToken("yarn"))->renewer, "yarn");
  EXPECT_EQ(ReadIdentifier(HdfsToken("yarn"))->max_ms, INT64_MAX);
  EXPECT_EQ(ReadIdentifier(MortalToken(1'795'839'772'286))->max_ms, 1'795'839'772'286);
  EXPECT_EQ(ReadIdentifier(MortalToken(-5))->max_ms, 0);
  wire::yarn::YARNDelegationTokenIdentifierProto id;
  id.owner = "alice@EXAMPLE.COM";
  id.renewer = "bob";
  EXPECT_EQ(ReadIdentifier({id.Encode(), "", "RM_DELEGATION_TOKEN", ""})->renewer, "bob");
  const std::string longer(300, 'r');
  std::string identifier("\0\5alice\x8E\x01\x2C", 10);  // a length of two bytes
  EXPECT_EQ(ReadIdentifier({identifier + longer, "", kKind, ""})->renewer, longer);
  EXPECT_FALSE(ReadIdentifier({std::string("\0\x8C", 2), "", kKind, ""}).ok());
}

}  // namespace
}  // namespace fairlead::process::rm
