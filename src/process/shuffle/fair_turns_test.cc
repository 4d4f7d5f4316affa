#include "process/shuffle/fair_turns.h"

#include <gtest/gtest.h>

#include <map>

namespace fairlead::process::shuffle {
namespace {

constexpr int64_t kQuantum = 1000;

TEST(FairTurns, ManyConnectionsAreNoLargerShare) {
  FairTurns turns(kQuantum);
  // Connections 1 to 99 are one application's, 100 is the other's; pieces differ in size and overshoot.
  const auto app_of = [](uint64_t connection) { return connection < 100 ? "many" : "one"; };
  const auto piece_of = [](uint64_t connection) {
    return connection < 100 ? 700 + static_cast<int64_t>(connection) : 300;
  };
  for (uint64_t connection = 1; connection <= 100; ++connection) turns.Wait(app_of(connection), connection);
  std::map<std::string, int64_t> sent;
  for (int round = 0; round < 1000; ++round) {
    turns.Round([&](uint64_t connection, int64_t bytes) {
      int64_t used = 0;
      while (used < bytes) used += piece_of(connection);
      sent[app_of(connection)] += used;
      turns.Wait(app_of(connection), connection);
      return used;
    });
  }
  EXPECT_NEAR(static_cast<double>(sent["many"]), 1000.0 * kQuantum, 2.0 * kQuantum);
  EXPECT_NEAR(static_cast<double>(sent["one"]), 1000.0 * kQuantum, 2.0 * kQuantum);
}

TEST(FairTurns, ConnectionsOfAnApplicationTakeTurns) {
  FairTurns turns(kQuantum);
  std::map<uint64_t, int> served;
  for (uint64_t connection = 1; connection <= 3; ++connection) turns.Wait("app", connection);
  for (int round = 0; round < 30; ++round) {
    turns.Round([&](uint64_t connection, int64_t bytes) {
      ++served[connection];
      turns.Wait("app", connection);
      return bytes;
    });
  }
  for (uint64_t connection = 1; connection <= 3; ++connection) EXPECT_EQ(served[connection], 10);
}

TEST(FairTurns, WhoDoesNotWaitSavesNothingUp) {
  FairTurns turns(kQuantum);
  turns.Wait("idle", 1);
  turns.Round([](uint64_t, int64_t) { return 10; });
  EXPECT_FALSE(turns.waiting());
  turns.Wait("idle", 1);
  int64_t offered = 0;
  turns.Round([&](uint64_t, int64_t bytes) { return offered = bytes; });
  EXPECT_EQ(offered, kQuantum);
}

TEST(FairTurns, AnOverdraftIsPaidBack) {
  FairTurns turns(kQuantum);
  turns.Wait("app", 1);
  int rounds = 0;
  turns.Round([&](uint64_t, int64_t) {
    turns.Wait("app", 1);
    return 5 * kQuantum;
  });
  for (bool served = false; !served; ++rounds) {
    ASSERT_LT(rounds, 10);
    turns.Round([&](uint64_t, int64_t) {
      served = true;
      return int64_t{1};
    });
  }
  EXPECT_EQ(rounds, 5);
}

}  // namespace
}  // namespace fairlead::process::shuffle
