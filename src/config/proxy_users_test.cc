#include "config/proxy_users.h"

#include <gtest/gtest.h>

namespace fairlead::config {
namespace {

class ProxyUsersTest : public ::testing::Test {
 protected:
  std::string Refusal(const std::string& real, const std::string& user, std::vector<std::string> groups = {},
                      const std::string& address = "10.0.0.1") {
    const auto read = ProxyUsers::Read(conf_, [](const std::string& name) -> std::vector<std::string> {
      if (name == "gateway") return {"10.0.0.7"};
      return {};
    });
    if (!read.ok()) return read.error().message;
    const base::Status judged = read->Judge({real, real + "@EXAMPLE.COM", user, user, std::move(groups), address});
    return judged.ok() ? "" : judged.error().message;
  }
  HadoopConf conf_;
};

TEST_F(ProxyUsersTest, WithoutKeysNobodyActsForOthers) {
  EXPECT_EQ(Refusal("hue", "bob"), "User: hue@EXAMPLE.COM is not allowed to impersonate bob");
}

TEST_F(ProxyUsersTest, UsersOrGroupsAndHosts) {
  conf_.Set("hadoop.proxyuser.hue.users", "alice, bob");
  conf_.Set("hadoop.proxyuser.hue.groups", "staff");
  conf_.Set("hadoop.proxyuser.hue.hosts", "gateway,10.0.0.0/30");
  EXPECT_EQ(Refusal("hue", "bob"), "");
  EXPECT_EQ(Refusal("hue", "eve", {"students", "staff"}), "");
  EXPECT_EQ(Refusal("hue", "eve", {"students"}), "User: hue@EXAMPLE.COM is not allowed to impersonate eve");
  EXPECT_EQ(Refusal("hue", "bob", {}, "10.0.0.7"), "");
  EXPECT_EQ(Refusal("hue", "bob", {}, "10.0.0.8"),
            "Unauthorized connection for super-user: hue@EXAMPLE.COM from IP /10.0.0.8");
  EXPECT_EQ(Refusal("oozie", "bob"), "User: oozie@EXAMPLE.COM is not allowed to impersonate bob");
}

TEST_F(ProxyUsersTest, AStarIsEverybodyAndEverywhereAndNoHostsAreNone) {
  conf_.Set("hadoop.proxyuser.hue.groups", " * ");
  EXPECT_EQ(Refusal("hue", "bob"), "Unauthorized connection for super-user: hue@EXAMPLE.COM from IP /10.0.0.1");
  conf_.Set("hadoop.proxyuser.hue.hosts", "*");
  EXPECT_EQ(Refusal("hue", "bob"), "");
}

TEST_F(ProxyUsersTest, TheKeysOfTheResourceManagerGoFirstAndNamesMayHaveDots) {
  conf_.Set("hadoop.proxyuser.hue.users", "alice");
  conf_.Set("hadoop.proxyuser.hue.hosts", "*");
  conf_.Set("yarn.resourcemanager.proxyuser.hue.users", "bob");
  conf_.Set("hadoop.proxyuser.a.b.users", "*");
  conf_.Set("hadoop.proxyuser.a.b.hosts", "*");
  EXPECT_EQ(Refusal("hue", "bob"), "");
  EXPECT_NE(Refusal("hue", "alice"), "");
  EXPECT_EQ(Refusal("a.b", "bob"), "");
}

TEST_F(ProxyUsersTest, AListOfHostsThatCannotBeReadIsAnError) {
  conf_.Set("hadoop.proxyuser.hue.hosts", "10.0.0.0/99");
  EXPECT_EQ(Refusal("hue", "bob").find("hadoop.proxyuser.hue.hosts: '10.0.0.0/99' is no range"), 0U);
}

}  // namespace
}  // namespace fairlead::config
