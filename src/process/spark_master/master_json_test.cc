#include "process/spark_master/master_json.h"

#include <gtest/gtest.h>

namespace fairlead::process::spark_master {
namespace {

using model::standalone::ExecutorState;

constexpr base::WallTime kToldAt{1'000'000};

/// Executors by number; the last one was started `last_s` seconds ago.
ApplicationRecord After(const std::vector<ExecutorState>& states, int64_t last_s) {
  ApplicationRecord record;
  for (const ExecutorState state : states) {
    const auto number = static_cast<int32_t>(record.executors.size());
    record.executors[number] = {"worker", 1, 512, {kToldAt.ms - 500'000}, state, "Command exited with code 1"};
  }
  record.executors.rbegin()->second.started = {kToldAt.ms - last_s * 1000};
  return record;
}

constexpr ExecutorState kExited = ExecutorState::kExited, kRunning = ExecutorState::kRunning;

TEST(WhyExecutorsEnd, ThreeInARowAreToldWithTheLast) {
  const std::string told =
      "its executors end by themselves, the last one so: Command exited with code 1; their logs say why";
  EXPECT_EQ(WhyExecutorsEnd(After({kExited, kExited, kExited}, 1), kToldAt), told);
  EXPECT_EQ(WhyExecutorsEnd(After({kExited, kExited, ExecutorState::kFailed, kRunning}, 1), kToldAt), told)
      << "the next one has just been started";
  EXPECT_EQ(WhyExecutorsEnd(After({kExited, kExited}, 1), kToldAt), "");
  EXPECT_EQ(WhyExecutorsEnd(After({kExited, kExited, ExecutorState::kKilled}, 1), kToldAt), "");
}

TEST(WhyExecutorsEnd, OneThatRunsForAMinuteEndsIt) {
  EXPECT_NE(WhyExecutorsEnd(After({kExited, kExited, kExited, kRunning}, 59), kToldAt), "");
  EXPECT_EQ(WhyExecutorsEnd(After({kExited, kExited, kExited, kRunning}, 61), kToldAt), "");
}

}  // namespace
}  // namespace fairlead::process::spark_master
