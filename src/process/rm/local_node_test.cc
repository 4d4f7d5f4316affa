#include "process/rm/local_node.h"

#include <gtest/gtest.h>

namespace fairlead::process::rm {
namespace {

TEST(LocalNode, IsLoopbackOrWhereItsConnectionBegins) {
  EXPECT_TRUE(CheckLocalNode("localhost", "", "127.0.0.1").ok());
  EXPECT_TRUE(CheckLocalNode("127.0.0.3", "", "127.0.0.1").ok());
  EXPECT_TRUE(CheckLocalNode("fl1", "127.0.1.1", "10.0.0.7").ok()) << "as Debian has it in /etc/hosts";
  EXPECT_TRUE(CheckLocalNode("fl1.example.com", "10.0.0.7", "10.0.0.7").ok());
  EXPECT_TRUE(CheckLocalNode("10.0.0.7", "", "10.0.0.7").ok());
}

TEST(LocalNode, IsNoOtherHost) {
  EXPECT_EQ(
      CheckLocalNode("fl2", "10.0.0.8", "10.0.0.7").error().message,
      "A node on this machine that shows no credential says that it is fl2, which leads to 10.0.0.8 and not to "
      "10.0.0.7; correct its yarn.nodemanager.hostname, or 'fairlead credentials make --node NAME' makes a file for "
      "it");
  EXPECT_FALSE(CheckLocalNode("fl2", "", "10.0.0.7").ok());
  EXPECT_FALSE(CheckLocalNode("", "", "10.0.0.7").ok());
  EXPECT_EQ(CheckLocalNode("fl2\nfl1", "10.0.0.7", "10.0.0.7").error().message,
            "a node says no host that could be one");
}

}  // namespace
}  // namespace fairlead::process::rm
