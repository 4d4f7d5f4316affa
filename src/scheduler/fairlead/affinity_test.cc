#include <gtest/gtest.h>

#include "base/codec.h"
#include "scheduler/fairlead/fairlead.h"
#include "scheduler/fairlead/test_cluster.h"

namespace fairlead::scheduler {
namespace {

TEST(AffinityTest, AtMostSoManyOnANode) {
  TestCluster cluster;
  cluster.Node(0, 8, 8);
  cluster.Node(1, 8, 8);
  cluster.App(0, "root.a");
  model::Ask ask = TestCluster::Want(5, 1, 1);
  ask.max_per_node = 2;
  cluster.Ask(0, {ask});
  ASSERT_EQ(cluster.LiveOf(0).size(), 4u);
  EXPECT_EQ(cluster.scheduler().Why({0}, cluster.now_)[0].reason, ev::PendingReason::kNodesExcluded);
  // Another application is not in its way, and a node more takes the fifth.
  cluster.App(1, "root.b");
  cluster.Ask(1, {TestCluster::Want(3, 1, 1)});
  EXPECT_EQ(cluster.LiveOf(1).size(), 3u);
  cluster.Node(2, 8, 8);
  EXPECT_EQ(cluster.LiveOf(0).size(), 5u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(AffinityTest, BesideItsOwn) {
  TestCluster cluster;
  for (uint32_t i = 0; i < 3; ++i) cluster.Node(i, 4, 4);
  cluster.App(0, "root.a");
  model::Ask helper = TestCluster::Want(2, 1, 1, "*", true, 5);
  helper.beside_priority = 9;
  cluster.Ask(0, {helper});
  EXPECT_EQ(cluster.LiveOf(0).size(), 0u);
  cluster.Ask(0, {TestCluster::Want(1, 1, 1, "*", true, 9)});
  ASSERT_EQ(cluster.LiveOf(0).size(), 3u);
  for (const ev::Granted& granted : cluster.LiveOf(0)) EXPECT_EQ(granted.node, cluster.LiveOf(0)[0].node);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(AffinityTest, HoldsInGangs) {
  TestCluster cluster;
  cluster.Node(0, 8, 8);
  cluster.App(0, "root.a");
  model::Ask ask = TestCluster::Want(2, 1, 1);
  ask.gang = 1;
  ask.max_per_node = 1;
  cluster.Ask(0, {ask});
  EXPECT_EQ(cluster.LiveOf(0).size(), 0u);
  cluster.Node(1, 8, 8);
  EXPECT_EQ(cluster.LiveOf(0).size(), 2u);
}

/// A journal of a million events would be the same check at length: the same batches give the same effects and state,
/// from the beginning and from a copy at any point.
TEST(ReplayTest, SameEventsSameBytes) {
  std::vector<std::vector<ev::Event>> batches;
  const auto record = [&](std::vector<ev::Event> batch) { batches.push_back(std::move(batch)); };
  for (uint32_t i = 0; i < 20; ++i) {
    record({ev::NodeAdded{
        {i}, "n" + std::to_string(i), 1, "/r" + std::to_string(i % 3), model::Resources::Of(16, 16), {}}});
  }
  for (uint32_t i = 0; i < 12; ++i) {
    ev::AppAdded added;
    added.app = {i};
    added.id = {1, static_cast<int32_t>(i) + 1};
    added.queue = "root.q" + std::to_string(i % 4);
    added.user = "u";
    added.place = false;
    added.unmanaged = true;
    ev::Allocate call;
    call.app = {i};
    call.asks = {TestCluster::Want(40, 1 + i % 3, 1, "n" + std::to_string(i)), TestCluster::Want(40, 1 + i % 3, 1)};
    record({added, ev::AttemptAdded{{i}, 1, false}, call});
  }
  const auto encode = [](const EffectSink& effects) {
    std::string bytes;
    base::Encode(bytes, effects);
    return bytes;
  };
  std::string all[2];
  uint64_t hashes[2];
  for (int run = 0; run < 2; ++run) {
    auto scheduler = MakeFairlead({});
    std::vector<ev::Granted> live;
    base::Instant now{};
    for (size_t step = 0; step < 3000; ++step) {
      now = now + base::Duration::Millis(3);
      std::vector<ev::Event> batch;
      if (step < batches.size()) {
        batch = batches[step];
      } else if (!live.empty()) {
        const ev::Granted one = live[step * 7919 % live.size()];
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(step * 7919 % live.size()));
        batch = {ev::NodeUpdated{one.node, {}, {{one.container, 0}}}};
      }
      if (run == 1 && step % 500 == 250) scheduler = scheduler->Fork();
      EffectSink effects;
      scheduler->Step(now, batch, effects);
      for (const ev::Effect& effect : effects) {
        if (const auto* granted = std::get_if<ev::Granted>(&effect)) live.push_back(*granted);
      }
      all[run] += encode(effects);
    }
    hashes[run] = scheduler->StateHash();
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_GT(all[0].size(), 10'000u);
}

}  // namespace
}  // namespace fairlead::scheduler
