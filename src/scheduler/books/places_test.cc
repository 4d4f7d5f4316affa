#include "scheduler/books/places.h"

#include <gtest/gtest.h>

#include <set>

#include "scheduler/books/hash_of.h"

namespace fairlead::scheduler::native {
namespace {

std::vector<uint64_t> Woken(Places& places, PlaceId place, bool host) {
  std::vector<uint64_t> woken;
  places.WakeAt(place, host, [&](AppSlot, uint64_t serial) { woken.push_back(serial); });
  return woken;
}

TEST(PlacesTest, ANameIsOnePlaceWhileSomebodyMentionsIt) {
  Places places;
  const PlaceId host = places.Mention("host");
  EXPECT_EQ(places.Mention("host"), host);
  places.Forget(host);
  places.Forget(host);
  EXPECT_EQ(places.Find("host"), host) << "it mostly comes again";
}

TEST(PlacesTest, AMillionNamesThatNobodyMentionsAnyMoreAreForgotten) {
  Places places;
  const PlaceId kept = places.Mention("kept");
  for (int i = 0; i < 1'000'000; ++i) places.Forget(places.Mention("h" + std::to_string(i)));
  EXPECT_LE(places.count(), Places::kMostIdle + 2);
  EXPECT_LE(places.size(), Places::kMostIdle + 2);
  EXPECT_EQ(places.Find("kept"), kept);
}

TEST(PlacesTest, WhoWaitsIsWokenAtItsPlaces) {
  Places places;
  const PlaceId host = places.Mention("host");
  const PlaceId rack = places.Mention("/rack");
  const WaiterId waiter = places.AddWaiter(AppSlot{1}, 42);
  places.StandAt(host, waiter);
  places.StandAt(rack, waiter);
  EXPECT_TRUE(Woken(places, host, true).empty()) << "it stands there and waits for nothing";
  places.Wait(waiter, WaitsFor::kHost);
  EXPECT_TRUE(Woken(places, rack, false).empty());
  EXPECT_EQ(Woken(places, host, true), std::vector<uint64_t>{42});
  places.Wait(waiter, WaitsFor::kPlace);
  EXPECT_EQ(Woken(places, rack, false), std::vector<uint64_t>{42});
}

TEST(PlacesTest, EntriesOfWhoIsGoneGoWhenTheyAreMetOrTheirPlaceIsForgotten) {
  Places places;
  const PlaceId host = places.Mention("host");
  const PlaceId rack = places.Mention("/rack");
  const WaiterId waiter = places.AddWaiter(AppSlot{1}, 42);
  places.StandAt(host, waiter);
  places.StandAt(rack, waiter);
  places.Wait(waiter, WaitsFor::kPlace);
  places.RemoveWaiter(waiter);
  EXPECT_TRUE(Woken(places, host, true).empty());
  EXPECT_EQ(places.waiter(waiter).entries, 1u);
  places.Forget(rack);
  for (size_t i = 0; i <= Places::kMostIdle + 1; ++i) places.Forget(places.Mention("h" + std::to_string(i)));
  EXPECT_EQ(places.AddWaiter(AppSlot{2}, 43), waiter) << "its number is free";
}

TEST(PlacesTest, EveryChangeIsInTheHash) {
  Places places;
  std::set<uint64_t> seen;
  const auto differs = [&] { return seen.insert(HashOf(places)).second; };
  EXPECT_TRUE(differs());
  const PlaceId host = places.Mention("host");
  EXPECT_TRUE(differs());
  places.Mention("host");
  EXPECT_TRUE(differs());
  places.AddNode(host, NodeIndex{4});
  EXPECT_TRUE(differs());
  const WaiterId waiter = places.AddWaiter(AppSlot{1}, 42);
  EXPECT_TRUE(differs());
  places.StandAt(host, waiter);
  EXPECT_TRUE(differs());
  places.Wait(waiter, WaitsFor::kPlace);
  EXPECT_TRUE(differs());
}

}  // namespace
}  // namespace fairlead::scheduler::native
