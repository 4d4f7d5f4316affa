#include "process/rm/credential_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/stored.h"
#include "env_sim/world.h"

namespace fairlead::process::rm {
namespace {

using testing::HasSubstr;

/// On a clock that the test moves; rows are stored at once.
class Credentials : public ::testing::Test {
 protected:
  Credentials() { Begin(); }
  /// The next run.
  void Begin() {
    CredentialStore::All found;
    for (const auto& [name, value] : rows_) found.emplace(name, *base::DecodeStored<CredentialStore::Kept>(value));
    store_.emplace(machine_.loop(), std::move(found), [this](const auto& rows, const auto& stored) {
      for (const env::Row& row : rows) {
        row.value ? void(rows_[row.key] = *row.value) : void(rows_.erase(row.key));
      }
      stored();
    });
  }
  /// The text of one that is made, or why not.
  std::string Make(const std::string& name, bool node = false, const std::string& user = "alice") {
    std::string out;
    store_->Make({name, node, user, host_, "root"},
                 [&](const auto& made) { out = made.ok() ? *made : made.error().message; });
    return out;
  }
  static std::string IdentifierOf(const std::string& text) { return text.substr(0, text.rfind('.')); }
  bool Opens(const std::string& text, bool node = false) {
    const auto secret = store_->Secret(IdentifierOf(text), node);
    return secret.ok() && secret->password == text.substr(text.rfind('.') + 1);
  }
  void Pass(base::Duration time) {
    machine_.loop().After(time, [] {});
    world_.RunUntil(world_.now() + time, [] { return false; });
  }

  /// Why the node that shows it may not be `host`; empty: it may.
  std::string Refusal(const std::string& text, const std::string& host) {
    const base::Status admitted = store_->AdmitHost(
        IdentifierOf(text), host,
        [this](const std::string& name, const std::string& why) { told_.push_back(name + ": " + why); });
    return admitted.ok() ? "" : admitted.error().message;
  }

  std::string host_;  // of the next one that is made
  std::vector<std::string> told_;
  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("rm");
  std::map<std::string, std::string> rows_;
  std::optional<CredentialStore> store_;
};

TEST_F(Credentials, OpensWhatItsKindIsForUntilItIsRevoked) {
  const std::string client = Make("laptop"), node = Make("n1", true, "");
  EXPECT_TRUE(Opens(client));
  EXPECT_EQ(store_->Secret(IdentifierOf(client), false)->user, "alice");
  EXPECT_TRUE(Opens(node, true));
  EXPECT_THAT(store_->Secret(IdentifierOf(client), true).error().message,
              HasSubstr("the credential 'laptop' is a client's, and opens nothing else"));
  EXPECT_FALSE(Opens(node));
  Begin();
  EXPECT_TRUE(Opens(client)) << "after a restart";
  store_->Revoke("laptop", [](const base::Status& done) { EXPECT_TRUE(done.ok()); });
  EXPECT_FALSE(Opens(client));
  Begin();
  EXPECT_FALSE(Opens(client));
  EXPECT_TRUE(Opens(node, true));
  store_->Revoke("laptop", [](const base::Status& done) { EXPECT_FALSE(done.ok()); });
  EXPECT_FALSE(Opens(client)) << "nor by the next of that name";
}

TEST_F(Credentials, OneThatIsMadeAgainReplacesTheOneBeforeADayLater) {
  const std::string first = Make("laptop"), second = Make("laptop");
  EXPECT_NE(first, second);
  EXPECT_TRUE(Opens(first));
  EXPECT_TRUE(Opens(second));
  const std::string third = Make("laptop");
  EXPECT_FALSE(Opens(first));
  EXPECT_TRUE(Opens(second));
  Pass(base::Duration::Millis(CredentialStore::kEarlierMs + 1));
  EXPECT_FALSE(Opens(second));
  EXPECT_TRUE(Opens(third));
  EXPECT_THAT(Make("laptop", false, "bob"), HasSubstr("of another kind or user; revoke it first"));
  EXPECT_THAT(Make("laptop", true), HasSubstr("of another kind or user; revoke it first"));
}

TEST_F(Credentials, ANewOneOfARevokedNameIsAnother) {
  const std::string first = Make("laptop");
  store_->Revoke("laptop", [](const base::Status&) {});
  Pass(base::Duration::Millis(2));
  const std::string second = Make("laptop");
  EXPECT_FALSE(Opens(first));
  EXPECT_TRUE(Opens(second));
}

TEST_F(Credentials, WhatIsNoneOpensNothing) {
  const std::string good = Make("laptop");
  const std::string identifier = IdentifierOf(good);
  for (const std::string& bad :
       {std::string(), std::string("fl1."), std::string("fl1.laptop"), std::string("fl1.laptop."),
        std::string("fl1.laptop.x"), identifier + "0", identifier.substr(0, identifier.size() - 1),
        std::string("fl1.laptop.99999999999999999999"), std::string("fl1.other.1"), "fl1." + std::string(1 << 20, 'a'),
        std::string("\x0a\x05"
                    "alice")}) {
    EXPECT_FALSE(store_->Secret(bad, false).ok()) << bad.substr(0, 40);
  }
  EXPECT_NE(store_->Secret(identifier, false)->password, "");
  for (const std::string& name : {std::string(), std::string("a.b"), std::string("a b"), std::string(65, 'a')}) {
    EXPECT_THAT(Make(name), HasSubstr("a credential's name has")) << name;
  }
  EXPECT_THAT(Make("long", false, std::string(2000, 'a')), HasSubstr("user"));
  EXPECT_EQ(store_->all().size(), 1U);
}

TEST_F(Credentials, ANodesIsOfTheHostThatItSaysFirst) {
  const std::string first = Make("n1", true, "");
  for (const std::string& none : {std::string(), std::string("a b"), std::string("a\nb"), std::string(2000, 'h')}) {
    EXPECT_THAT(Refusal(first, none), HasSubstr("says no host that could be one"));
  }
  EXPECT_EQ(Refusal(first, "worker7"), "");
  EXPECT_EQ(Refusal(first, "worker7"), "");
  EXPECT_THAT(Refusal(first, "worker8"),
              HasSubstr("the credential 'n1' is that of the node worker7, and this one says that it is worker8"));
  Begin();
  EXPECT_EQ(store_->all().at("n1").host, "worker7") << "after a restart";
  EXPECT_THAT(Refusal(first, "worker8"), HasSubstr("'fairlead credentials make --node n1 --host worker8'"));
  EXPECT_THAT(Refusal(Make("n2", true, ""), "worker7"),
              HasSubstr("the node worker7 has the credential 'n1', and not 'n2'"));
  // Made again it is free, by the text before as well.
  const std::string second = Make("n1", true, "");
  EXPECT_EQ(Refusal(first, "worker8"), "");
  EXPECT_THAT(Refusal(second, "worker7"), HasSubstr("that of the node worker8"));
  EXPECT_EQ(Refusal(Make("n3", true, ""), "worker7"), "") << "which nobody has now";
}

TEST_F(Credentials, AHostThatIsSaidBeforehandCounts) {
  host_ = "worker7";
  const std::string bound = Make("n1", true, "");
  EXPECT_THAT(Refusal(bound, "worker8"), HasSubstr("is that of the node worker7"));
  EXPECT_EQ(Refusal(bound, "worker7"), "");
  EXPECT_EQ(Refusal(Make("n2", true, ""), "worker7"), "") << "an administrator says so";
  EXPECT_THAT(Make("laptop"), HasSubstr("a host is a node's"));
  host_ = "two words";
  EXPECT_THAT(Make("n3", true, ""), HasSubstr("a host is a node's, and a name or an address"));
  host_ = std::string(2000, 'h');
  EXPECT_THAT(Make("n3", true, ""), HasSubstr("host"));
}

TEST_F(Credentials, RefusedHostsAreCountedAndToldOfNowAndThen) {
  const std::string node = Make("n1", true, "");
  Refusal(node, "worker7");
  for (int i = 0; i < 100; ++i) Refusal(node, "worker" + std::to_string(100 + i));
  EXPECT_EQ(store_->hosts_refused(), 100U);
  EXPECT_EQ(told_.size(), 1U);
  Pass(base::Duration::Seconds(11));
  Refusal(node, "worker8");
  EXPECT_THAT(told_, testing::ElementsAre(HasSubstr("worker100"), HasSubstr("n1: the credential 'n1' is that of")));
}

/// What a release wrote before hosts were known.
struct Earlier {
  bool node = false;
  std::string user;
  int64_t serial = 0;
  std::string secret;
  int64_t made_ms = 0;
  std::string made_by, earlier_secret;
  int64_t earlier_until_ms = 0;
  FL_FIELDS(node, user, serial, secret, made_ms, made_by, earlier_secret, earlier_until_ms)
};

TEST_F(Credentials, ARowFromBeforeHostsWereKnownIsRead) {
  const std::string node = Make("n1", true, "");
  const CredentialStore::Kept& now = store_->all().at("n1");
  rows_["n1"] =
      base::EncodeStored(Earlier{now.node, now.user, now.serial, now.secret, now.made_ms, now.made_by, "", 0});
  Begin();
  EXPECT_TRUE(Opens(node, true));
  EXPECT_EQ(Refusal(node, "worker7"), "");
  EXPECT_THAT(Refusal(node, "worker8"), HasSubstr("is that of the node worker7"));
}

TEST_F(Credentials, WhereOthersReadThemAllEnd) {
  const std::string good = Make("laptop");
  store_->RevokeAll();
  EXPECT_FALSE(Opens(good));
  Begin();
  EXPECT_FALSE(Opens(good));
}

}  // namespace
}  // namespace fairlead::process::rm
