#include "process/rm/app_passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace fairlead::process::rm {
namespace {

using scheduler::Activity;
using scheduler::ActivityLevel;
using scheduler::ActivityState;
using scheduler::NodePass;
using testing::HasSubstr;
using testing::Not;

constexpr char kApp[] = "application_1_0001";

/// Passes as a scheduler writes them down (Recording).
class AppPassesTest : public testing::Test {
 protected:
  NodePass& Pass(uint32_t node, int64_t second) {
    NodePass& pass = passes_.emplace_back();
    pass.node = {node};
    pass.when = base::Instant{second * 1'000'000'000};
    pass.attempts.emplace_back();
    return pass;
  }
  static void Node(NodePass& pass, ActivityState state, const std::string& why, int32_t priority = 1,
                   const std::string& container = "", const std::string& app = kApp) {
    const std::string request = "request_" + std::to_string(priority) + "_-1";
    pass.attempts.back().activities.push_back({ActivityLevel::kNode, request, container, state, why});
    Request(pass, state, "", priority, app);
  }
  static void Request(NodePass& pass, ActivityState state, const std::string& why, int32_t priority = 1,
                      const std::string& app = kApp) {
    const std::string request = "request_" + std::to_string(priority) + "_-1";
    pass.attempts.back().activities.push_back({ActivityLevel::kRequest, app, request, state, why, priority, -1});
    Whole(pass, state, "", app);
  }
  static void Whole(NodePass& pass, ActivityState state, const std::string& why, const std::string& app = kApp) {
    pass.attempts.back().activities.push_back({ActivityLevel::kApp, "root.a", app, state, why, 3});
  }
  std::string Told(const AppPassesAsked& asked = {}) const {
    const AppOfPasses app = {kApp, "root.a", 3,
                             [](model::NodeIndex node) { return "n" + std::to_string(node.value) + ":1"; },
                             [](base::Instant when) { return base::WallTime{when.millis()}; }};
    std::vector<const NodePass*> passes;
    for (const NodePass& pass : passes_) passes.push_back(&pass);
    return endpoints::rest::Document(AppAllocations(passes, app, asked)).ToJson("");
  }

  std::deque<NodePass> passes_;
};

TEST_F(AppPassesTest, EachPassThatLookedAtTheApplicationIsAnAllocationOfItsNodeTheLatestFirst) {
  NodePass& first = Pass(0, 10);
  Node(first, ActivityState::kSkipped, "Node does not have sufficient resource for request");
  Node(first, ActivityState::kAllocated, "", 1, "container_1_0002_01_000002", "application_1_0002");
  Pass(7, 11);
  Node(passes_.back(), ActivityState::kSkipped, "Node is blacklisted", 1, "", "application_1_0002");
  NodePass& last = Pass(1, 12);
  Node(last, ActivityState::kAllocated, "", 1, "container_1_0001_01_000002");
  const std::string told = Told();
  EXPECT_THAT(told, HasSubstr(R"([{"nodeId":"n1:1","timestamp":12000,"dateTime":)"));
  EXPECT_THAT(
      told,
      HasSubstr(R"("queueName":"root.a","appPriority":3,"allocationState":"ALLOCATED","diagnostic":"","children":)"
                R"([{"requestPriority":1,"allocationRequestId":-1,"allocationState":"ALLOCATED","children":)"
                R"([{"name":"container_1_0001_01_000002","allocationState":"ALLOCATED","diagnostic":"",)"
                R"("nodeId":"n1:1"}]}]},{"nodeId":"n0:1","timestamp":10000,)"));
  EXPECT_THAT(told, HasSubstr(R"("allocationState":"SKIPPED","children":[{"name":"Container-Id-Not-Assigned",)"
                              R"("allocationState":"SKIPPED","diagnostic":)"
                              R"("Node does not have sufficient resource for request","nodeId":"n0:1"}]}]}])"));
  EXPECT_THAT(told, Not(HasSubstr("n7")));
}

TEST_F(AppPassesTest, WhatIsSaidOfARequestOrOfTheApplicationHasNoNodeBelowIt) {
  Request(Pass(0, 10), ActivityState::kRejected, "Queue does not have enough headroom");
  Whole(Pass(1, 11), ActivityState::kRejected, "Queue hits max-capacity limit");
  Whole(Pass(2, 12), ActivityState::kSkipped, "Application does not need more resource");
  const std::string told = Told();
  EXPECT_THAT(told, HasSubstr(R"("allocationState":"SKIPPED","diagnostic":"","children":[{"requestPriority":1,)"
                              R"("allocationRequestId":-1,"allocationState":"REJECTED","diagnostic":)"
                              R"("Queue does not have enough headroom","children":[]}]}])"));
  EXPECT_THAT(told, HasSubstr(R"("allocationState":"REJECTED","diagnostic":"Queue hits max-capacity limit",)"
                              R"("children":[]})"));
  EXPECT_THAT(told, HasSubstr(R"("allocationState":"SKIPPED","diagnostic":"","children":[{"allocationState":"SKIPPED",)"
                              R"("children":[]}]})"));
}

TEST_F(AppPassesTest, AReservationThatIsHeldOnIsNothingNew) {
  Node(Pass(0, 10), ActivityState::kReserved, "full", 1, "");
  Node(Pass(0, 11), ActivityState::kReReserved, "full", 1, "");
  const std::string told = Told();
  EXPECT_LT(told.find(R"("appPriority":3,"allocationState":"SKIPPED")"),
            told.find(R"("appPriority":3,"allocationState":"RESERVED")"));
}

TEST_F(AppPassesTest, RequestsThatWereNotAskedForAreLeftOut) {
  NodePass& both = Pass(0, 10);
  Node(both, ActivityState::kSkipped, "one", 1);
  Node(both, ActivityState::kSkipped, "two", 2);
  Node(Pass(1, 11), ActivityState::kSkipped, "one", 1);
  AppPassesAsked asked;
  asked.priorities = {2};
  EXPECT_THAT(Told(asked), Not(HasSubstr("one")));
  EXPECT_THAT(Told(asked), HasSubstr("two"));
  EXPECT_THAT(Told(asked), Not(HasSubstr("n1:1")));
  asked.request_ids = {4};
  EXPECT_EQ(Told(asked), "[]");
}

TEST_F(AppPassesTest, ASummaryHasTheLastWordOfEachNodeInTheTimeBeforeTheLastPass) {
  Node(Pass(0, 10), ActivityState::kSkipped, "long ago");
  Node(Pass(2, 17), ActivityState::kSkipped, "full");
  Node(Pass(1, 18), ActivityState::kSkipped, "before");
  Node(Pass(1, 19), ActivityState::kSkipped, "full");
  AppPassesAsked asked;
  asked.summarize = asked.grouped = true;
  EXPECT_THAT(Told(asked), HasSubstr(R"([{"timestamp":19000,)"));
  EXPECT_THAT(Told(asked), HasSubstr(R"("children":[{"requestPriority":1,"allocationRequestId":-1,)"
                                     R"("allocationState":"SKIPPED","children":[{"allocationState":"SKIPPED",)"
                                     R"("diagnostic":"full","count":2,"nodeIds":["n1:1","n2:1"]}]}]}])"));
  asked.time = base::Duration::Seconds(9);
  EXPECT_THAT(Told(asked), HasSubstr("long ago"));
  EXPECT_THAT(Told(asked), Not(HasSubstr("before")));
}

}  // namespace
}  // namespace fairlead::process::rm
