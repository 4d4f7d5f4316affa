#include "scheduler/hadoop/nodes.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace fairlead::scheduler::hadoop {
namespace {

using model::Resources;

class NodesTest : public ::testing::Test {
 protected:
  ~NodesTest() override { EXPECT_EQ(nodes_.Check(containers_, names_), ""); }

  void Add(uint32_t node, int64_t memory = 8, bool with_port = false) {
    nodes_.Add({{node}, "h" + std::to_string(node), 1, "/r" + std::to_string(node % 2), Resources::Of(memory, 1), {}},
               with_port, names_);
  }
  ContainerSlot Start(uint32_t node, int64_t memory) {
    const ContainerSlot slot =
        containers_.Add(AttemptId{0}, AppIndex{0}, {{{1, 1}, 1}, ++value_}, {node}, {}, Resources::Of(memory, 0));
    containers_.SetState(slot, ContainerState::kRunning);
    nodes_.Put(slot, false, containers_);
    return slot;
  }
  std::vector<NodeIndex> Named(const std::string& name) const { return nodes_.Named(names_.Find(name)); }
  uint64_t Hash() const {
    base::StateHasher hash;
    nodes_.Mix(hash);
    return hash.value();
  }

  Names names_;
  Containers containers_;
  Nodes nodes_;
  int64_t value_ = 0;
};

TEST_F(NodesTest, TheClusterIsTheSumOfThoseThatAreThere) {
  Add(0);
  Add(1, 16);
  EXPECT_EQ(nodes_.total(), Resources::Of(24, 2));
  EXPECT_EQ(nodes_.Largest(), Resources::Of(16, 1));
  nodes_.Remove({1}, names_);
  EXPECT_EQ(nodes_.total(), Resources::Of(8, 1));
  EXPECT_EQ(nodes_.Largest(), Resources::Of(8, 1));
  EXPECT_FALSE(nodes_.Alive({1}));
  EXPECT_FALSE(nodes_.Alive({77}));
}

TEST_F(NodesTest, AreNamedByHostRackAndStar) {
  Add(0);
  Add(1);
  Add(2);
  EXPECT_EQ(Named("h1"), (std::vector<NodeIndex>{{1}}));
  EXPECT_EQ(Named("/r0"), (std::vector<NodeIndex>{{0}, {2}}));
  EXPECT_EQ(Named("*").size(), 3U);
  EXPECT_TRUE(Named("nowhere").empty());
  EXPECT_EQ(nodes_.CountIn(names_.Find("/r0")), 2U);
  nodes_.Remove({0}, names_);
  EXPECT_EQ(Named("/r0"), (std::vector<NodeIndex>{{2}}));
  EXPECT_TRUE(Named("h0").empty());
  Add(3, 8, true);
  EXPECT_EQ(Named("h3:1"), (std::vector<NodeIndex>{{3}})) << "include-port-in-node-name";
}

TEST_F(NodesTest, AContainerTakesRoomUntilItIsOff) {
  Add(0);
  const ContainerSlot slot = Start(0, 3);
  EXPECT_EQ(nodes_[{0}].unallocated, Resources::Of(5, 1));
  nodes_.TakeOff(slot, false, containers_);
  nodes_.TakeOff(slot, false, containers_);
  EXPECT_EQ(nodes_[{0}].unallocated, Resources::Of(8, 1));
  EXPECT_EQ(nodes_[{0}].most_containers, 1U) << "the hash table does not shrink";
}

TEST_F(NodesTest, AResizedNodeLeavesTheTrackerAndComesBack) {
  Add(0);
  Add(2);
  Start(0, 3);
  nodes_.Resize({0}, Resources::Of(8, 1));
  EXPECT_EQ(Named("/r0"), (std::vector<NodeIndex>{{0}, {2}})) << "not one of the same size";
  nodes_.Resize({0}, Resources::Of(10, 1));
  EXPECT_EQ(nodes_[{0}].unallocated, Resources::Of(7, 1));
  EXPECT_EQ(Named("/r0"), (std::vector<NodeIndex>{{2}, {0}}));
}

TEST_F(NodesTest, EveryChangeIsInTheHash) {
  Add(0);
  const std::function<void()> changes[] = {
      [&] { Add(1); },
      [&] { nodes_.SetSchedulable({0}, false); },
      [&] { Start(0, 1); },
      [&] { nodes_.Resize({0}, Resources::Of(9, 9)); },
      [&] { nodes_.Remove({1}, names_); },
  };
  std::set<uint64_t> seen = {Hash()};
  for (const auto& change : changes) {
    change();
    EXPECT_TRUE(seen.insert(Hash()).second) << seen.size();
  }
}

}  // namespace
}  // namespace fairlead::scheduler::hadoop
