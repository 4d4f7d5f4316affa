#include "scheduler/books/nodes.h"

#include <gtest/gtest.h>

#include <set>

#include "scheduler/books/hash_of.h"

namespace fairlead::scheduler::native {
namespace {

using model::Resources;

class NodesTest : public ::testing::Test {
 protected:
  NodeIndex Add(uint32_t index, int64_t memory, std::vector<std::string> labels = {}, const char* rack = "/r") {
    nodes_.Add({{index}, "n" + std::to_string(index), 1, rack, Resources::Of(memory, 8), std::move(labels)}, places_);
    nodes_.Publish({index});
    return {index};
  }
  /// The first node with room, by the index of the label.
  uint32_t First(int64_t memory, LabelId label = {}) const {
    const Partition& partition = nodes_.partition(label);
    const uint32_t at = partition.index.FindFrom(0, Resources::Of(memory, 1));
    return at == FreeIndex::kNone ? at : partition.nodes[at].value;
  }

  Places places_;
  Nodes nodes_{2};
};

TEST_F(NodesTest, AChangeIsSeenByTheIndexWhenItIsPublished) {
  const NodeIndex node = Add(0, 10);
  EXPECT_EQ(First(10), 0u);
  nodes_.AddUse(node, Resources::Of(5, 1));
  EXPECT_EQ(First(10), 0u);
  nodes_.Publish(node);
  EXPECT_EQ(First(10), FreeIndex::kNone);
  EXPECT_EQ(First(5), 0u);
}

TEST_F(NodesTest, ANodeThatIsDrainedTakesNothingAndItsUseIsKnown) {
  const NodeIndex node = Add(0, 10);
  nodes_.AddUse(node, Resources::Of(4, 1));
  nodes_.SetSchedulable(node, false);
  nodes_.Publish(node);
  EXPECT_EQ(First(1), FreeIndex::kNone);
  EXPECT_EQ(nodes_.schedulable(), Resources{});
  EXPECT_EQ(nodes_.closed_used(), Resources::Of(4, 1));
  EXPECT_EQ(nodes_.partition({}).open_nodes, 0);
  nodes_.SetSchedulable(node, true);
  nodes_.Publish(node);
  EXPECT_EQ(First(6), 0u);
  EXPECT_EQ(nodes_.closed_used(), Resources{});
  EXPECT_EQ(nodes_.Check(), "");
}

TEST_F(NodesTest, ALabelIsAPartitionOfItsOwn) {
  Add(0, 10);
  const NodeIndex gpu = Add(1, 10, {"gpu", "gpu", "fast"});
  EXPECT_EQ(First(1), 0u);
  EXPECT_EQ(First(1, nodes_.FindLabel("gpu")), 1u);
  EXPECT_EQ(First(1, nodes_.FindLabel("fast")), 1u);
  EXPECT_TRUE(nodes_.HasLabel(gpu, nodes_.FindLabel("gpu")));
  EXPECT_FALSE(nodes_.HasLabel(gpu, LabelId{}));
  EXPECT_EQ(nodes_.LabelName(nodes_.FindLabel("gpu")), "gpu");
  EXPECT_EQ(nodes_.LabelName(LabelId{}), "");
}

TEST_F(NodesTest, ANodeThatLeftLeavesNothing) {
  const NodeIndex node = Add(0, 10);
  nodes_.Remove(node, places_);
  EXPECT_EQ(nodes_.total(), Resources{});
  EXPECT_EQ(nodes_.alive(), 0);
  EXPECT_TRUE(places_[places_.Find("n0")].nodes.empty());
  EXPECT_EQ(First(1), FreeIndex::kNone);
  Add(1, 7);
  EXPECT_EQ(First(7), 1u) << "its position in the index serves the next node";
  EXPECT_EQ(nodes_.Check(), "");
}

TEST_F(NodesTest, ARackIsIndexedWhenAskedFor) {
  Add(0, 10, {}, "/a");
  Add(1, 10, {}, "/b");
  const PlaceId rack = places_.Find("/b");
  EXPECT_EQ(nodes_.rack(rack), nullptr);
  nodes_.IndexRack(rack, places_);
  ASSERT_NE(nodes_.rack(rack), nullptr);
  EXPECT_EQ(nodes_.rack(rack)->nodes, std::vector<NodeIndex>{NodeIndex{1}});
  Add(2, 10, {}, "/b");
  EXPECT_EQ(nodes_.rack(rack)->index.FindFrom(1, Resources::Of(10, 1)), 1u);
}

TEST_F(NodesTest, CapacitiesFromOutsideAreCutToWhatSumsHold) {
  Add(0, INT64_MAX);
  Add(1, -5);
  EXPECT_EQ(nodes_[NodeIndex{0}].capacity[0], int64_t{1} << 40);
  EXPECT_EQ(nodes_[NodeIndex{1}].capacity[0], 0);
}

TEST_F(NodesTest, ChangedNodesComeOnceAndInOrder) {
  Add(0, 10);
  Add(1, 10);
  std::vector<uint32_t> seen;
  nodes_.Changed({1}, false);
  nodes_.TakeChanged([&](NodeIndex node) {
    seen.push_back(node.value);
    if (node.value == 1 && seen.size() == 2) nodes_.Changed({0}, true);
  });
  EXPECT_EQ(seen, (std::vector<uint32_t>{0, 1, 0}));
  EXPECT_FALSE(nodes_.AnyChanged());
}

TEST_F(NodesTest, EveryChangeIsInTheHash) {
  std::set<uint64_t> seen;
  const auto differs = [&] { return seen.insert(HashOf(nodes_)).second; };
  EXPECT_TRUE(differs());
  const NodeIndex node = Add(0, 10, {"gpu"});
  EXPECT_TRUE(differs());
  nodes_.TakeChanged([](NodeIndex) {});
  EXPECT_TRUE(differs());
  nodes_.TakeFreed(node);
  EXPECT_TRUE(differs());
  nodes_.AddUse(node, Resources::Of(1, 1));
  EXPECT_TRUE(differs());
  nodes_.Reserve(node, ReservationId{0}, Resources::Of(1, 1));
  EXPECT_TRUE(differs());
  nodes_.MoveCursor(nodes_.FindLabel("gpu"), node);
  EXPECT_TRUE(differs());
  nodes_.Resize(node, Resources::Of(11, 8));
  EXPECT_TRUE(differs());
  nodes_.SetSchedulable(node, false);
  EXPECT_TRUE(differs());
  nodes_.LabelFor("fast");
  EXPECT_TRUE(differs());
}

}  // namespace
}  // namespace fairlead::scheduler::native
