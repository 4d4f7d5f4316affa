#include "rm/life_cycles.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fairlead::rm {
namespace {

using model::rm::AppState;
using model::rm::AttemptState;
using model::rm::ContainerState;
using model::rm::NodeState;

/// One table of Markdown: a row for each state, with its events and where they lead.
template <class Life>
std::string Draw(const std::string& title, const Life& life) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> rows;
  for (const auto& line : life.lines()) {
    const std::string from(EnumName(line.from));
    if (!rows.contains(from)) order.push_back(from);
    rows[from].push_back(std::string(EnumName(line.event)) + " → **" + std::string(EnumName(line.to)) + "**");
  }
  std::string text = "\n## " + title + "\n\n| in | on → to |\n| --- | --- |\n";
  for (const std::string& from : order) {
    text += "| " + from + " | ";
    for (size_t i = 0; i < rows[from].size(); ++i) text += (i == 0 ? "" : ", ") + rows[from][i];
    text += " |\n";
  }
  return text;
}

std::string Page() {
  return "# Life cycles of the resource manager\n\n"
         "Drawn by `src/rm/life_cycles_test.cc` from the tables in `src/rm/life_cycles.cc`; write it anew with\n"
         "`FAIRLEAD_WRITE_DOCS=1 build/src/rm/rm_test --gtest_filter='LifeCycles.*'`. Names are Hadoop's "
         "(`RMAppImpl`,\n"
         "`RMAppAttemptImpl`, `RMContainerImpl`, `RMNodeImpl`). Where an event leads to several states the core "
         "chooses. What is\n"
         "not here is refused: the state stays, and the log says which event came.\n" +
         Draw("Applications", AppLife()) + Draw("Attempts", AttemptLife()) + Draw("Containers", ContainerLife()) +
         Draw("Nodes", NodeLife());
}

TEST(LifeCycles, ThePageIsDrawnFromTheTables) {
  const std::string file = std::string(FAIRLEAD_SOURCE_DIR) + "/docs/life-cycles.md";
  if (std::getenv("FAIRLEAD_WRITE_DOCS") != nullptr) std::ofstream(file) << Page();
  std::stringstream there;
  there << std::ifstream(file).rdbuf();
  EXPECT_EQ(there.str(), Page()) << "write it anew: FAIRLEAD_WRITE_DOCS=1 build/src/rm/rm_test";
}

/// Every state has a name, every one but the first is reached, no line stands twice, and nothing leaves a state that is
/// over.
template <class State, class Life, class IsLast>
void CheckTable(const Life& life, State first, IsLast is_last) {
  std::set<std::string> seen;
  std::set<State> reached = {first};
  for (const auto& line : life.lines()) {
    EXPECT_FALSE(is_last(line.from)) << EnumName(line.from) << " is left on " << EnumName(line.event);
    EXPECT_TRUE(seen.insert(std::string(EnumName(line.from)) + std::string(EnumName(line.event)) +
                            std::string(EnumName(line.to)))
                    .second);
    EXPECT_TRUE(life.Leads(line.from, line.event, line.to));
    EXPECT_TRUE(life.Knows(line.from, line.event));
    reached.insert(line.to);
  }
  EXPECT_LT(static_cast<size_t>(*reached.rbegin()), Life::kStateCount) << "count it in src/rm/life_cycles.h";
  for (size_t i = 0; i < Life::kStateCount; ++i) {
    const auto state = static_cast<State>(i);
    EXPECT_NE(EnumName(state), "?") << "name state " << i << " in src/model/rm.cc";
    EXPECT_TRUE(reached.contains(state)) << "no line of src/rm/life_cycles.cc leads to " << EnumName(state);
  }
}

TEST(LifeCycles, EveryStateIsReachedAndWhatIsOverStays) {
  CheckTable(AppLife(), AppState::kNew, [](AppState state) { return IsOver(state); });
  CheckTable(AttemptLife(), AttemptState::kNew, [](AttemptState state) { return IsOver(state); });
  CheckTable(ContainerLife(), ContainerState::kAllocated,
             [](ContainerState state) { return state == ContainerState::kKilled; });
  CheckTable(NodeLife(), NodeState::kNew, [](NodeState state) {
    return state == NodeState::kLost || state == NodeState::kDecommissioned || state == NodeState::kRebooted ||
           state == NodeState::kShutdown;
  });
}

TEST(LifeCycles, WhatIsNotInTheTableDoesNotHappen) {
  EXPECT_FALSE(AppLife().Knows(AppState::kFinished, AppEvent::kKill));
  EXPECT_FALSE(AppLife().Leads(AppState::kNew, AppEvent::kStart, AppState::kRunning));
  EXPECT_FALSE(AttemptLife().Knows(AttemptState::kScheduled, AttemptEvent::kRegistered));
  EXPECT_FALSE(ContainerLife().Knows(ContainerState::kRunning, ContainerEvent::kExpire));
  EXPECT_FALSE(NodeLife().Knows(NodeState::kLost, NodeEvent::kStatusUpdate));
}

}  // namespace
}  // namespace fairlead::rm
