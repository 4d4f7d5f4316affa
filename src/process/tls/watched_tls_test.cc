#include "process/tls/watched_tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "env_sim/sim_tls.h"
#include "env_sim/world.h"

namespace fairlead::process::tls {
namespace {

/// A file whose text is whom a client trusts; "" is a file that is not there, "junk" one that says nothing.
class WatchedTlsTest : public ::testing::Test {
 protected:
  TlsFilesSource Source() {
    return {[this]() -> base::Result<std::string> {
              ++looks_;
              if (file_.empty()) return base::Error{"no such file"};
              return file_;
            },
            [](const std::string& bytes) -> base::Result<std::shared_ptr<env::Tls>> {
              if (bytes == "junk") return base::Error{"it is junk"};
              return std::shared_ptr<env::Tls>(std::make_shared<env_sim::SimTls>("server", bytes));
            },
            base::Duration::Seconds(10),
            [this](const base::Status& status) { told_.push_back(status.ok() ? "changed" : status.error().message); }};
  }
  void Pass(int64_t seconds) {
    world_.RunUntil(world_.now() + base::Duration::Seconds(seconds), [] { return false; });
  }
  /// Whether a server of that authority is believed.
  static bool Trusts(env::Tls& tls, const std::string& authority) {
    env_sim::SimTls server("server", authority);
    const auto mine = tls.Connect("server"), its = server.Accept();
    for (int turn = 0; turn < 4; ++turn) {
      if (!its->Receive(mine->TakeForPeer()).ok() || !mine->Receive(its->TakeForPeer()).ok()) return false;
    }
    return mine->established();
  }

  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("machine");
  std::string file_ = "first";
  int looks_ = 0;
  std::vector<std::string> told_;
};

TEST_F(WatchedTlsTest, WhatHasChangedCountsAndIsToldOnce) {
  WatchedTls tls(machine_.loop(), Source());
  ASSERT_TRUE(tls.opened().ok());
  EXPECT_TRUE(Trusts(tls, "first"));
  Pass(25);
  EXPECT_EQ(looks_, 3);
  EXPECT_THAT(told_, testing::IsEmpty());
  file_ = "second";
  Pass(25);
  EXPECT_TRUE(Trusts(tls, "second"));
  EXPECT_FALSE(Trusts(tls, "first"));
  EXPECT_THAT(told_, testing::ElementsAre("changed"));
}

TEST_F(WatchedTlsTest, WhatCannotBeReadLeavesTheEarlierOne) {
  WatchedTls tls(machine_.loop(), Source());
  for (const char* bad : {"junk", ""}) {
    file_ = bad;
    Pass(25);
    EXPECT_TRUE(Trusts(tls, "first"));
  }
  EXPECT_TRUE(tls.opened().ok());
  file_ = "first";
  Pass(10);
  EXPECT_THAT(told_, testing::ElementsAre("it is junk", "no such file", "changed"));
}

TEST_F(WatchedTlsTest, FilesThatComeLateCountFromThenOn) {
  file_ = "";
  WatchedTls tls(machine_.loop(), Source());
  ASSERT_FALSE(tls.opened().ok());
  EXPECT_EQ(tls.opened().error().message, "no such file");
  file_ = "junk";
  Pass(10);
  EXPECT_EQ(tls.opened().error().message, "it is junk");
  file_ = "first";
  Pass(10);
  ASSERT_TRUE(tls.opened().ok());
  EXPECT_TRUE(Trusts(tls, "first"));
}

TEST_F(WatchedTlsTest, WithoutAnIntervalNobodyLooksAgain) {
  TlsFilesSource source = Source();
  source.look = {};
  WatchedTls tls(machine_.loop(), std::move(source));
  Pass(60);
  EXPECT_EQ(looks_, 1);
}

}  // namespace
}  // namespace fairlead::process::tls
