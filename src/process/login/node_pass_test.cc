#include "process/login/node_pass.h"

#include <gtest/gtest.h>

namespace fairlead::process::login {
namespace {

const env::Endpoint kNode{"10.0.0.7", 8042};
constexpr char kKey[] = "key of NM tokens";

TEST(NodePass, IsGoodForOneNodeAndItsTime) {
  const auto pass = MakePass("alice", kNode, kKey, 1'000);
  ASSERT_TRUE(pass);
  EXPECT_EQ(UserOfPass(*pass, kNode, kKey, 1'000), "alice");
  EXPECT_EQ(UserOfPass(*pass, kNode, kKey, 999 + kPassLife.millis()), "alice");
  EXPECT_EQ(UserOfPass(*pass, kNode, kKey, 1'000 + kPassLife.millis()), std::nullopt);
  EXPECT_EQ(UserOfPass(*pass, {"10.0.0.8", 8042}, kKey, 1'000), std::nullopt);
  EXPECT_EQ(UserOfPass(*pass, {"10.0.0.7", 8043}, kKey, 1'000), std::nullopt);
  EXPECT_EQ(UserOfPass(*pass, kNode, "another key", 1'000), std::nullopt);
}

TEST(NodePass, OfAnotherUserIsAnotherPass) {
  std::string pass = *MakePass("alice", kNode, kKey, 1'000);
  pass.replace(pass.find("alice"), 5, "root1");
  EXPECT_EQ(UserOfPass(pass, kNode, kKey, 1'000), std::nullopt);
  EXPECT_EQ(UserOfPass("", kNode, kKey, 1'000), std::nullopt);
  EXPECT_EQ(MakePass("al&ice", kNode, kKey, 1'000), std::nullopt);
  EXPECT_EQ(MakePass("", kNode, kKey, 1'000), std::nullopt);
}

}  // namespace
}  // namespace fairlead::process::login
