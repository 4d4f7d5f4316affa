#include "scheduler/books/containers.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "scheduler/books/hash_of.h"

namespace fairlead::scheduler::native {
namespace {

model::ContainerId Id(int64_t value) { return {{{1, 1}, 1}, value}; }

class ContainersTest : public ::testing::Test {
 protected:
  ContainerSlot Add(int64_t value) {
    return containers_.Add(Id(value), AppSlot{2}, app_, NodeIndex{3}, node_, ShapeId{4}, {5});
  }
  std::vector<int64_t> OfNode() const {
    std::vector<int64_t> values;
    for (ContainerSlot at = node_.first(); at.valid(); at = containers_[at].node_next) {
      values.push_back(containers_[at].value);
    }
    return values;
  }
  Containers containers_;
  Chain app_;
  Chain node_;
};

TEST_F(ContainersTest, IsFoundByItsIdWhileItIsThere) {
  const ContainerSlot slot = Add(9);
  EXPECT_EQ(containers_.Find(Id(9)), slot);
  EXPECT_EQ(containers_[slot].id(), Id(9));
  EXPECT_FALSE(containers_.Find(Id(8)).valid());
  containers_.LeaveApp(slot, app_);
  EXPECT_EQ(containers_.Find(Id(9)), slot) << "its node has not yet reported the end";
  containers_.Remove(slot, node_);
  EXPECT_FALSE(containers_.Find(Id(9)).valid());
}

TEST_F(ContainersTest, StandsInItsApplicationsAndItsNodesChain) {
  Add(1);
  const ContainerSlot second = Add(2);
  Add(3);
  EXPECT_EQ(OfNode(), (std::vector<int64_t>{3, 2, 1}));
  containers_.LeaveApp(second, app_);
  EXPECT_EQ(app_.count(), 2);
  EXPECT_EQ(OfNode(), (std::vector<int64_t>{3, 2, 1}));
  containers_.Remove(second, node_);
  EXPECT_EQ(OfNode(), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(node_.count(), 2);
}

TEST_F(ContainersTest, EveryChangeIsInTheHash) {
  const ContainerSlot slot = Add(1);
  const std::function<void()> changes[] = {
      [&] { containers_.SetAsk(slot, 1, -1, model::Locality::kOffSwitch); },
      [&] { containers_.SetAsk(slot, 1, 7, model::Locality::kOffSwitch); },
      [&] { containers_.SetAsk(slot, 1, 7, model::Locality::kNodeLocal); },
      [&] { containers_.SetMaster(slot); },
      [&] { containers_.SetAcquired(slot); },
      [&] { containers_.SetLaunched(slot); },
      [&] { containers_.SetShape(slot, ShapeId{8}); },
      [&] { containers_.SetTakenBack(slot, {9}); },
      [&] { Add(2); },
      [&] { containers_.LeaveApp(slot, app_); },
      [&] { containers_.Remove(slot, node_); },
  };
  std::set<uint64_t> seen = {HashOf(containers_)};
  for (const auto& change : changes) {
    change();
    EXPECT_TRUE(seen.insert(HashOf(containers_)).second) << seen.size();
  }
}

}  // namespace
}  // namespace fairlead::scheduler::native
