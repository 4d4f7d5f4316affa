#include "process/rm/known_groups.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "env_posix/posix_loop.h"

namespace fairlead::process::rm {
namespace {

TEST(KnownGroups, ASlowLookUpDelaysNobodyElseAndIsMadeOnce) {
  const auto loop = env_posix::MakePosixLoop();
  std::promise<void> answer;
  std::atomic<int> looked_up = 0;
  KnownGroups known(*loop, [&](const std::string& user) {
    ++looked_up;
    if (user == "slow") answer.get_future().wait();
    return KnownGroups::Groups{"staff", user};
  });
  std::string order;
  known.Learn("slow", [&] { order += "slow "; });
  known.Learn("slow", [&] {
    order += "again ";
    loop->Stop();
  });
  known.Learn("quick", [&] {
    EXPECT_TRUE(known.Of("slow").empty());
    order += "quick ";
    answer.set_value();
  });
  loop->Run();
  EXPECT_EQ(order, "quick slow again ");
  EXPECT_EQ(looked_up, 2);
  EXPECT_EQ(known.Of("slow"), (KnownGroups::Groups{"staff", "slow"}));
  known.Learn("slow", [&] { order += "at once"; });
  EXPECT_EQ(order, "quick slow again at once");
}

TEST(KnownGroups, WhatHasExpiredIsLookedUpAgain) {
  const auto loop = env_posix::MakePosixLoop();
  std::atomic<int> looked_up = 0;
  KnownGroups known(*loop, [&](const std::string&) { return KnownGroups::Groups{std::to_string(++looked_up)}; });
  for (const char* group : {"1", "2"}) {
    known.Learn("one", [&] { loop->Stop(); });
    loop->Run();
    EXPECT_EQ(known.Of("one"), KnownGroups::Groups{group});
    known.Expire();
    EXPECT_FALSE(known.Knows("one"));
  }
}

}  // namespace
}  // namespace fairlead::process::rm
