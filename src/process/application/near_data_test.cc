#include "process/application/near_data.h"

#include <gtest/gtest.h>

// The rules of Spark's LocalityPreferredContainerPlacementStrategy: its own examples (ContainerPlacementStrategySuite,
// and the comment of the class), as the lines that AMRMClient makes of them.

namespace fairlead::process::application {
namespace {

const std::map<std::string, std::string> kRacks = {{"a", "/r1"}, {"b", "/r1"}, {"c", "/r2"}};

PlaceLines Lines(const WantedPlaces& places, int32_t containers, const std::map<std::string, int32_t>& existing = {},
                 int32_t slots = 5) {
  return LinesNearData(places, containers, slots, existing, kRacks);
}

TEST(NearDataTest, EachHostGetsItsShare) {
  // 3 executors of 5 slots: 1.125 on a, 1.125 on b, 0.75 on c make 2, 2 and 1 of 5, of which 3 are asked for:
  // {a b c}, {a b c}, {a b}.
  EXPECT_EQ(Lines({15, {{"a", 15}, {"b", 15}, {"c", 10}}}, 3),
            (PlaceLines{{"a", 3}, {"b", 3}, {"c", 2}, {"/r1", 3}, {"/r2", 2}}));
}

TEST(NearDataTest, ExecutorsThatAreThereCount) {
  const WantedPlaces places{15, {{"a", 15}, {"b", 15}, {"c", 10}}};
  // One anywhere, {b c} twice.
  EXPECT_EQ(Lines(places, 3, {{"a", 2}, {"b", 1}}), (PlaceLines{{"b", 2}, {"c", 2}, {"/r1", 2}, {"/r2", 2}}));
  EXPECT_EQ(Lines(places, 1, {{"a", 2}, {"b", 1}}), (PlaceLines{{"b", 1}, {"c", 1}, {"/r1", 1}, {"/r2", 1}}));
  EXPECT_EQ(Lines(places, 3, {{"a", 2}, {"b", 2}, {"c", 2}}), PlaceLines{}) << "every host has its share";
}

TEST(NearDataTest, SharesFollowTheTasks) {
  // The class's comment: 20 tasks on a, b and c each, 10 on d: 6 executors of 10 slots would be 3 : 3 : 3 : 2.
  const WantedPlaces places{70, {{"a", 30}, {"b", 30}, {"c", 20}, {"d", 10}}};
  // 7 executors: 2.33, 2.33, 1.56 and 0.78, rounded up to 3, 3, 2 and 1; for 9 and more containers these are tripled.
  EXPECT_EQ(Lines(places, 18, {}, 10),
            (PlaceLines{{"a", 9}, {"b", 9}, {"c", 6}, {"d", 3}, {"/r1", 9}, {"/r2", 6}, {"/default-rack", 3}}));
  EXPECT_EQ(Lines(places, 1, {}, 10),
            (PlaceLines{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"/r1", 1}, {"/r2", 1}, {"/default-rack", 1}}));
}

TEST(NearDataTest, WithoutPlacesOrNeedNothingIsNamed) {
  EXPECT_EQ(Lines({}, 4), PlaceLines{});
  EXPECT_EQ(Lines({0, {{"a", 0}}}, 4), PlaceLines{});
  EXPECT_EQ(Lines({5, {{"a", 5}}}, 0), PlaceLines{});
}

TEST(NearDataTest, WhatTheTasksDoNotNeedMayBeAnywhere) {
  EXPECT_EQ(Lines({3, {{"c", 3}}}, 8, {}, 1), (PlaceLines{{"c", 3}, {"/r2", 3}}));
}

}  // namespace
}  // namespace fairlead::process::application
