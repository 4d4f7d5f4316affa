#include "rm/container_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace fairlead::rm {
namespace {

model::ContainerId Id(int64_t value, int32_t attempt = 1) { return {{{1, 1}, attempt}, value}; }

Container Of(const model::ContainerId& id, int32_t priority) {
  Container container;
  container.id = id;
  container.priority = priority;
  return container;
}

TEST(ContainerTable, EqualsAMapThroughRandomChanges) {
  std::mt19937 random(3);
  ContainerTable table;
  std::map<model::ContainerId, const Container*> expected;
  for (int round = 0; round < 20'000; ++round) {
    // Of two attempts and two epochs, dense as a scheduler numbers them.
    const model::ContainerId id = Id(static_cast<int64_t>(random() % 60) + (random() % 2 ? int64_t{1} << 40 : 0),
                                     1 + static_cast<int>(random() % 2));
    const auto known = expected.find(id);
    ASSERT_EQ(table.Find(id), known == expected.end() ? nullptr : known->second) << "containers stay where they are";
    if (random() % 2 == 0) {
      const Container* added = table.Add(Of(id, round));
      ASSERT_EQ(added == nullptr, known != expected.end());
      if (added) expected[id] = added;
    } else {
      const auto taken = table.Take(id);
      ASSERT_EQ(taken.get(), known == expected.end() ? nullptr : known->second);
      expected.erase(id);
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  std::map<model::ContainerId, const Container*> seen;
  table.ForEach([&](const Container& container) { seen[container.id] = &container; });
  EXPECT_EQ(seen, expected);
}

TEST(ContainerTable, WhatGoesLeavesTheListOfThoseThatWait) {
  WaitingGrants waiting;
  {
    ContainerTable table;
    for (int64_t value = 1; value <= 4; ++value) waiting.push_back(*table.Add(Of(Id(value), 0)));
    table.Find(Id(2))->StopWaiting();
    table.Take(Id(3));
    ASSERT_EQ(std::distance(waiting.begin(), waiting.end()), 2);
    EXPECT_EQ(waiting.front().id, Id(1));
    EXPECT_EQ(waiting.back().id, Id(4));
    EXPECT_FALSE(table.Find(Id(2))->waits());
  }
  EXPECT_TRUE(waiting.empty());
}

}  // namespace
}  // namespace fairlead::rm
