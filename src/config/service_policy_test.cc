#include "config/service_policy.h"

#include <gtest/gtest.h>

namespace fairlead::config {
namespace {

constexpr ServicePolicy::Service kServices[] = {{"org.apache.Client", "security.client.protocol.acl"},
                                                {"org.apache.Tracker", "security.tracker.protocol.acl"}};

class ServicePolicyTest : public ::testing::Test {
 protected:
  base::Result<ServicePolicy> Read() {
    return ServicePolicy::Read(conf_, kServices, [](const std::string& name) -> std::vector<std::string> {
      if (name == "door") return {"10.0.0.7"};
      return {};
    });
  }
  std::string Refusal(const std::string& user, std::vector<std::string> groups = {},
                      const std::string& address = "10.0.0.1", const char* protocol = "org.apache.Client") {
    const auto policy = Read();
    if (!policy.ok()) return policy.error().message;
    const base::Status may = policy->Judge({protocol, user, user + " (auth:SIMPLE)", std::move(groups), address});
    return may.ok() ? "" : may.error().message;
  }
  HadoopConf conf_;
};

constexpr char kDenied[] =
    "User eve (auth:SIMPLE) is not authorized for protocol interface org.apache.Client: denied by configured ACL";

TEST_F(ServicePolicyTest, WithoutKeysEverybodyMaySpeakTheKnownProtocols) {
  EXPECT_EQ(Refusal("eve"), "");
  EXPECT_EQ(Refusal("eve", {}, "10.0.0.1", "org.apache.Other"), "Unknown protocol: org.apache.Other");
}

TEST_F(ServicePolicyTest, ListsOfUsersAndGroupsAndOfThoseWhoAreBlocked) {
  conf_.Set("security.client.protocol.acl", "alice staff");
  conf_.Set("security.client.protocol.acl.blocked", "bob");
  EXPECT_EQ(Refusal("alice"), "");
  EXPECT_EQ(Refusal("bert", {"staff"}), "");
  EXPECT_NE(Refusal("bob", {"staff"}), "");
  EXPECT_EQ(Refusal("eve", {"students"}), kDenied);
  EXPECT_EQ(Refusal("eve", {}, "10.0.0.1", "org.apache.Tracker"), "");
  EXPECT_TRUE(Read()->NamesGroups("org.apache.Client"));
  EXPECT_FALSE(Read()->NamesGroups("org.apache.Tracker"));
}

TEST_F(ServicePolicyTest, TheDefaultCountsWhereNothingIsWritten) {
  conf_.Set("security.service.authorization.default.acl", "alice");
  conf_.Set("security.tracker.protocol.acl", "*");
  EXPECT_EQ(Refusal("eve"), kDenied);
  EXPECT_EQ(Refusal("eve", {}, "10.0.0.1", "org.apache.Tracker"), "");
  conf_.Set("security.service.authorization.default.acl", "*");
  conf_.Set("security.service.authorization.default.acl.blocked", "eve");
  EXPECT_EQ(Refusal("eve"), kDenied);
}

TEST_F(ServicePolicyTest, HostsAndBlockedHosts) {
  conf_.Set("security.client.protocol.hosts", "door,10.0.0.0/30");
  conf_.Set("security.client.protocol.hosts.blocked", "10.0.0.2");
  EXPECT_EQ(Refusal("eve"), "");
  EXPECT_EQ(Refusal("eve", {}, "10.0.0.7"), "");
  const std::string refused = " is not authorized for protocol interface org.apache.Client";
  EXPECT_EQ(Refusal("eve", {}, "10.0.0.2"), "Host 10.0.0.2" + refused);
  EXPECT_EQ(Refusal("eve", {}, "10.0.0.8"), "Host 10.0.0.8" + refused);
  conf_.Set("security.client.protocol.hosts", "1.2.3.4/x");
  EXPECT_EQ(Refusal("eve").find("security.client.protocol.hosts: '1.2.3.4/x' is no range"), 0U);
}

}  // namespace
}  // namespace fairlead::config
