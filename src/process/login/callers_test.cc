#include "process/login/callers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::process::login {
namespace {

using endpoints::yarn::Caller;
using testing::HasSubstr;

const env::Endpoint kHere{"127.0.0.1", 40000}, kThere{"10.0.0.9", 40000}, kDoor{"127.0.0.1", 8032};

/// Connections of this machine are alice's.
CallerRules Rules() {
  CallerRules rules;
  rules.local_user = [](const env::Endpoint& peer, const env::Endpoint&) -> std::optional<std::string> {
    if (peer.host != kHere.host) return std::nullopt;
    return "alice";
  };
  rules.node_users = {"yarn"};
  return rules;
}

Caller Named(const std::string& user, const std::string& real_user = "") {
  Caller caller;
  caller.user = user;
  caller.real_user = real_user;
  return caller;
}

TEST(Callers, AProcessOfThisMachineIsItsUserAndNobodyElse) {
  EXPECT_TRUE(Believe(Rules(), Named("alice"), kHere, kDoor, false).ok());
  EXPECT_THAT(Believe(Rules(), Named("bob"), kHere, kDoor, false).error().message,
              HasSubstr("this process is alice's, and acts as alice alone; drop HADOOP_USER_NAME"));
  // Whether she may act for bob hadoop.proxyuser says afterwards.
  EXPECT_TRUE(Believe(Rules(), Named("bob", "alice"), kHere, kDoor, false).ok());
  EXPECT_FALSE(Believe(Rules(), Named("alice", "bob"), kHere, kDoor, false).ok());
}

TEST(Callers, RootMayBeAnybody) {
  CallerRules rules = Rules();
  rules.local_user = [](const env::Endpoint&, const env::Endpoint&) { return std::optional<std::string>("root"); };
  EXPECT_TRUE(Believe(rules, Named("bob"), kHere, kDoor, false).ok());
}

TEST(Callers, OnlySomeRunNodeAgents) {
  EXPECT_THAT(Believe(Rules(), Named("alice"), kHere, kDoor, true).error().message,
              HasSubstr("fairlead.auth.node-users"));
  CallerRules rules = Rules();
  rules.node_users.insert("alice");
  EXPECT_TRUE(Believe(rules, Named("whatever"), kHere, kDoor, true).ok());
}

TEST(Callers, AnotherMachineIsToldWhatToDo) {
  EXPECT_THAT(Believe(Rules(), Named("alice"), kThere, kDoor, false).error().message,
              HasSubstr("User alice at 10.0.0.9 is not known here; 'fairlead credentials make --client NAME'"));
  EXPECT_THAT(Believe(Rules(), Named("alice"), kThere, kDoor, true).error().message,
              HasSubstr("'fairlead credentials make --node NAME'"));
}

TEST(Callers, NetworksThatAreTrustedOpenTheClientsPortsForTheirUsersAlone) {
  CallerRules rules = Rules();
  rules.trusted = [](const std::string& address) { return address.starts_with("10.0.0."); };
  rules.trusted_users = {"bob"};
  EXPECT_TRUE(Believe(rules, Named("bob"), kThere, kDoor, false).ok());
  EXPECT_FALSE(Believe(rules, Named("bob"), kThere, kDoor, true).ok());
  EXPECT_FALSE(Believe(rules, Named("alice"), kThere, kDoor, false).ok());
  EXPECT_FALSE(Believe(rules, Named("bob"), {"10.0.1.9", 1}, kDoor, false).ok());
  EXPECT_FALSE(Believe(rules, Named("bob"), kHere, kDoor, false).ok()) << "here the kernel knows better";
  rules.trusted_users = {"*"};
  EXPECT_TRUE(Believe(rules, Named("alice"), kThere, kDoor, false).ok());
}

}  // namespace
}  // namespace fairlead::process::login
