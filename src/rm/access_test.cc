#include "rm/access.h"

#include <gtest/gtest.h>

namespace fairlead::rm {
namespace {

model::QueueTree Tree() {
  model::QueueTree tree;
  model::QueueConfig root;
  root.name = "root";
  root.submit_acl = model::AccessList{};
  root.administer_acl = model::AccessList{false, {"chief"}, {}};
  model::QueueConfig alpha;
  alpha.name = "root.alpha";
  alpha.submit_acl = model::AccessList{false, {"alice"}, {"staff"}};
  model::QueueConfig open;
  open.name = "root.open";
  open.submit_acl = model::AccessList{true, {}, {}};
  tree.queues = {root, alpha, open};
  return tree;
}

bool MaySubmit(const std::string& queue, const std::string& user, const std::vector<std::string>& groups = {}) {
  return QueueAllows(Tree(), queue, user, groups, false);
}

TEST(AccessTest, ListsNameUsersAndGroups) {
  EXPECT_TRUE(MaySubmit("root.alpha", "alice"));
  EXPECT_TRUE(MaySubmit("alpha", "bob", {"other", "staff"}));
  EXPECT_FALSE(MaySubmit("root.alpha", "bob", {"alice"}));
  EXPECT_TRUE(MaySubmit("root.open", "anybody"));
  EXPECT_FALSE(MaySubmit("root", "alice"));
}

TEST(AccessTest, ListsHoldForQueuesBelow) {
  EXPECT_TRUE(MaySubmit("root.alpha.deep.down", "alice"));
  EXPECT_FALSE(MaySubmit("root.alphabet", "alice"));
  EXPECT_FALSE(MaySubmit("root.nowhere", "alice"));
  EXPECT_TRUE(QueueAllows(Tree(), "root.open.x", "chief", {}, true));
  EXPECT_FALSE(QueueAllows(Tree(), "root.open.x", "alice", {}, true));
}

TEST(AccessTest, RootWithoutListIsOpen) {
  EXPECT_TRUE(QueueAllows({}, "root.any", "anybody", {}, false));
  EXPECT_TRUE(QueueAllows({}, "", "anybody", {}, true));
}

TEST(AccessTest, NearestConfiguredQueue) {
  EXPECT_EQ(ConfiguredQueue(Tree(), "alpha.x.y"), "root.alpha");
  EXPECT_EQ(ConfiguredQueue(Tree(), "root.nowhere"), "root");
  EXPECT_EQ(ConfiguredQueue(Tree(), "root.root"), "root") << "of a user called root";
}

}  // namespace
}  // namespace fairlead::rm
