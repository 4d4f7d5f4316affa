#include "scheduler/hadoop/containers.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace fairlead::scheduler::hadoop {
namespace {

constexpr model::ApplicationId kApp{1, 1};

class ContainersTest : public ::testing::Test {
 protected:
  ContainerSlot Add(int64_t value) {
    return containers_.Add(AttemptId{0}, AppIndex{0}, {{kApp, 1}, value}, NodeIndex{0}, {}, model::Resources::Of(1, 1));
  }
  /// On its node and its attempt's.
  ContainerSlot Start(int64_t value) {
    const ContainerSlot slot = Add(value);
    containers_.SetState(slot, ContainerState::kRunning);
    containers_.Join(slot, attempt_);
    containers_.Put(slot, node_, false);
    return slot;
  }
  std::vector<int64_t> Live() const {
    std::vector<int64_t> values;
    for (const ContainerSlot slot : containers_.OfAttempt(attempt_)) values.push_back(containers_[slot].id.value);
    return values;
  }
  uint64_t Hash() const {
    base::StateHasher hash;
    containers_.Mix(hash);
    return hash.value();
  }

  Names names_;
  Containers containers_;
  Chain attempt_;
  Chain node_;
};

TEST_F(ContainersTest, StandInTheirChainsInTheOrderTheyCame) {
  Start(1);
  const ContainerSlot second = Start(2);
  Start(3);
  EXPECT_EQ(Live(), (std::vector<int64_t>{1, 2, 3}));
  containers_.Leave(second, attempt_);
  EXPECT_EQ(Live(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(node_.count(), 3U);
  std::string wrong;
  EXPECT_EQ(containers_.CheckNode(node_, NodeIndex{0}, wrong), model::Resources::Of(3, 3));
  EXPECT_EQ(containers_.CheckAttempt(attempt_, AttemptId{0}, wrong), model::Resources::Of(2, 2));
  EXPECT_EQ(wrong, "");
}

TEST_F(ContainersTest, WhatTheNodeReportedLaunchedStaysUntilItReportsTheEnd) {
  const ContainerSlot slot = Start(1);
  containers_.SetLaunched(slot);
  EXPECT_FALSE(containers_.TakeOff(slot, node_, false));
  EXPECT_EQ(containers_.FindOn(node_, {{kApp, 1}, 1}), slot);
  EXPECT_TRUE(containers_.TakeOff(slot, node_, true));
  EXPECT_FALSE(containers_.TakeOff(slot, node_, true)) << "once";
  EXPECT_FALSE(containers_.FindOn(node_, {{kApp, 1}, 1}).valid());
}

TEST_F(ContainersTest, AreThereUntilAttemptAndNodeAreDoneWithThem) {
  const ContainerSlot slot = Start(1);
  containers_.Leave(slot, attempt_);
  EXPECT_FALSE(containers_.RemoveIfGone(slot, names_));
  containers_.TakeOff(slot, node_, true);
  EXPECT_TRUE(containers_.RemoveIfGone(slot, names_));
  EXPECT_FALSE(containers_.Has(slot));
  EXPECT_EQ(Add(2), slot) << "the number is used again";
  EXPECT_FALSE(containers_.RemoveIfGone(slot, names_)) << "reserved";
}

TEST_F(ContainersTest, WhatAGrantTookIsKeptWithItsNamesUntilItIsPickedUp) {
  const ContainerSlot slot = Start(1);
  const NameId host = names_.Acquire("host");
  Taken taken;
  taken.size = 2;
  taken.lines[0].name = host;
  containers_.KeepTaken(slot, taken, names_);
  names_.Release(host);
  ASSERT_NE(containers_.TakenBy(slot), nullptr);
  EXPECT_EQ(names_.Find("host"), host);
  containers_.DropTaken(slot, names_);
  EXPECT_EQ(containers_.TakenBy(slot), nullptr);
  EXPECT_FALSE(names_.Find("host").valid());
}

TEST_F(ContainersTest, GoToTheNextAttemptTogether) {
  const ContainerSlot slot = Start(1);
  Start(2);
  Chain next;
  containers_.Move(attempt_, next, AttemptId{1});
  EXPECT_EQ(attempt_.count(), 0U);
  EXPECT_EQ(next.count(), 2U);
  EXPECT_EQ(containers_[slot].attempt, AttemptId{1});
}

/// What java.util.HashMap<ContainerId, ...> gives depends on its capacity: on the most it ever held.
TEST_F(ContainersTest, AreHandedOutInHashOrder) {
  for (int64_t value = 1; value <= 20; ++value) Start(value);
  std::vector<ContainerSlot> small = containers_.InHashOrder(node_, 12);
  std::vector<ContainerSlot> large = containers_.InHashOrder(node_, 20);
  EXPECT_EQ(small.size(), 20U);
  EXPECT_NE(small, large);
  EXPECT_EQ(std::set<ContainerSlot>(small.begin(), small.end()), std::set<ContainerSlot>(large.begin(), large.end()));
}

TEST_F(ContainersTest, EveryChangeIsInTheHash) {
  const ContainerSlot slot = Start(1);
  const std::function<void()> changes[] = {
      [&] { containers_.SetState(slot, ContainerState::kAcquired); },
      [&] { containers_.SetMaster(slot); },
      [&] { containers_.SetLaunched(slot); },
      [&] { containers_.SetMarked(slot, true); },
      [&] { containers_.SetApart(slot); },
      [&] { containers_.KeepTaken(slot, {}, names_); },
      [&] { Start(2); },
      [&] { containers_.Leave(slot, attempt_); },
      [&] { containers_.TakeOff(slot, node_, true); },
      [&] { containers_.RemoveIfGone(slot, names_); },
  };
  std::set<uint64_t> seen = {Hash()};
  for (const auto& change : changes) {
    change();
    EXPECT_TRUE(seen.insert(Hash()).second) << seen.size();
  }
}

TEST(Numbers, AreGivenInOrderFromTheEpochOn) {
  Numbers numbers(int64_t{3} << 40);
  EXPECT_EQ(numbers.Next(), (int64_t{3} << 40) + 1);
  numbers.Add(ContainerSlot{7});
  EXPECT_EQ(numbers.Next(), (int64_t{3} << 40) + 2);
  EXPECT_EQ(numbers.Find((int64_t{3} << 40) + 1, true), ContainerSlot{7});
  EXPECT_FALSE(numbers.Find((int64_t{3} << 40) + 1, false).valid()) << "the same number of another attempt";
  EXPECT_FALSE(numbers.Find(1, true).valid()) << "of another epoch";
}

TEST(Numbers, ThoseGivenBeforeARestartAreNotGivenAgain) {
  Numbers numbers;
  numbers.AddKnown(5, ContainerSlot{2});
  numbers.Skip(5);
  numbers.Skip(3);
  EXPECT_EQ(numbers.Next(), 6);
  EXPECT_EQ(numbers.Find(5, true), ContainerSlot{2});
  numbers.Skip(int64_t{1} << 40);
  EXPECT_EQ(numbers.Next(), 6) << "a node may report anything";
}

TEST(Numbers, AForgottenNumberLeadsNowhere) {
  Numbers numbers;
  numbers.Add(ContainerSlot{7});
  numbers.AddKnown(9, ContainerSlot{8});
  numbers.Forget(1, ContainerSlot{6});
  EXPECT_EQ(numbers.Find(1, true), ContainerSlot{7}) << "it is another's by now";
  numbers.Forget(1, ContainerSlot{7});
  numbers.Forget(9, ContainerSlot{8});
  EXPECT_FALSE(numbers.Find(1, true).valid());
  EXPECT_FALSE(numbers.Find(9, false).valid());
}

}  // namespace
}  // namespace fairlead::scheduler::hadoop
