#include <gtest/gtest.h>

#include "base/rng.h"
#include "scheduler/fairlead/fairlead.h"
#include "scheduler/fairlead/test_cluster.h"

// Reservations for large asks, and preemption with grace, caps and without cycles.

namespace fairlead::scheduler {
namespace {

using model::Resources;

FairleadConfig TwoQueues() {
  FairleadConfig config;
  for (const char* name : {"root.a", "root.b"}) {
    model::QueueConfig queue;
    queue.name = name;
    config.queues.queues.push_back(queue);
  }
  config.preemption.enabled = true;
  config.preemption.starvation = base::Duration::Seconds(10);
  config.preemption.grace = base::Duration::Seconds(15);
  config.preemption.minimum_run = base::Duration::Seconds(5);
  config.preemption.interval = base::Duration::Seconds(1);
  return config;
}

/// Steps to every deadline until `end`.
void RunUntil(TestCluster& cluster, int64_t seconds, std::vector<ev::PreemptionNotice>* notices = nullptr,
              std::vector<ev::Finished>* finished = nullptr) {
  const base::Instant end{seconds * 1'000'000'000};
  while (cluster.scheduler().NextDeadline() <= end) {
    cluster.now_ = std::max(cluster.now_, cluster.scheduler().NextDeadline());
    cluster.Send(std::vector<ev::Event>{});
    ASSERT_EQ(cluster.scheduler().CheckInvariants(), "");
    if (notices) {
      for (const auto& one : cluster.Last<ev::PreemptionNotice>()) notices->push_back(one);
    }
    if (finished) {
      for (const auto& one : cluster.Last<ev::Finished>()) finished->push_back(one);
    }
  }
  cluster.now_ = end;
}

TEST(LargeAsksTest, ALargeAskIsNotPassedForEver) {
  FairleadConfig config;
  config.reservations.after = base::Duration::Seconds(2);
  config.reservations.duration = base::Duration::Seconds(60);
  TestCluster cluster(config);
  for (uint32_t i = 0; i < 3; ++i) cluster.Node(i, 4, 4);
  cluster.App(0, "root.small");
  cluster.App(1, "root.large");
  cluster.Ask(0, {TestCluster::Want(1000, 1, 1)});
  cluster.Ask(1, {TestCluster::Want(1, 4, 4)});
  RunUntil(cluster, 4);
  const auto why = cluster.scheduler().Why({1}, cluster.now_);
  ASSERT_EQ(why.size(), 1u);
  // Small containers end one by one; without a reservation the next small one takes each place.
  for (int i = 0; i < 12 && cluster.LiveOf(1).empty(); ++i) {
    const auto live = cluster.LiveOf(0);
    for (const ev::Granted& one : live) {
      if (one.node.value == 0) {
        cluster.Complete(one.container);
        break;
      }
    }
  }
  ASSERT_EQ(cluster.LiveOf(1).size(), 1u);
  EXPECT_TRUE(cluster.LiveOf(1)[0].from_reservation);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(LargeAsksTest, AReservationGoesWithItsAsk) {
  FairleadConfig config;
  config.reservations.after = base::Duration::Seconds(1);
  TestCluster cluster(config);
  cluster.Node(0, 4, 4);
  cluster.App(0, "root.small");
  cluster.App(1, "root.large");
  cluster.Ask(0, {TestCluster::Want(1000, 1, 1)});
  cluster.Ask(1, {TestCluster::Want(1, 4, 4)});
  RunUntil(cluster, 3);
  EXPECT_EQ(cluster.scheduler().GetView().apps[1].reserved, Resources::Of(4, 4));
  cluster.Send(ev::AppRemoved{{1}});
  EXPECT_EQ(cluster.Last<ev::Unreserved>().size(), 1u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(PreemptionTest, GivesTheShareAfterGraceAndNoMore) {
  TestCluster cluster(TwoQueues());
  for (uint32_t i = 0; i < 5; ++i) cluster.Node(i, 4, 4);
  cluster.App(0, "root.a");
  cluster.App(1, "root.b");
  cluster.Ask(0, {TestCluster::Want(20, 1, 1)});
  cluster.now_ = {1'000'000'000};
  cluster.Ask(1, {TestCluster::Want(20, 1, 1)});
  EXPECT_EQ(cluster.LiveOf(1).size(), 0u);
  std::vector<ev::PreemptionNotice> notices;
  std::vector<ev::Finished> finished;
  RunUntil(cluster, 10, &notices, &finished);
  EXPECT_TRUE(notices.empty());
  RunUntil(cluster, 14, &notices, &finished);
  EXPECT_EQ(notices.size(), 5u);  // one reservation a node, five nodes
  EXPECT_TRUE(finished.empty());
  RunUntil(cluster, 120, &notices, &finished);
  EXPECT_EQ(notices.size(), 10u);
  EXPECT_EQ(finished.size(), 10u);
  for (const ev::Finished& one : finished) EXPECT_EQ(one.exit_status, -102);
  EXPECT_EQ(cluster.LiveOf(1).size(), 10u);
  EXPECT_EQ(cluster.LiveOf(0).size(), 10u);
  RunUntil(cluster, 1000, &notices, &finished);
  EXPECT_EQ(notices.size(), 10u) << "a cycle";
}

/// A gang is of no use without one of its members: its last member is not cheap because it is young, as all are.
TEST(PreemptionTest, AGangIsLostAsAWhole) {
  for (const bool gang : {true, false}) {
    TestCluster cluster(TwoQueues());
    cluster.Node(0, 2, 2);
    cluster.Node(1, 2, 2);
    cluster.App(0, "root.a");
    cluster.App(1, "root.a");
    cluster.App(2, "root.b");
    cluster.Ask(0, {TestCluster::Want(1, 2, 2)});  // has run for longer than each of the members
    cluster.now_ = {10'000'000'000};
    model::Ask members = TestCluster::Want(2, 1, 1);
    members.gang = gang ? 7 : 0;
    cluster.Ask(1, {members});
    ASSERT_EQ(cluster.LiveOf(1).size(), 2u);
    cluster.now_ = {25'000'000'000};
    cluster.Ask(2, {TestCluster::Want(2, 1, 1)});
    std::vector<ev::PreemptionNotice> notices;
    RunUntil(cluster, 45, &notices);
    ASSERT_FALSE(notices.empty());
    EXPECT_EQ(notices[0].app.value, gang ? 0u : 1u);
  }
}

/// Of two containers the one that has run for longer goes when its application says that less is lost with it; nobody
/// loses more than the time for which it has run.
TEST(PreemptionTest, LessIsLostWhereTheApplicationSaysSo) {
  for (const int64_t told_s : {-1, 5, 1000}) {
    TestCluster cluster(TwoQueues());
    cluster.Node(0, 2, 2);
    cluster.App(0, "root.a");
    cluster.App(1, "root.a");
    cluster.App(2, "root.b");
    cluster.Ask(0, {TestCluster::Want(1, 1, 1)});
    cluster.now_ = {10'000'000'000};
    cluster.Ask(1, {TestCluster::Want(1, 1, 1)});
    cluster.now_ = {25'000'000'000};
    if (told_s >= 0) {
      const model::ContainerId old = cluster.LiveOf(0)[0].container;
      const model::ContainerId young = cluster.LiveOf(1)[0].container;
      ev::Allocate call;
      call.app = {0};
      call.losses = {{old, base::Duration::Seconds(told_s)}, {young, {}}};  // the other one is not the caller's
      cluster.Send(call);
    }
    cluster.Ask(2, {TestCluster::Want(1, 1, 1)});
    std::vector<ev::PreemptionNotice> notices;
    RunUntil(cluster, 45, &notices);
    ASSERT_FALSE(notices.empty());
    EXPECT_EQ(notices[0].app.value, told_s == 5 ? 0u : 1u) << told_s;
    EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
  }
}

TEST(PreemptionTest, MastersAndQueuesThatMayNotAreSpared) {
  for (const bool masters : {true, false}) {
    FairleadConfig config = TwoQueues();
    config.queues.queue_max_am_share_default = -1.0;
    config.cluster_master_share = 1000;
    if (!masters) config.queues.queues[0].allow_preemption_from = false;
    TestCluster cluster(config);
    cluster.Node(0, 4, 4);
    for (uint32_t i = 0; i < 4; ++i) {
      cluster.App(i, "root.a", "u", !masters);
      cluster.Ask(i, {TestCluster::Want(1, 1, 1)});
    }
    cluster.App(9, "root.b");
    cluster.Ask(9, {TestCluster::Want(4, 1, 1)});
    std::vector<ev::PreemptionNotice> notices;
    RunUntil(cluster, 200, &notices);
    EXPECT_TRUE(notices.empty());
  }
}

TEST(PreemptionTest, EndsOnRandomClusters) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Rng rng(seed);
    FairleadConfig config = TwoQueues();
    for (const char* name : {"root.c", "root.d"}) {
      model::QueueConfig queue;
      queue.name = name;
      queue.weight = static_cast<double>(rng.Between(1, 5));
      config.queues.queues.push_back(queue);
    }
    TestCluster cluster(config);
    for (uint32_t i = 0; i < 6; ++i) cluster.Node(i, rng.Between(4, 12), rng.Between(4, 12));
    const char* names[] = {"root.a", "root.b", "root.c", "root.d"};
    for (uint32_t app = 0; app < 8; ++app) {
      cluster.App(app, names[rng.Below(4)]);
      cluster.Ask(app,
                  {TestCluster::Want(static_cast<int32_t>(rng.Between(1, 40)), rng.Between(1, 3), rng.Between(1, 3))});
      cluster.now_ = cluster.now_ + base::Duration::Seconds(rng.Between(0, 20));
    }
    // Nothing ends by itself: what moves is preemption alone, and it must come to rest.
    std::vector<ev::PreemptionNotice> early;
    RunUntil(cluster, 600, &early);
    std::vector<ev::PreemptionNotice> late;
    RunUntil(cluster, 1200, &late);
    EXPECT_TRUE(late.empty()) << early.size() << " notices, then " << late.size();
  }
}

}  // namespace
}  // namespace fairlead::scheduler
