#include "sim/devices/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "sim/devices/read.h"

namespace fairlead::sim {
namespace {

using testing::HasSubstr;

DeviceNode Node(int64_t cpu, std::vector<int32_t> free, uint64_t model = 1) {
  DeviceNode node;
  node.cpu_milli = cpu;
  node.memory_mib = 1 << 20;
  node.devices = static_cast<int32_t>(free.size());
  node.model = free.empty() ? 0 : model;
  std::copy(free.begin(), free.end(), node.free.begin());
  return node;
}

DeviceAsk Ask(int64_t cpu, int32_t devices, int32_t share = kWholeDevice) {
  return {.cpu_milli = cpu, .memory_mib = 1, .devices = devices, .share = devices == 0 ? 0 : share};
}

TEST(SimDevices, WhatFits) {
  const DeviceNode node = Node(4000, {1000, 400});
  EXPECT_TRUE(node.Fits(Ask(4000, 1)));
  EXPECT_FALSE(node.Fits(Ask(4001, 1)));
  EXPECT_FALSE(node.Fits(Ask(1, 2)));
  EXPECT_TRUE(node.Fits(Ask(1, 1, 400)));
  EXPECT_TRUE(node.Fits(Ask(1, 0)));
  DeviceAsk ask = Ask(1, 1);
  ask.models = 2;
  EXPECT_FALSE(node.Fits(ask));
  ask = Ask(1, 0);
  ask.memory_mib = (1 << 20) + 1;
  EXPECT_FALSE(node.Fits(ask));
}

TEST(SimDevices, WhatIsTaken) {
  DeviceNode node = Node(4000, {1000, 400, 1000});
  node.Take(Ask(1000, 1, 300), 1);
  EXPECT_EQ(node.free_milli(), 2100);
  node.Take(Ask(1000, 2), 0);
  EXPECT_EQ(node.free_milli(), 100);
  EXPECT_EQ(node.free[1], 100);
  EXPECT_EQ(node.cpu_milli, 2000);
}

TEST(SimDevices, Fragmentation) {
  // Half of the asks want a whole device and two cores, half a tenth of one.
  const TypicalAsk typical[] = {{Ask(2000, 1), 0.5}, {Ask(0, 1, 100), 0.5}};
  EXPECT_DOUBLE_EQ(Fragmentation(Node(4000, {1000, 1000}), typical), 0);
  EXPECT_DOUBLE_EQ(Fragmentation(Node(4000, {1000, 500}), typical), 0.5 * 500);
  EXPECT_DOUBLE_EQ(Fragmentation(Node(1000, {1000, 500}), typical), 0.5 * 1500) << "no cores for the first";
  EXPECT_DOUBLE_EQ(Fragmentation(Node(4000, {50, 0}), typical), 50);
  EXPECT_DOUBLE_EQ(Fragmentation(Node(4000, {0, 0}), typical), 0);
}

TEST(SimDevices, TypicalAsksAreTheMostFrequent) {
  std::vector<DeviceAsk> asks(96, Ask(1000, 1));
  for (int64_t i = 0; i < 4; ++i) asks.push_back(Ask(2000 + i, 1));
  const std::vector<TypicalAsk> typical = TypicalAsks(asks);
  ASSERT_EQ(typical.size(), 1U);
  EXPECT_DOUBLE_EQ(typical[0].part, 1);
}

TEST(SimDevices, ArrivingAsksReachTheLoadAndAreDrawnBySeed) {
  const std::vector<DeviceAsk> asks = {Ask(1, 1), Ask(2, 1, 500), Ask(3, 2)};
  for (const double load : {0.5, 1.3}) {
    const std::vector<DeviceAsk> drawn = ArrivingAsks(asks, 8000, load, 3);
    int64_t sum = 0;
    for (const DeviceAsk& ask : drawn) sum += ask.device_milli();
    EXPECT_NEAR(static_cast<double>(sum), load * 8000, 2000);
    EXPECT_EQ(ArrivingAsks(asks, 8000, load, 3), drawn);
  }
}

TEST(SimDevices, LeastLossDecidesAlikeWithAndWithoutWhatItRemembers) {
  base::Rng rng(9);
  std::vector<DeviceNode> nodes;
  for (int32_t i = 0; i < 20; ++i)
    nodes.push_back(
        Node(rng.Between(8, 64) * 1000, std::vector<int32_t>(static_cast<size_t>(rng.Between(1, 8)), 1000)));
  std::vector<DeviceAsk> asks;
  for (int32_t i = 0; i < 300; ++i) {
    asks.push_back(rng.Chance(0.5) ? Ask(rng.Between(1, 8) * 1000, 1, static_cast<int32_t>(rng.Between(1, 10)) * 100)
                                   : Ask(rng.Between(1, 8) * 1000, static_cast<int32_t>(rng.Between(0, 4))));
  }
  LeastLoss remembers(TypicalAsks(asks));
  int32_t placed = 0;
  for (const DeviceAsk& ask : asks) {
    LeastLoss fresh(TypicalAsks(asks));
    const DevicePlacement::Choice choice = remembers.Place(nodes, ask);
    const DevicePlacement::Choice again = fresh.Place(nodes, ask);
    ASSERT_EQ(choice.node, again.node);
    ASSERT_EQ(choice.device, again.device);
    if (choice.node < 0) {
      for (const DeviceNode& node : nodes) ASSERT_FALSE(node.Fits(ask));
      continue;
    }
    ASSERT_TRUE(nodes[static_cast<size_t>(choice.node)].Fits(ask));
    nodes[static_cast<size_t>(choice.node)].Take(ask, choice.device);
    ++placed;
  }
  EXPECT_GT(placed, 30);
}

TEST(SimDevices, WhoMayHaveAnyModelLeavesTheScarceOne) {
  // Half of the asks must have model 1; one device in four is of it.
  DeviceAsk picky = Ask(1000, 1);
  picky.models = 1;
  const TypicalAsk typical[] = {{picky, 0.5}, {Ask(1000, 1), 0.5}};
  std::vector<DeviceNode> nodes = {Node(8000, {1000}, 1), Node(8000, {1000, 1000, 1000}, 2)};
  const auto prices = ModelPrices(nodes, typical);
  EXPECT_DOUBLE_EQ(prices.at(1), 2 + 0.5) << "a half of all for a quarter of the room, and a part of what may have any";
  EXPECT_DOUBLE_EQ(prices.at(2), 0.5);
  LeastLoss placement({std::begin(typical), std::end(typical)});
  for (int i = 0; i < 3; ++i) {
    const auto choice = placement.Place(nodes, Ask(1000, 1));
    EXPECT_EQ(choice.node, 1);
    nodes[1].Take(Ask(1000, 1), choice.device);
  }
  EXPECT_EQ(placement.Place(nodes, picky).node, 0);
  nodes[0].Take(picky, 0);
  EXPECT_EQ(placement.Place(nodes, Ask(1000, 1)).node, -1);
}

TEST(SimDevices, NoTypicalAskMayHaveTheModel) {
  DeviceAsk other = Ask(1000, 1);
  other.models = 2;
  std::vector<DeviceNode> nodes = {Node(8000, {1000}, 1)};
  LeastLoss placement({{other, 1}});
  EXPECT_EQ(placement.Place(nodes, other).node, -1);
  EXPECT_EQ(placement.Place(nodes, Ask(1000, 1)).node, 0);
}

TEST(SimDevices, AllPlacementsGiveOnlyWhatThereIs) {
  const std::vector<DeviceNode> nodes = {Node(8000, {1000, 1000}), Node(8000, {1000})};
  const std::vector<DeviceAsk> asks = {Ask(1000, 1, 600), Ask(1000, 1, 400), Ask(1000, 2), Ask(1000, 1), Ask(1000, 0)};
  BestFit best;
  LeastFragmentation least(TypicalAsks(asks));
  LeastLoss ours(TypicalAsks(asks));
  for (DevicePlacement* placement : std::initializer_list<DevicePlacement*>{&best, &least, &ours}) {
    const std::vector<AllocationPoint> points = PlaceAll(nodes, asks, *placement);
    ASSERT_EQ(points.size(), asks.size());
    EXPECT_LE(points.back().allocated, 1.0);
    EXPECT_GE(points.back().allocated, 2.0 / 3);
    EXPECT_NEAR(points.back().arrived, 4.0 / 3, 1e-9);
  }
}

TEST(SimDevices, ReadsNodesAndPods) {
  const auto workload = ReadDevices("sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,2,P100\nn1,32000,1000,0,\n",
                                    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\np0,6000,12288,1,460,,"
                                    "LS\np1,1,2,8,1000,T4|P100,LS\np2,1,2,0,0,,BE\n");
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  ASSERT_EQ(workload->nodes.size(), 2U);
  EXPECT_EQ(workload->nodes[0].free_milli(), 2000);
  EXPECT_EQ(workload->asks[0].share, 460);
  EXPECT_EQ(workload->asks[0].models, ~0ULL);
  EXPECT_NE(workload->asks[1].models & workload->nodes[0].model, 0U);
  EXPECT_EQ(workload->asks[2].device_milli(), 0);
  EXPECT_TRUE(ReadDevices("sn,cpu_milli,memory_mib,gpu,model\nn,1,1,1,T4\n",
                          "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,500\n")
                  .ok())
      << "some lists have no column gpu_spec";
}

TEST(SimDevices, BadRowsAreRefusedByLine) {
  const std::string nodes = "sn,cpu_milli,memory_mib,gpu,model\n";
  const std::string pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";
  const std::string node = nodes + "n0,64000,262144,2,P100\n";
  const std::pair<std::pair<std::string, std::string>, std::string> cases[] = {
      {{"", pods}, "nodes: no rows"},
      {{"sn,cpu\n", pods}, "nodes, line 1: the columns"},
      {{nodes + "n0,1\n", pods}, "nodes, line 2: a row has 5"},
      {{nodes + "n0,x,1,1,T4\n", pods}, "cpu_milli"},
      {{nodes + "n0,1,1,9,T4\n", pods}, "0 to 8 GPUs"},
      {{node, pods}, "pods: no rows"},
      {{node, "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos\np,1,1,1,500,LS\n"}, "pods, line 1: the columns"},
      {{node, pods + "p,1,1,1,0,\n"}, "gpu_milli"},
      {{node, pods + "p,1,1,2,500,\n"}, "whole ones"},
      {{node, pods + "p,1,1,1\n"}, "pods, line 2: a row has 6 columns"},
      {{node, pods + "p,1,1,1,500,,x\n"}, "pods, line 2: a row has 6 columns"},
  };
  for (const auto& [texts, what] : cases) {
    const auto workload = ReadDevices(texts.first, texts.second);
    ASSERT_FALSE(workload.ok()) << what;
    EXPECT_THAT(workload.error().message, HasSubstr(what));
  }
}

}  // namespace
}  // namespace fairlead::sim
