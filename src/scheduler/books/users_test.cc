#include "scheduler/books/users.h"

#include <gtest/gtest.h>

#include "scheduler/books/hash_of.h"

namespace fairlead::scheduler::native {
namespace {

TEST(UsersTest, AUserAtTheLimitMayRunNoMore) {
  Users users;
  const UserId ann = users.Enter({"ann"}, 1);
  EXPECT_EQ(users.Enter({"ann"}, 1), ann);
  EXPECT_TRUE(users.MayRun(ann));
  users.Start(ann);
  EXPECT_FALSE(users.MayRun(ann));
  EXPECT_FALSE(users.AnyReopened());
  users.Stop(ann);
  EXPECT_TRUE(users.MayRun(ann));
  EXPECT_EQ(users.TakeReopened(), std::vector<UserId>{ann});
  EXPECT_FALSE(users.AnyReopened());
}

TEST(UsersTest, AGroupIsNoUserOfItsName) {
  Users users;
  const UserId ann = users.Enter({"ann"}, 1);
  EXPECT_NE(users.Enter({"ann", true}, 1), ann);
}

TEST(UsersTest, AUserWithoutApplicationsIsForgotten) {
  Users users;
  for (int i = 0; i < 100'000; ++i) users.Leave(users.Enter({"stranger" + std::to_string(i)}, 5));
  EXPECT_EQ(users.Enter({"ann"}, 5).value, 0u) << "no number was used up";
  EXPECT_EQ(users.Check({}, {}), "");
}

TEST(UsersTest, NewLimitsReopen) {
  Users users;
  const UserId ann = users.Enter({"ann"}, 0);
  EXPECT_FALSE(users.MayRun(ann));
  users.SetLimits([](const UserName& user) { return user.name == "ann" ? 2 : 0; });
  EXPECT_TRUE(users.MayRun(ann));
  EXPECT_EQ(users.TakeReopened(), std::vector<UserId>{ann});
}

TEST(UsersTest, CheckCountsRunningApplications) {
  Users users;
  const UserId ann = users.Enter({"ann"}, 5);
  users.Start(ann);
  EXPECT_EQ(users.Check({{ann, 1}}, {}), "");
  EXPECT_EQ(users.Check({}, {}), "user ann: running");
}

TEST(UsersTest, WhatIsUsedCountsUpToTheMaximumAndLessOfItFrees) {
  Users users;
  const auto two = model::Resources::Of(2, 2);
  const auto one = model::Resources::Of(1, 1);
  const UserId ann = users.Enter({"ann"}, 5, two);
  const UserId bob = users.Enter({"bob"}, 5);
  users.SetMaxima(true, [&](const UserName& user) -> std::optional<model::Resources> {
    if (user.name == "ann") return two;
    return std::nullopt;
  });
  users.TakeFreed();
  users.AddUse(ann, two);
  users.AddUse(bob, two);
  EXPECT_TRUE(users.Exceeds(ann, one));
  EXPECT_FALSE(users.Exceeds(bob, one)) << "no maximum";
  EXPECT_TRUE(users.TakeFreed().empty());
  EXPECT_EQ(users.Check({}, {{ann, two}, {bob, two}}), "");
  EXPECT_EQ(users.Check({}, {{ann, one}, {bob, two}}), "user ann: usage");
  users.AddUse(ann, -one);
  users.AddUse(bob, -one);
  EXPECT_FALSE(users.Exceeds(ann, one));
  EXPECT_EQ(users.TakeFreed(), std::set<UserId>{ann});
  users.SetMaxima(true, [&](const UserName&) { return one; });
  EXPECT_TRUE(users.Exceeds(ann, one));
  EXPECT_TRUE(users.Exceeds(bob, one));
  EXPECT_EQ(users.TakeFreed(), std::set<UserId>{ann}) << "who had no maximum has nobody waiting";
}

TEST(UsersTest, EveryChangeIsInTheHash) {
  Users users;
  std::set<uint64_t> seen;
  const auto differs = [&] { return seen.insert(HashOf(users)).second; };
  EXPECT_TRUE(differs());
  const UserId ann = users.Enter({"ann"}, 5);
  EXPECT_TRUE(differs());
  users.Enter({"ann"}, 5);
  EXPECT_TRUE(differs());
  users.Start(ann);
  EXPECT_TRUE(differs());
  users.Wait(ann, AppIndex{3});
  EXPECT_TRUE(differs());
  users.SetLimits([](const UserName&) { return 1; });
  EXPECT_TRUE(differs());
  users.TakeReopened();
  EXPECT_TRUE(differs());
  users.AddUse(ann, model::Resources::Of(2, 2));
  EXPECT_TRUE(differs());
  users.SetMaxima(true, [](const UserName&) { return model::Resources::Of(4, 4); });
  EXPECT_TRUE(differs());
  users.AddUse(ann, model::Resources::Of(-1, -1));
  EXPECT_TRUE(differs());
  users.TakeFreed();
  EXPECT_TRUE(differs());
}

}  // namespace
}  // namespace fairlead::scheduler::native
