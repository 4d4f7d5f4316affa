#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "oracle/fair_scheduler_replay.h"

namespace fairlead::oracle {
namespace {

namespace fs = std::filesystem;

const fs::path kRecordings = fs::path(FAIRLEAD_SOURCE_DIR) / "tests/oracles/fair-scheduler";

struct Recording {
  nlohmann::json scenario;
  std::vector<nlohmann::json> trace;
};

Recording Load(const std::string& scenario, const std::string& trace) {
  return {*ReadJson(kRecordings / scenario), *ReadJsonLines(kRecordings / trace)};
}

Recording Small() { return Load("scenarios/handmade/fair-two-queues.json", "expected/fair-two-queues.trace.gz"); }

std::string ReplayAs(const Recording& r, const std::string& version = "3.4.3") {
  return ReplayFairScheduler(r.scenario, r.trace, version, "", true);
}

/// Every leaf value of `value`, changed one at a time, must be noticed.
void ExpectEachChangeNoticed(Recording& recording, nlohmann::json& value) {
  if (value.is_structured()) {
    for (nlohmann::json& part : value) ExpectEachChangeNoticed(recording, part);
    return;
  }
  const nlohmann::json before = value;
  value = value.is_number() ? nlohmann::json(value.get<int64_t>() + 1) : nlohmann::json("changed");
  EXPECT_NE(ReplayAs(recording), "") << before << " became " << value;
  value = before;
}

TEST(FairSchedulerOracle, AnyChangedAnswerFails) {
  Recording recording = Small();
  ASSERT_EQ(ReplayAs(recording), "");
  for (nlohmann::json& step : recording.trace) ExpectEachChangeNoticed(recording, step);
}

TEST(FairSchedulerOracle, AMissingOrAdditionalGrantFails) {
  Recording recording = Small();
  for (nlohmann::json& step : recording.trace) {
    if (!step.contains("grants")) continue;
    const nlohmann::json before = step["grants"];
    step["grants"].push_back(before[0]);
    EXPECT_NE(ReplayAs(recording), "");
    step.erase("grants");
    EXPECT_NE(ReplayAs(recording), "");
    step["grants"] = before;
  }
  EXPECT_EQ(ReplayAs(recording), "");
}

TEST(FairSchedulerOracle, UnknownStepsAndMissingStepsFail) {
  Recording recording = Small();
  recording.scenario["steps"].push_back({{"op", "dance"}});
  EXPECT_NE(ReplayAs(recording), "");
  recording.trace.push_back({{"i", recording.trace.size()}, {"op", "dance"}, {"t", 0}});
  EXPECT_NE(ReplayAs(recording).find("unknown step"), std::string::npos);
}

TEST(FairSchedulerOracle, TheVersionsDecideDifferently) {
  const Recording old = Load("scenarios/handmade/drf-min-share.json", "expected-3.3.5/drf-min-share.trace.gz");
  EXPECT_EQ(ReplayFairScheduler(old.scenario, old.trace, "3.3.5", "3.3.5", true), "");
  EXPECT_NE(ReplayAs(old, "3.4.3"), "");
}

TEST(FairSchedulerOracle, EmptyFoldersAndUnreadFilesFail) {
  const fs::path folder = fs::path(testing::TempDir()) / "fair-oracle-test";
  fs::remove_all(folder);
  fs::create_directories(folder / "scenarios");
  const auto run = [&] {
    return RunAll(folder, "3.4.3", {""}, [](const auto&, const auto&, const auto&, const auto&) { return ""; });
  };
  EXPECT_NE(run(), 0);
  std::ofstream(folder / "scenarios/a.json") << "{}";
  EXPECT_NE(run(), 0);  // no trace
  std::ofstream(folder / "a.trace") << "{}\n";
  EXPECT_EQ(run(), 0);
  std::ofstream(folder / "b.trace") << "{}\n";
  EXPECT_NE(run(), 0);  // a trace of nothing
  fs::remove(folder / "b.trace");
  std::ofstream(folder / "a.trace") << "{broken\n";
  EXPECT_NE(run(), 0);
  fs::remove_all(folder);
  EXPECT_NE(run(), 0);
}

}  // namespace
}  // namespace fairlead::oracle
