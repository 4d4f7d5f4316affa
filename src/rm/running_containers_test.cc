#include "rm/running_containers.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace fairlead::rm {
namespace {

model::ContainerId Id(int64_t value) { return {{{1, static_cast<int32_t>(value % 3)}, 1}, value}; }

TEST(RunningContainers, TellsWhatIsSettled) {
  RunningContainers running;
  running.Insert(Id(4));
  running.Insert(Id(7));
  running.BeginReport();
  EXPECT_TRUE(running.Report(Id(7)));
  EXPECT_TRUE(running.Report(Id(4)));
  EXPECT_FALSE(running.Report(Id(5)));
  EXPECT_TRUE(running.TakeUnreported().empty());
  running.MarkOver(Id(4));
  running.BeginReport();
  EXPECT_FALSE(running.Report(Id(4)));
  EXPECT_EQ(running.TakeUnreported(), std::vector<model::ContainerId>{Id(7)});
}

TEST(RunningContainers, EqualsAMapThroughRandomReports) {
  std::mt19937 random(7);
  RunningContainers running;
  std::map<model::ContainerId, bool> expected;  // whether it is over
  for (int round = 0; round < 2000; ++round) {
    running.BeginReport();
    std::map<model::ContainerId, bool> reported;
    for (int64_t value = 0; value < 40; ++value) {
      if (random() % 4 == 0) continue;
      const model::ContainerId id = Id(random() % 5 == 0 ? 39 - value : value);
      const auto known = expected.find(id);
      ASSERT_EQ(running.Report(id), known != expected.end() && !known->second);
      if (known == expected.end() && random() % 2 == 0) {
        running.Insert(id);
        expected[id] = false;
      }
      if (const auto at = expected.find(id); at != expected.end()) {
        reported.insert(*at);
        if (random() % 8 == 0) {
          running.MarkOver(id);
          at->second = true;
        } else if (random() % 8 == 0) {
          running.Erase(id);
          expected.erase(at);
          reported.erase(id);
        }
      }
    }
    std::vector<model::ContainerId> missing;
    for (const auto& [id, over] : expected) {
      if (!reported.contains(id)) missing.push_back(id);
    }
    ASSERT_EQ(running.TakeUnreported(), missing);
    for (const model::ContainerId& id : missing) expected.erase(id);
    std::map<model::ContainerId, bool> left;
    running.ForEach([&](const model::ContainerId& id, bool over) { left[id] = over; });
    ASSERT_EQ(left, expected);
  }
}

}  // namespace
}  // namespace fairlead::rm
