#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "scheduler/fairlead/test_cluster.h"

// Wish measured-load: containers go where least is expected to be used, against the cost of reading from afar.

namespace fairlead::scheduler {
namespace {

using model::MeasuredUse;
using model::Resources;

class MeasuredLoadTest : public testing::Test {
 protected:
  static FairleadConfig Config() {
    FairleadConfig config;
    config.queues.wishes.measured_load = true;
    config.measured_load.input_mib = 1000;  // 4.2 s within the rack, 8.4 s from another
    return config;
  }
  explicit MeasuredLoadTest(const FairleadConfig& config = Config()) : cluster_(config) {}
  void Nodes(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) cluster_.Node(i, 102'400, 100, "/r" + std::to_string(i / 2));
    cluster_.App(0, "root.q");
  }
  void Measured(uint32_t node, int64_t core_percent, int64_t memory_percent = 0) {
    MeasuredUse use;
    use.milli_cores = core_percent * 1000;  // of 100 cores
    use.physical_bytes = memory_percent << 30;
    cluster_.Send(ev::NodeMeasured{{node}, use, {}, Resources::Of(102'400, 100)});
  }
  void At(int64_t seconds) {
    cluster_.now_ = base::Instant{} + base::Duration::Seconds(seconds);
    cluster_.Send(std::vector<ev::Event>{});
  }
  /// How many of `count` containers go where, by node.
  std::map<uint32_t, int> Place(int32_t count, int64_t cores = 1) {
    cluster_.Ask(0, {TestCluster::Want(count, 1, cores)});
    std::map<uint32_t, int> on;
    for (const ev::Granted& grant : cluster_.Last<ev::Granted>()) ++on[grant.node.value];
    EXPECT_EQ(cluster_.scheduler().CheckInvariants(), "");
    return on;
  }
  /// Where one container goes that names n0; its rack is /r0.
  std::map<uint32_t, int> PlaceAtN0(int64_t cores = 1) {
    cluster_.Ask(0, {TestCluster::Want(1, 1, cores, "n0"), TestCluster::Want(1, 1, cores, "/r0"),
                     TestCluster::Want(1, 1, cores)});
    std::map<uint32_t, int> on;
    for (const ev::Granted& grant : cluster_.Last<ev::Granted>()) ++on[grant.node.value];
    return on;
  }
  TestCluster cluster_;
};

TEST_F(MeasuredLoadTest, TheCalmestNodeComesFirst) {
  Nodes(4);
  for (uint32_t node = 0; node < 4; ++node) Measured(node, node == 2 ? 10 : 50);
  EXPECT_EQ(Place(8), (std::map<uint32_t, int>{{2, 8}}));
}

TEST_F(MeasuredLoadTest, WhatWasPlacedCountsUntilAMeasureShowsIt) {
  Nodes(2);
  Measured(0, 10);
  Measured(1, 30);
  EXPECT_EQ(Place(40), (std::map<uint32_t, int>{{0, 30}, {1, 10}}));
  At(3);
  Measured(0, 10);  // they have not begun yet
  EXPECT_EQ(Place(10), (std::map<uint32_t, int>{{0, 5}, {1, 5}})) << "both are expected at 40";
  At(20);
  Measured(0, 10);  // they use nothing
  Measured(1, 46);
  EXPECT_EQ(Place(10), (std::map<uint32_t, int>{{0, 10}}));
}

TEST_F(MeasuredLoadTest, WhatEndedTakesItsPartOfTheMeasureAlong) {
  Nodes(2);
  Measured(0, 0);
  Measured(1, 45);
  ASSERT_EQ(Place(40), (std::map<uint32_t, int>{{0, 40}}));
  At(20);
  Measured(0, 80);  // each uses twice what it booked
  for (const ev::Granted& grant : cluster_.LiveOf(0)) cluster_.Complete(grant.container);
  // 40 were booked and 40 are taken off: 40 left, below n1's 45.
  EXPECT_EQ(Place(5), (std::map<uint32_t, int>{{0, 5}}));
}

TEST_F(MeasuredLoadTest, WhoFallsSilentIsJudgedByWhatIsBooked) {
  Nodes(2);
  Measured(0, 90);
  Measured(1, 20);
  EXPECT_EQ(Place(1), (std::map<uint32_t, int>{{1, 1}}));
  At(40);
  EXPECT_EQ(Place(1), (std::map<uint32_t, int>{{0, 1}}));
}

TEST_F(MeasuredLoadTest, WithoutAMeasureNothingDiffers) {
  TestCluster plain;
  for (uint32_t i = 0; i < 4; ++i) plain.Node(i, 102'400, 100, "/r" + std::to_string(i / 2));
  plain.App(0, "root.q");
  Nodes(4);
  Place(6);
  plain.Ask(0, {TestCluster::Want(6, 1, 1)});
  for (const auto& [id, live] : plain.live()) EXPECT_EQ(cluster_.live().at(id).grant.node, live.grant.node);
}

TEST_F(MeasuredLoadTest, ATasksHostIsTakenWhileItsLoadCostsLessThanReading) {
  Nodes(4);
  for (uint32_t node = 0; node < 4; ++node) Measured(node, node == 0 ? 90 : 0);
  EXPECT_EQ(PlaceAtN0(), (std::map<uint32_t, int>{{0, 1}}));
  Measured(0, 150);  // 60 s become 90: reading takes 4
  EXPECT_EQ(PlaceAtN0(), (std::map<uint32_t, int>{{1, 1}}));
  Measured(1, 150);
  EXPECT_EQ(PlaceAtN0(), (std::map<uint32_t, int>{{2, 1}}));
}

TEST_F(MeasuredLoadTest, NobodyWaitsForAHostLongerThanReadingTakes) {
  Nodes(4);
  for (uint32_t node = 0; node < 4; ++node) Measured(node, 0);
  PlaceAtN0(100);  // n0 is full
  cluster_.App(1, "root.q");
  cluster_.Ask(1, {TestCluster::Want(1, 1, 1, "n0"), TestCluster::Want(1, 1, 1, "/r0"), TestCluster::Want(1, 1, 1)});
  EXPECT_TRUE(cluster_.LiveOf(1).empty());
  At(4);
  EXPECT_TRUE(cluster_.LiveOf(1).empty());
  At(5);
  ASSERT_EQ(cluster_.LiveOf(1).size(), 1);
  EXPECT_EQ(cluster_.LiveOf(1)[0].node.value, 1) << "in its rack";
}

TEST_F(MeasuredLoadTest, AbsurdMeasuresHarmNobodyElse) {
  Nodes(3);
  const MeasuredUse absurd{INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  cluster_.Send(ev::NodeMeasured{{0}, absurd, {}, Resources::Of(INT64_MAX, INT64_MAX)});
  cluster_.Send(ev::NodeMeasured{{1}, absurd, {}, {}});
  Measured(2, 30);
  EXPECT_EQ(Place(4).at(2), 4) << "both say that they are full";
  Measured(0, -5);
  cluster_.Send(ev::NodeMeasured{{1}, MeasuredUse{}, {}, {}});
  EXPECT_EQ(cluster_.scheduler().CheckInvariants(), "");
}

/// Reports are 30 s old and 2,000 tasks come at once, on nodes that other programs load unevenly.
TEST(MeasuredLoadProperty, ABurstSpreadsEvenlyByOldMeasures) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    FairleadConfig config;
    config.queues.wishes.measured_load = true;
    TestCluster cluster(config);
    base::Rng rng(seed);
    constexpr uint32_t kNodes = 100;
    constexpr int64_t kCores = 64;
    std::vector<int64_t> others(kNodes);
    const auto report = [&](uint32_t node) {
      MeasuredUse use;
      use.milli_cores = others[node];
      for (const auto& [id, live] : cluster.live()) {
        if (live.grant.node.value == node) use.milli_cores += 1000;
      }
      cluster.Send(ev::NodeMeasured{{node}, use, {}, Resources::Of(1 << 20, kCores)});
    };
    for (uint32_t node = 0; node < kNodes; ++node) {
      cluster.Node(node, 1 << 20, kCores);
      others[node] = rng.Between(0, 20'000);
    }
    for (uint32_t node = 0; node < kNodes; ++node) report(node);
    cluster.now_ = base::Instant{} + base::Duration::Seconds(29);
    cluster.App(0, "root.q");
    // Some begin before a part of the nodes reports, which then shows nothing of them yet.
    cluster.Ask(0, {TestCluster::Want(1000, 1, 1)});
    cluster.now_ = cluster.now_ + base::Duration::Millis(500);
    for (uint32_t node = 0; node < kNodes; node += 2) {
      MeasuredUse use;
      use.milli_cores = others[node];
      cluster.Send(ev::NodeMeasured{{node}, use, {}, Resources::Of(1 << 20, kCores)});
    }
    cluster.Ask(0, {TestCluster::Want(1000, 1, 1)});
    std::vector<int64_t> load = others;
    for (const auto& [id, live] : cluster.live()) load[live.grant.node.value] += 1000;
    int64_t sum = 0;
    for (const int64_t one : load) sum += one;
    const int64_t most = *std::max_element(load.begin(), load.end());
    EXPECT_EQ(cluster.live().size(), 2000);
    EXPECT_LE(most * kNodes * 10, sum * 12) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fairlead::scheduler
