#include "scheduler/fairlead/busy_nodes.h"

#include <gtest/gtest.h>

#include "scheduler/fairlead/test_cluster.h"

// Wish measured-use: a node that was measured to be overloaded takes nothing until it calms.

namespace fairlead::scheduler {
namespace {

using model::MeasuredUse;
using model::Resources;

class BusyNodesTest : public testing::Test {
 protected:
  static FairleadConfig Config(bool wish = true) {
    FairleadConfig config;
    config.queues.wishes.measured_use = wish;
    config.measured_use.network_mbit = 1000;
    return config;
  }
  explicit BusyNodesTest(bool wish = true) : cluster_(Config(wish)) {
    cluster_.Node(0, 8192, 8);
    cluster_.Node(1, 8192, 8);
    cluster_.App(0, "root.q");
  }
  /// `physical`: of a machine with 16 cores and 16 GiB.
  void Measured(uint32_t node, const MeasuredUse& use, Resources physical = Resources::Of(16'384, 16)) {
    cluster_.Send(ev::NodeMeasured{{node}, use, {}, physical});
    ASSERT_EQ(cluster_.scheduler().CheckInvariants(), "");
  }
  static MeasuredUse DiskBusy(int64_t percent) {
    MeasuredUse use;
    use.disk_busy = percent * 10;
    return use;
  }
  /// On which nodes `count` containers go.
  std::map<uint32_t, int> Place(int32_t count) {
    cluster_.Ask(0, {TestCluster::Want(count, 1, 1)});
    std::map<uint32_t, int> on;
    for (const ev::Granted& grant : cluster_.Last<ev::Granted>()) ++on[grant.node.value];
    return on;
  }
  ev::Pending Why() {
    const auto pending = cluster_.scheduler().Why({0}, cluster_.now_);
    return pending.empty() ? ev::Pending{} : pending[0];
  }
  TestCluster cluster_;
};

class OffTest : public BusyNodesTest {
 protected:
  OffTest() : BusyNodesTest(false) {}
};

TEST_F(OffTest, AMeasureChangesNothing) {
  const uint64_t before = cluster_.scheduler().StateHash();
  Measured(0, DiskBusy(100));
  EXPECT_EQ(cluster_.scheduler().StateHash(), before);
  EXPECT_EQ(Place(2), (std::map<uint32_t, int>{{0, 1}, {1, 1}}));
}

TEST_F(BusyNodesTest, ANodeWithABusyDiskTakesNothingUntilItCalms) {
  Measured(0, DiskBusy(91));
  EXPECT_EQ(Place(4), (std::map<uint32_t, int>{{1, 4}}));
  Measured(0, DiskBusy(80));  // below the threshold, not yet calm
  EXPECT_EQ(Place(2), (std::map<uint32_t, int>{{1, 2}}));
  Measured(0, DiskBusy(76));  // 85 % of 90
  EXPECT_EQ(Place(10), (std::map<uint32_t, int>{{0, 8}, {1, 2}}));
}

TEST_F(BusyNodesTest, EveryAmountHasAThreshold) {
  MeasuredUse cpu;
  cpu.milli_cores = 15'400;  // 96 % of 16
  MeasuredUse memory;
  memory.physical_bytes = int64_t{16'000} << 20;
  MeasuredUse network;
  network.network_bytes = 126'000'000;
  for (const MeasuredUse& use : {cpu, memory, network}) {
    Measured(0, use);
    EXPECT_EQ(Place(1).count(0), 0);
    Measured(0, MeasuredUse{1000, 1 << 20, 0, 0, 0, 0});
  }
}

TEST_F(BusyNodesTest, AManagerThatDoesNotTellItsMachineOffersAllOfIt) {
  MeasuredUse use;
  use.milli_cores = 7'800;  // of 8
  Measured(0, use, {});
  EXPECT_EQ(Place(4), (std::map<uint32_t, int>{{1, 4}}));
}

TEST_F(BusyNodesTest, AbsurdMeasuresHarmNobodyElse) {
  Measured(0, MeasuredUse{INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX});
  EXPECT_EQ(Place(4), (std::map<uint32_t, int>{{1, 4}}));
  Measured(1, MeasuredUse{});
  EXPECT_EQ(Place(4), (std::map<uint32_t, int>{{1, 4}}));
}

TEST_F(BusyNodesTest, WhoFallsSilentIsJudgedByWhatIsBooked) {
  Measured(0, DiskBusy(99));
  EXPECT_EQ(Place(12), (std::map<uint32_t, int>{{1, 8}}));
  EXPECT_EQ(cluster_.scheduler().NextDeadline(), base::Instant{1'000'000'000});  // the review of what waits
  cluster_.now_ = base::Instant{} + base::Duration::Seconds(30);
  cluster_.Send(std::vector<ev::Event>{});
  EXPECT_EQ(cluster_.LiveOf(0).size(), 12);
}

TEST_F(BusyNodesTest, WhyNamesTheNodeAndTheAmount) {
  Measured(0, DiskBusy(97));
  Place(12);
  const ev::Pending pending = Why();
  EXPECT_EQ(pending.reason, ev::PendingReason::kNodesBusy);
  EXPECT_NE(pending.detail.find("n0 (disks busy 97 %, threshold 90 %)"), std::string::npos) << pending.detail;
  EXPECT_NE(pending.remedy.find("fairlead.scheduler.measured-use"), std::string::npos);
}

TEST_F(BusyNodesTest, NobodyWaitsForABusyHost) {
  Measured(0, DiskBusy(97));
  cluster_.Ask(0, {TestCluster::Want(1, 1, 1, "n0"), TestCluster::Want(1, 1, 1, "/r"), TestCluster::Want(1, 1, 1)});
  EXPECT_EQ(cluster_.LiveOf(0).size(), 1);
}

TEST_F(BusyNodesTest, SwitchedOffAllTakeContainersAgain) {
  Measured(0, DiskBusy(97));
  Place(12);
  cluster_.Send(ev::QueuesReloaded{Config(false).queues});
  EXPECT_EQ(cluster_.LiveOf(0).size(), 12);
}

TEST_F(BusyNodesTest, ANodeThatComesBackIsNotBusy) {
  Measured(0, DiskBusy(97));
  cluster_.Send(ev::NodeRemoved{{0}});
  cluster_.Node(2, 8192, 8);
  EXPECT_EQ(Place(12), (std::map<uint32_t, int>{{1, 6}, {2, 6}}));
}

TEST_F(BusyNodesTest, SharesCountABusyNode) {
  const Resources before = cluster_.Queue("root.q").fair_share;
  Measured(0, DiskBusy(97));
  EXPECT_EQ(cluster_.Queue("root.q").fair_share, before);
}

}  // namespace
}  // namespace fairlead::scheduler
