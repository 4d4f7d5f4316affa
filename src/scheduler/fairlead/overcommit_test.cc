#include "scheduler/fairlead/overcommit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/rng.h"
#include "scheduler/fairlead/test_cluster.h"

// Wish overcommit: a node that was measured to use little of what is booked on it offers more, and takes that back
// first.

namespace fairlead::scheduler {
namespace {

using model::MeasuredUse;
using model::Resources;

class OvercommitTest : public testing::Test {
 protected:
  static FairleadConfig Config(bool wish = true) {
    FairleadConfig config;
    config.queues.wishes.overcommit = wish;
    return config;
  }
  OvercommitTest() {
    cluster_.Node(0, 10'240, 10);
    cluster_.App(0, "root.q");
  }
  void Measured(int64_t cores_percent, int64_t memory_percent, uint32_t node = 0) {
    MeasuredUse use;
    use.milli_cores = cores_percent * 100;
    use.physical_bytes = memory_percent * 10'240 / 100 << 20;
    cluster_.Send(ev::NodeMeasured{{node}, use, {}, Resources::Of(10'240, 10)});
    EXPECT_EQ(cluster_.scheduler().CheckInvariants(), "");
  }
  void At(int64_t seconds) {
    cluster_.now_ = base::Instant{} + base::Duration::Seconds(seconds);
    cluster_.Send(std::vector<ev::Event>{});
  }
  size_t Ask(int32_t count, uint32_t app = 0) {
    cluster_.Ask(app, {TestCluster::Want(count, 1024, 1)});
    return cluster_.LiveOf(app).size();
  }
  TestCluster cluster_{Config()};
};

TEST_F(OvercommitTest, WhatIsBookedAndNotUsedIsOfferedAgain) {
  EXPECT_EQ(Ask(30), 10);
  At(20);
  Measured(50, 40);
  EXPECT_EQ(cluster_.LiveOf(0).size(), 13) << "up to 80 % of the cores, as if the new ones used all they book";
  At(40);
  Measured(65, 52);
  EXPECT_EQ(cluster_.LiveOf(0).size(), 14);
}

TEST_F(OvercommitTest, WhatHasJustBegunCountsAsBooked) {
  Ask(30);
  Measured(0, 0);  // none of them has begun
  EXPECT_EQ(cluster_.LiveOf(0).size(), 10);
}

TEST_F(OvercommitTest, NoMoreThanThePartThatIsConfigured) {
  Ask(100);
  for (int64_t at = 20; at < 200; at += 20) {
    At(at);
    Measured(0, 0);  // lies
  }
  EXPECT_EQ(cluster_.LiveOf(0).size(), 20);
}

TEST_F(OvercommitTest, OfAnAmountThatNobodyMeasuredNothing) {
  Ask(30);
  At(20);
  MeasuredUse use;
  use.milli_cores = 1000;
  cluster_.Send(ev::NodeMeasured{{0}, use, {}, Resources::Of(10'240, 10)});
  EXPECT_EQ(cluster_.LiveOf(0).size(), 10);
}

TEST_F(OvercommitTest, TheNewestGoFirstWhenTheMachineNeedsIt) {
  Ask(10);
  std::set<model::ContainerId> within;
  for (const ev::Granted& grant : cluster_.LiveOf(0)) within.insert(grant.container);
  At(20);
  Measured(20, 20);
  EXPECT_EQ(Ask(6), 16);
  At(40);
  Measured(97, 90);  // 17 % above what is meant to be used: two cores
  const auto ended = cluster_.Last<ev::Finished>();
  ASSERT_EQ(ended.size(), 2);
  for (const ev::Finished& one : ended) {
    EXPECT_EQ(one.exit_status, model::kExitPreempted);
    EXPECT_FALSE(within.contains(one.container));
  }
  for (int64_t at = 41; at < 60; ++at) {
    At(at);
    Measured(100, 100);
  }
  EXPECT_EQ(cluster_.LiveOf(0).size(), 10) << "never one within the capacity";
  for (const ev::Granted& grant : cluster_.LiveOf(0)) EXPECT_TRUE(within.contains(grant.container));
}

TEST_F(OvercommitTest, WhatIsEndingAlreadyCounts) {
  Ask(10);
  At(20);
  Measured(20, 20);
  Ask(6);
  std::vector<model::ContainerId> all;
  for (auto& [id, live] : cluster_.live()) {
    all.push_back(id);
    live.launched = true;
  }
  cluster_.Send(ev::NodeUpdated{{0}, all, {}});
  At(40);
  Measured(97, 20);
  EXPECT_EQ(cluster_.Last<ev::Finished>().size(), 2);
  At(41);
  Measured(97, 20);
  EXPECT_EQ(cluster_.Last<ev::Finished>().size(), 0) << "the two still run";
}

TEST_F(OvercommitTest, WhoWasAboveComesWithinWhenOlderOnesEnd) {
  Ask(10);
  At(20);
  Measured(20, 20);
  Ask(2);
  std::vector<ev::Granted> live = cluster_.LiveOf(0);
  for (int i = 0; i < 5; ++i) cluster_.Complete(live[static_cast<size_t>(i)].container);
  At(40);
  Measured(100, 100);
  EXPECT_EQ(cluster_.LiveOf(0).size(), 7) << "seven fit";
}

TEST_F(OvercommitTest, MastersAreWithinTheCapacity) {
  Ask(30);
  At(20);
  Measured(20, 20);
  const size_t before = cluster_.LiveOf(0).size();
  ASSERT_GT(before, 10);
  cluster_.App(1, "root.q", "u", false);
  EXPECT_EQ(Ask(1, 1), 0);
  cluster_.Complete(cluster_.LiveOf(0).back().container);
  EXPECT_EQ(cluster_.LiveOf(1).size(), 0) << "one above the capacity ended";
  cluster_.Complete(cluster_.LiveOf(0).front().container);
  EXPECT_EQ(cluster_.LiveOf(1).size(), 1);
  At(40);
  for (int64_t at = 41; at < 60; ++at) {
    At(at);
    Measured(100, 100);
  }
  EXPECT_EQ(cluster_.LiveOf(1).size(), 1) << "no master is taken";
}

TEST_F(OvercommitTest, WhoFallsSilentOffersWhatItHas) {
  Ask(10);
  At(20);
  Measured(20, 20);
  At(90);
  EXPECT_EQ(Ask(5), 10);
}

TEST_F(OvercommitTest, SwitchedOffNothingMoreIsOffered) {
  Ask(10);
  At(20);
  Measured(20, 20);
  EXPECT_EQ(Ask(2), 12);
  cluster_.Send(ev::QueuesReloaded{Config(false).queues});
  EXPECT_EQ(Ask(5), 12) << "and what runs goes on";
  EXPECT_EQ(cluster_.scheduler().CheckInvariants(), "");
}

/// Whatever nodes tell: nothing within the capacity is ended, and no node is booked beyond the bound.
TEST(OvercommitProperty, NoContainerWithinTheCapacityIsEnded) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    FairleadConfig config;
    config.queues.wishes.overcommit = true;
    config.queues.wishes.measured_load = seed % 2 == 0;
    config.overcommit.percent = 50;
    TestCluster cluster(config);
    base::Rng rng(seed);
    constexpr uint32_t kNodes = 4;
    for (uint32_t i = 0; i < kNodes; ++i) cluster.Node(i, 10'240, 10);
    for (uint32_t app = 0; app < 3; ++app) cluster.App(app, "root.q", "u", app != 2);
    std::set<model::ContainerId> within;
    for (int step = 0; step < 150; ++step) {
      cluster.now_ = cluster.now_ + base::Duration::Millis(rng.Between(1, 8'000));
      const auto node = static_cast<uint32_t>(rng.Below(kNodes));
      if (rng.Chance(0.4)) {
        MeasuredUse use;
        if (rng.Chance(0.9)) use.milli_cores = rng.Between(0, 11'000);
        if (rng.Chance(0.9)) use.physical_bytes = rng.Between(0, 11'000) << 20;
        cluster.Send(ev::NodeMeasured{{node}, use, {}, Resources::Of(10'240, 10)});
      } else if (rng.Chance(0.6) || cluster.live().empty()) {
        const int64_t cores = rng.Between(1, 4);
        cluster.Ask(static_cast<uint32_t>(rng.Below(3)),
                    {TestCluster::Want(static_cast<int32_t>(rng.Between(0, 8)), cores * 1024, cores)});
      } else {
        auto at = cluster.live().begin();
        std::advance(at, static_cast<std::ptrdiff_t>(rng.Below(cluster.live().size())));
        if (!at->second.grant.is_master) cluster.Complete(at->first);
      }
      for (const ev::Finished& one : cluster.Last<ev::Finished>()) {
        if (one.exit_status == model::kExitPreempted) {
          EXPECT_FALSE(within.contains(one.container)) << "seed " << seed;
        }
      }
      for (uint32_t n = 0; n < kNodes; ++n) {
        int64_t all = 0;
        int64_t masters = 0;
        for (const auto& [id, live] : cluster.live()) {
          if (live.grant.node.value != n) continue;
          all += live.grant.resources.vcores();
          if (live.grant.is_master) masters += live.grant.resources.vcores();
        }
        EXPECT_LE(all, 15);
        EXPECT_LE(masters, 10);
      }
      for (const ev::Granted& grant : cluster.Last<ev::Granted>()) {
        int64_t there = 0;
        for (const auto& [id, live] : cluster.live()) {
          if (live.grant.node == grant.node) there += live.grant.resources.vcores();
        }
        if (there <= 10 || grant.is_master) within.insert(grant.container);
      }
      ASSERT_EQ(cluster.scheduler().CheckInvariants(), "") << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace fairlead::scheduler
