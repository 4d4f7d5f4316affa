#include <gtest/gtest.h>

#include <filesystem>

#include "oracle/capacity_scheduler_replay.h"

namespace fairlead::oracle {
namespace {

const std::filesystem::path kRecordings =
    std::filesystem::path(FAIRLEAD_SOURCE_DIR) / "tests/oracles/capacity-scheduler";

struct Recording {
  explicit Recording(const std::string& name, const std::string& folder = "expected")
      : scenario(*ReadJson(kRecordings / "scenarios/handmade" / (name + ".json"))),
        trace(*ReadJsonLines(kRecordings / folder / (name + ".trace.gz"))) {}
  nlohmann::json scenario;
  std::vector<nlohmann::json> trace;
};

std::string ReplayAs(const Recording& r, const std::string& version = "3.4.3") {
  return ReplayCapacityScheduler(r.scenario, r.trace, version, "", true);
}

/// Every leaf value of `value`, changed one at a time, must be noticed.
void ExpectEachChangeNoticed(const Recording& recording, nlohmann::json& value) {
  if (value.is_structured()) {
    for (nlohmann::json& part : value) ExpectEachChangeNoticed(recording, part);
    return;
  }
  const nlohmann::json before = value;
  if (value.is_number_float()) {
    value = value.get<float>() + 0.5F;
  } else {
    value = value.is_number() ? nlohmann::json(value.get<int64_t>() + 1) : nlohmann::json("changed");
  }
  EXPECT_NE(ReplayAs(recording), "") << before << " became " << value;
  value = before;
}

TEST(CapacitySchedulerOracle, AnyChangedAnswerFails) {
  Recording recording("one-app");
  ASSERT_EQ(ReplayAs(recording), "");
  for (nlohmann::json& step : recording.trace) ExpectEachChangeNoticed(recording, step);
}

TEST(CapacitySchedulerOracle, UnknownStepsAndMissingStepsFail) {
  Recording recording("one-app");
  recording.scenario["steps"].push_back({{"op", "dance"}});
  EXPECT_NE(ReplayAs(recording), "");
  recording.trace.push_back({{"i", recording.trace.size()}, {"op", "dance"}, {"t", 0}});
  EXPECT_NE(ReplayAs(recording).find("unknown step"), std::string::npos);
}

TEST(CapacitySchedulerOracle, ARefusedStartIsAnAnswer) {
  Recording refused("refused-sum");
  EXPECT_EQ(ReplayAs(refused), "");
  refused.trace[0]["error"] = "NumberFormatException";
  EXPECT_NE(ReplayAs(refused), "");
  const Recording starts("one-app");
  Recording mixed("refused-sum");
  mixed.trace = starts.trace;
  EXPECT_NE(ReplayAs(mixed), "");
}

TEST(CapacitySchedulerOracle, TheVersionsDecideDifferently) {
  const Recording old("user-limit-factor-none", "expected-3.3.6");
  EXPECT_EQ(ReplayAs(old, "3.3.6"), "");
  EXPECT_NE(ReplayAs(old, "3.4.3"), "");
}

}  // namespace
}  // namespace fairlead::oracle
