#include <gtest/gtest.h>

#include "base/rng.h"
#include "scheduler/fairlead/fairlead.h"
#include "scheduler/fairlead/test_cluster.h"

namespace fairlead::scheduler {
namespace {

model::Ask Member(int32_t count, int64_t memory, int64_t cores, int64_t gang, int32_t priority = 1) {
  model::Ask ask = TestCluster::Want(count, memory, cores, "*", true, priority);
  ask.gang = gang;
  return ask;
}

TEST(GangTest, AllOrNothing) {
  TestCluster cluster;
  cluster.Node(0, 4, 4);
  cluster.App(0, "root.a");
  cluster.Ask(0, {Member(3, 2, 1, 7)});
  EXPECT_EQ(cluster.LiveOf(0).size(), 0u);
  const auto why = cluster.scheduler().Why({0}, cluster.now_);
  ASSERT_EQ(why.size(), 1u);
  EXPECT_EQ(why[0].reason, ev::PendingReason::kGang);
  EXPECT_EQ(why[0].detail, "2 of 3 members of gang 7 fit now");
  cluster.Node(1, 2, 2);
  EXPECT_EQ(cluster.Last<ev::Granted>().size(), 3u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(GangTest, MembersOfDifferentSizesFillTogether) {
  TestCluster cluster;
  cluster.Node(0, 4, 4);
  cluster.Node(1, 3, 3);
  cluster.App(0, "root.a");
  cluster.Ask(0, {Member(3, 1, 1, 1), Member(1, 4, 4, 1, 2)});
  EXPECT_EQ(cluster.LiveOf(0).size(), 4u);
}

TEST(GangTest, ExpiresAndSaysSo) {
  FairleadConfig config;
  config.gang_expiry = base::Duration::Seconds(30);
  TestCluster cluster(config);
  cluster.Node(0, 4, 4);
  cluster.App(0, "root.a");
  cluster.Ask(0, {Member(9, 1, 1, 1)});
  EXPECT_EQ(cluster.Queue("root.a").demand, model::Resources::Of(9, 9));
  EXPECT_LE(cluster.scheduler().NextDeadline(), base::Instant{30'000'000'000});
  cluster.now_ = {30'000'000'000};
  cluster.Send(std::vector<ev::Event>{});
  ASSERT_EQ(cluster.Last<ev::GangExpired>().size(), 1u);
  EXPECT_EQ(cluster.Queue("root.a").demand, model::Resources{});
  cluster.Node(1, 40, 40);
  EXPECT_EQ(cluster.LiveOf(0).size(), 0u);
}

TEST(GangTest, RandomGangsNeverStartInPart) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Rng rng(seed);
    TestCluster cluster;
    for (uint32_t i = 0; i < 4; ++i) cluster.Node(i, rng.Between(2, 10), rng.Between(2, 10));
    for (uint32_t app = 0; app < 6; ++app) cluster.App(app, "root.q" + std::to_string(app % 2));
    for (int step = 0; step < 60; ++step) {
      if (rng.Chance(0.5) || cluster.live().empty()) {
        const auto app = static_cast<uint32_t>(rng.Below(6));
        if (!cluster.scheduler().Why({app}, cluster.now_).empty()) continue;
        cluster.Ask(
            app, {Member(static_cast<int32_t>(rng.Between(1, 4)), rng.Between(1, 3), rng.Between(1, 3), step + 1),
                  Member(static_cast<int32_t>(rng.Between(1, 2)), rng.Between(1, 5), rng.Between(1, 5), step + 1, 2)});
      } else {
        cluster.Complete(
            std::next(cluster.live().begin(), static_cast<int64_t>(rng.Below(cluster.live().size())))->first);
      }
      ASSERT_EQ(cluster.scheduler().CheckInvariants(), "");
      for (const NodeView& node : cluster.scheduler().GetView().nodes) ASSERT_TRUE(node.used.FitsIn(node.capacity));
      for (const ev::Granted& granted : cluster.Last<ev::Granted>()) {
        ASSERT_TRUE(cluster.scheduler().Why(granted.app, cluster.now_).empty()) << "a part of a gang still waits";
      }
    }
  }
}

}  // namespace
}  // namespace fairlead::scheduler
