#include "scheduler/books/apps.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "scheduler/books/hash_of.h"

namespace fairlead::scheduler::native {
namespace {

using model::Resources;

model::scheduler::AppAdded Added(uint32_t index) {
  model::scheduler::AppAdded event;
  event.app = {index};
  event.id = {1, static_cast<int32_t>(index)};
  return event;
}

class AppsTest : public ::testing::Test {
 protected:
  Ask& AskFor(int32_t priority, int64_t gang = 0) {
    model::Ask wanted;
    wanted.priority = priority;
    wanted.gang = gang;
    return *apps_.AskFor(slot_, wanted, ShapeId{0}, next_serial_++).first;
  }
  Apps apps_;
  AppSlot slot_ = apps_.Add(Added(3), QueueId{1}, UserId{2});
  uint64_t next_serial_ = 1;
};

TEST_F(AppsTest, ASlotIsUsedAgainAnIndexNever) {
  EXPECT_EQ(apps_.Find({3}), slot_);
  EXPECT_FALSE(apps_.Find({2}).valid());
  EXPECT_FALSE(apps_.Find({99}).valid());
  apps_.Remove(slot_);
  EXPECT_FALSE(apps_.Find({3}).valid());
  EXPECT_EQ(apps_.Add(Added(4), QueueId{1}, UserId{2}), slot_);
}

TEST_F(AppsTest, AsksStandInOrderOfPriorityAndAreFoundBySerial) {
  AskFor(5);
  const uint64_t second = AskFor(2).serial;
  ASSERT_EQ(apps_[slot_].asks.size(), 2u);
  EXPECT_EQ(apps_[slot_].asks[0].serial, second);
  EXPECT_EQ(AskFor(2).serial, second) << "the same key is the same ask";
  EXPECT_EQ(apps_.FindAsk(slot_, second)->priority, 2);
  EXPECT_EQ(apps_.FindAsk(slot_, 99), nullptr);
}

TEST_F(AppsTest, ContainerNumbersGoOnBehindThoseThatWereSeen) {
  apps_.StartAttempt(slot_, 1);
  apps_.SawSequence(slot_, 7);
  EXPECT_EQ(apps_.NextId(slot_, 2).value, (int64_t{2} << 40) | 8);
  apps_.StartAttempt(slot_, 2);
  EXPECT_EQ(apps_.NextId(slot_, 2).value, (int64_t{2} << 40) | 1);
}

TEST_F(AppsTest, OnlyOpenAsksCountForTheClasses) {
  Shapes shapes;
  const ShapeId shape = shapes.For({Resources::Of(1, 1), LabelId{}});
  shapes.Use(shape);
  shapes.Want(shape);
  Ask& ask = AskFor(1);
  apps_.RecountClasses(slot_, shapes);
  EXPECT_EQ(apps_[slot_].classes, 0u);
  ask.count = 1;
  apps_.RecountClasses(slot_, shapes);
  EXPECT_EQ(apps_[slot_].classes, shapes.ClassOf(shape));
  ask.park = Park::kPlace;
  apps_.RecountClasses(slot_, shapes);
  EXPECT_EQ(apps_[slot_].classes, 0u);
}

TEST_F(AppsTest, EveryChangeIsInTheHash) {
  AskFor(1);
  const auto ask = [&]() -> Ask& { return apps_.asks(slot_)[0]; };
  const std::function<void()> changes[] = {
      [&] { apps_.SetRunnable(slot_, true); },
      [&] { apps_.SetPriority(slot_, 4); },
      [&] { apps_.SetLeaf(slot_, QueueId{5}); },
      [&] { apps_.StartAttempt(slot_, 1); },
      [&] { apps_.GotMaster(slot_); },
      [&] { apps_.EndAttempt(slot_); },
      [&] { apps_.AddUse(slot_, Resources::Of(1, 0)); },
      [&] { apps_.AddMasterUse(slot_, Resources::Of(1, 0)); },
      [&] { apps_.AddPending(slot_, Resources::Of(1, 0)); },
      [&] { apps_.NextId(slot_, 0); },
      [&] { apps_.SetExcluded(slot_, {PlaceId{3}}); },
      [&] { ask().count = 2; },
      [&] { ask().relax_any = false; },
      [&] { ask().park = Park::kGang; },
      [&] { ask().waiter = WaiterId{1}; },
      [&] { ask().cursor = 1; },
      [&] { ask().reserved = 1; },
      [&] { ask().since = {1}; },
      [&] { ask().refusing_since = {1}; },
      [&] {
        ask().places.push_back({PlaceId{1}, 1, false, true});
      },
      [&] { ask().places[0].count = 2; },
      [&] { ask().places[0].rack = true; },
      [&] { ask().places[0].relax = false; },
      [&] { AskFor(1, 7); },
      [&] { AskFor(9); },
  };
  std::set<uint64_t> seen = {HashOf(apps_)};
  for (const auto& change : changes) {
    change();
    EXPECT_TRUE(seen.insert(HashOf(apps_)).second) << seen.size();
  }
}

}  // namespace
}  // namespace fairlead::scheduler::native
