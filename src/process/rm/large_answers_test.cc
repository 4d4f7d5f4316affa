#include "process/rm/large_answers.h"

#include <gtest/gtest.h>

#include <vector>

#include "env_sim/world.h"

namespace fairlead::process::rm {
namespace {

using base::Duration;

struct Port {
  env_sim::World world{1};
  env_sim::Machine& machine = world.AddMachine("rm");
  size_t unsent = 0;
  LargeAnswers answers{machine.loop(), [this] { return unsent; }};
  std::vector<int> sent;
  std::vector<std::shared_ptr<int>> askers;

  void Ask(int number, size_t bytes, const std::shared_ptr<int>& asker = std::make_shared<int>()) {
    askers.push_back(asker);
    answers.Add(
        asker, [] { return [] {}; },
        [this, number, bytes] {
          sent.push_back(number);
          unsent += bytes;
        });
  }
  void RunFor(Duration time) {
    world.RunUntil(world.now() + time, [] { return false; });
  }
};

TEST(LargeAnswers, SmallOnesAreSentOneAfterTheOther) {
  Port port;
  for (int i = 0; i < 5; ++i) port.Ask(i, 1000);
  port.RunFor(Duration::Millis(1));
  EXPECT_EQ(port.sent, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(LargeAnswers, TheNextWaitsUntilEarlierOnesAreTaken) {
  Port port;
  for (int i = 0; i < 3; ++i) port.Ask(i, LargeAnswers::kUnsentHigh + 1);
  port.RunFor(Duration::Millis(500));
  EXPECT_EQ(port.sent, (std::vector<int>{0}));
  port.unsent = 0;
  port.RunFor(Duration::Millis(500));
  EXPECT_EQ(port.sent, (std::vector<int>{0, 1}));
}

TEST(LargeAnswers, WhoTakesNothingDelaysOthersOnce) {
  Port port;
  for (int i = 0; i < 100; ++i) port.Ask(i, LargeAnswers::kUnsentHigh + 1);
  port.RunFor(LargeAnswers::kPatience - Duration::Millis(100));
  EXPECT_EQ(port.sent.size(), 1u);
  port.RunFor(Duration::Millis(200));
  EXPECT_EQ(port.sent.size(), 100u);
  port.unsent = 0;  // taken, or their peers have gone
  for (int i = 0; i < 2; ++i) port.Ask(i, LargeAnswers::kUnsentHigh + 1);
  port.RunFor(LargeAnswers::kPatience - Duration::Millis(100));
  EXPECT_EQ(port.sent.size(), 101u);
}

TEST(LargeAnswers, NothingIsMadeForWhoHasGone) {
  Port port;
  for (int i = 0; i < 3; ++i) port.Ask(i, LargeAnswers::kUnsentHigh + 1);
  port.askers.pop_back();
  port.RunFor(LargeAnswers::kPatience * 3);
  EXPECT_EQ(port.sent, (std::vector<int>{0, 1}));
}

TEST(LargeAnswers, NothingIsBegunOrSentAfterTheEnd) {
  env_sim::World world{1};
  env_sim::Machine& machine = world.AddMachine("rm");
  int begun = 0, sent = 0;
  {
    LargeAnswers answers(machine.loop(), [] { return LargeAnswers::kUnsentHigh + 1; });
    const auto asker = std::make_shared<int>();
    for (int i = 0; i < 2; ++i) {
      answers.Add(
          asker,
          [&]() -> LargeAnswers::Work {
            ++begun;
            return [] {};
          },
          [&] { ++sent; });
    }
  }
  world.RunUntil(world.now() + Duration::Seconds(10), [] { return false; });
  EXPECT_LE(begun, 1);
  EXPECT_EQ(sent, 0);
}

}  // namespace
}  // namespace fairlead::process::rm
