#include "model/queue_set.h"

#include <gtest/gtest.h>

#include "model/queues.h"

namespace fairlead::model {
namespace {

QueueSet Lists() {
  QueueTree file;
  QueueConfig& root = file.queues.emplace_back();
  root.name = "root";
  root.submit_acl = AccessList{};
  root.administer_acl = AccessList{false, {"chief"}, {}};
  QueueConfig& open = file.queues.emplace_back();
  open.name = "root.open";
  open.submit_acl = AccessList{true, {}, {}};
  QueueConfig& alpha = file.queues.emplace_back();
  alpha.name = "root.alpha";
  alpha.submit_acl = AccessList{false, {"alice"}, {"staff"}};
  return QueueSet(file);
}

bool MaySubmit(const std::string& queue, const std::string& user, const std::vector<std::string>& groups = {}) {
  return Lists().Allows(queue, user, groups, false);
}

TEST(QueueSetAllows, ListsNameUsersAndGroups) {
  EXPECT_TRUE(MaySubmit("root.alpha", "alice"));
  EXPECT_TRUE(MaySubmit("alpha", "bob", {"other", "staff"}));
  EXPECT_FALSE(MaySubmit("root.alpha", "bob", {"alice"}));
  EXPECT_TRUE(MaySubmit("root.open", "anybody"));
  EXPECT_FALSE(MaySubmit("root", "alice"));
}

TEST(QueueSetAllows, ListsHoldForQueuesBelow) {
  EXPECT_TRUE(MaySubmit("root.alpha.deep.down", "alice"));
  EXPECT_FALSE(MaySubmit("root.alphabet", "alice"));
  EXPECT_FALSE(MaySubmit("root.nowhere", "alice"));
  EXPECT_TRUE(Lists().Allows("root.open.x", "chief", {}, true));
  EXPECT_FALSE(Lists().Allows("root.open.x", "alice", {}, true));
}

TEST(QueueSetAllows, ListsOfAQueueAreNotThoseOfItsNameBelowAQueueCalledRoot) {
  EXPECT_FALSE(MaySubmit("root.root.alpha", "alice"));
  EXPECT_FALSE(MaySubmit("root.root.open", "anybody"));
}

TEST(QueueSetAllows, RootWithoutListIsOpen) {
  const QueueSet none{QueueTree{}};
  EXPECT_TRUE(none.Allows("root.any", "anybody", {}, false));
  EXPECT_TRUE(none.Allows("", "anybody", {}, true));
}

TEST(QueueSet, FindsTheQueueOrTheNearestAbove) {
  const QueueSet queues = Lists();
  EXPECT_EQ(queues.all().at(1).name, "root.open") << "as the file has them";
  EXPECT_EQ(queues.Find("alpha"), &queues.all().at(2));
  EXPECT_EQ(queues.Find("root.alpha"), &queues.all().at(2));
  EXPECT_EQ(queues.Find("root.alpha.x"), nullptr);
  EXPECT_EQ(queues.Find(""), nullptr);
  EXPECT_EQ(queues.Nearest("alpha.x.y"), &queues.all().at(2));
  EXPECT_EQ(queues.Nearest("root.nowhere"), &queues.all().at(0));
  EXPECT_EQ(queues.Nearest("root.root"), &queues.all().at(0)) << "of a user called root";
  EXPECT_EQ(QueueSet(QueueTree{}).Nearest("root.a"), nullptr);
}

TEST(QueueSet, TheLastPartsOfOneQueueAloneNameIt) {
  QueueTree file;
  for (const char* name : {"root", "root.a", "root.a.daily", "root.b", "root.b.daily", "root.b.hourly"}) {
    file.queues.emplace_back().name = name;
  }
  const QueueSet queues(file);
  const auto named = [&](const std::string& name) { return queues.FindAbbreviated(name)->name; };
  EXPECT_EQ(named("hourly"), "root.b.hourly");
  EXPECT_EQ(named("b.daily"), "root.b.daily");
  EXPECT_EQ(named("daily"), "root") << "two end so";
  EXPECT_EQ(named("root.b.weekly"), "root.b");
  EXPECT_EQ(QueueSet(QueueTree{}).FindAbbreviated("daily"), nullptr);
}

TEST(QueueSetWithin, TheNearestQueueThatSetsALargestContainerCounts) {
  QueueTree file;
  const auto add = [&](const char* name) -> ConfiguredResources& {
    file.queues.emplace_back().name = name;
    return file.queues.back().max_container_allocation.emplace();
  };
  add("root.a").absolute = {{"memory-mb", 2048}};
  add("root.a.b").absolute = {{"memory-mb", 16384}, {"vcores", 1}};
  add("root.c").percent = {{"*", 10.0}};
  file.queues.emplace_back().name = "root.a.d";
  const QueueSet queues(file);
  const Resources cluster = Resources::Of(8192, 4);
  EXPECT_EQ(queues.Within(cluster, "root.a"), Resources::Of(2048, 4));
  EXPECT_EQ(queues.Within(cluster, "a.d"), Resources::Of(2048, 4));
  EXPECT_EQ(queues.Within(cluster, "root.a.users.alice"), Resources::Of(2048, 4));
  EXPECT_EQ(queues.Within(cluster, "root.a.b"), Resources::Of(8192, 1));
  EXPECT_EQ(queues.Within(cluster, "root.c"), cluster);
  EXPECT_EQ(queues.Within(cluster, "root.ab"), cluster);
  EXPECT_EQ(queues.Within(cluster, ""), cluster);
  EXPECT_EQ(QueueSet(QueueTree{}).Within(cluster, "root.a"), cluster);
}

TEST(QueueSet, ACapacitySchedulersFileHasRulesOfItsOwn) {
  QueueTree file;
  EXPECT_TRUE(QueueSet(file).lists_always_hold());
  EXPECT_FALSE(QueueSet(file).negative_priorities());
  EXPECT_EQ(QueueSet(file).LifetimesOf("root.users.ann").For(-1), -1);
  EXPECT_EQ(QueueSet(file).LifetimesOf("root.users.ann").For(50), 50);
  CapacityQueueKeys& users = file.capacity.emplace().queues["root.users"];
  EXPECT_EQ(QueueSet(file).LifetimesOf("root.users.ann").maximum, -1);
  users.leaves.maximum_application_lifetime = 60;
  users.children.default_application_lifetime = 50;
  const QueueSet queues(file);
  EXPECT_FALSE(queues.lists_always_hold());
  EXPECT_TRUE(queues.negative_priorities());
  EXPECT_EQ(queues.LifetimesOf("users.ann").For(-1), 50);
  EXPECT_EQ(queues.LifetimesOf("root.users.ann").For(500), 60);
  EXPECT_EQ(queues.LifetimesOf("root.users").maximum, -1);
}

}  // namespace
}  // namespace fairlead::model
