#include <gtest/gtest.h>

#include <filesystem>

#include "oracle/oracle.h"
#include "oracle/tdw_replay.h"

namespace fairlead::oracle {
namespace {

using nlohmann::json;

struct Recording {
  json scenario;
  std::vector<json> trace;
};

Recording Load(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(FAIRLEAD_SOURCE_DIR) / "tests/oracles/tdw";
  return {*ReadJson(folder / "scenarios" / (name + ".json")),
          *ReadJsonLines(folder / "expected" / (name + ".trace.gz"))};
}

std::string ReplayOf(const Recording& recording) { return ReplayTdw(recording.scenario, recording.trace); }

/// The first grant of the trace, or the first victim.
json& First(Recording& recording, const char* what) {
  for (json& step : recording.trace) {
    for (json& type : step["types"]) {
      json& list = std::string_view(what) == "grants" ? type["grants"] : type["preempt"]["victims"];
      if (!list.empty()) return list[0];
    }
  }
  throw std::runtime_error("the trace has none");
}

TEST(TdwReplayTest, AgreesWithWhatTheModelDecided) { EXPECT_EQ(ReplayOf(Load("preempt-newest-first")), ""); }

TEST(TdwReplayTest, NoticesAnotherNodeContainerOrType) {
  for (const char* field : {"node", "c", "type"}) {
    Recording recording = Load("load-of-the-type");
    First(recording, "grants")[field] = "another";
    EXPECT_NE(ReplayOf(recording).find("grants"), std::string::npos) << field;
  }
}

TEST(TdwReplayTest, NoticesAnotherVictim) {
  Recording recording = Load("preempt-newest-first");
  First(recording, "victims")["c"] = "9:9";
  EXPECT_NE(ReplayOf(recording).find("preempted"), std::string::npos);
}

TEST(TdwReplayTest, NoticesOtherCountsOfAPool) {
  Recording recording = Load("one-session");
  for (json& step : recording.trace) {
    if (!step.contains("pools")) continue;
    for (json& pool : step["pools"]) pool.begin().value()[1] = 77;
  }
  EXPECT_NE(ReplayOf(recording).find("pools"), std::string::npos);
}

TEST(TdwReplayTest, AShorterTraceIsNoAgreement) {
  Recording recording = Load("one-session");
  recording.trace.pop_back();
  EXPECT_NE(ReplayOf(recording), "");
}

}  // namespace
}  // namespace fairlead::oracle
