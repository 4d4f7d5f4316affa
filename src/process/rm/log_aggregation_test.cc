#include "process/rm/log_aggregation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/text_bounds.h"
#include "scheduler/fairlead/fairlead.h"

namespace fairlead::process::rm {
namespace {

namespace m = model::rm;
using testing::ElementsAre;
using testing::IsEmpty;
using Status = NodeLogs::Status;

/// An application whose containers were on the nodes a and b.
class LogAggregationTest : public ::testing::Test {
 protected:
  LogAggregationTest() : machine_(Config(), scheduler::MakeFairlead({})) {}

  static fairlead::rm::Config Config() {
    fairlead::rm::Config config;
    config.log_aggregation = true;
    return config;
  }
  /// With a store that takes everything.
  void Do(m::OuterEvent event) {
    std::vector<m::OuterEvent> events = {std::move(event)};
    while (!events.empty()) {
      std::vector<m::OuterEffect> effects;
      machine_.Step({}, wall_, events, effects);
      events.clear();
      for (const m::OuterEffect& effect : effects) {
        if (const auto* persist = std::get_if<m::Persist>(&effect))
          events.emplace_back(m::Persisted{persist->txn, true, ""});
      }
    }
  }
  void Register(const std::string& host, std::vector<model::ApplicationId> running) {
    m::RegisterNode node;
    node.address = {host, 1};
    node.capacity = model::Resources::Of(4096, 4);
    node.running_apps = std::move(running);
    Do(node);
  }
  /// On both nodes, or on none that anybody knows of.
  void Run(bool on_nodes = true) {
    Do(m::Started{1000, 0, {}, {}});
    m::Submit submit;
    submit.submission.id = kApp;
    submit.submission.user = "ann";
    submit.submission.queue = "a";
    submit.submission.unmanaged = true;
    Do(submit);
    for (const char* host : {"a", "b"}) {
      Register(host, on_nodes ? std::vector{kApp} : std::vector<model::ApplicationId>{});
    }
  }
  void End() { Do(m::KillApp{1, kApp, "no more"}); }
  void Say(const std::string& host, Status status, const std::string& text = "") {
    wire::yarn::LogAggregationReportProto report;
    report.application_id = endpoints::yarn::ToWire(kApp);
    report.log_aggregation_status = status;
    report.diagnostics = text;
    logs_.Record({host, 1}, {report}, wall_);
  }
  const App& Application() const { return *machine_.core().FindApp(kApp); }
  Status Now() const { return logs_.Of(Application()).At(Application(), wall_); }
  NodeLogs At(const std::string& host) const { return logs_.NodesOf(Application(), wall_).at({host, 1}); }
  void Pass(base::Duration time) { wall_.ms += time.millis(); }

  static constexpr model::ApplicationId kApp{1000, 1};
  base::WallTime wall_{5000};
  ResourceMachine machine_;
  LogAggregation logs_{machine_, {.time_out = base::Duration::Seconds(600), .messages = 2}};
};

TEST_F(LogAggregationTest, EachNodesPartIsShownAndTheLastTextsAreKept) {
  Run();
  EXPECT_EQ(Now(), Status::kNotStart);
  for (const char* text : {"one", "two", "three"}) Say("a", Status::kRunning, text);
  EXPECT_THAT(At("a").messages, ElementsAre("two", "three"));
  EXPECT_EQ(At("b").status, Status::kNotStart);
  EXPECT_EQ(Now(), Status::kRunning);
  Say("a", Status::kRunningWithFailure, std::string(5000, 'x') + "full");
  ASSERT_EQ(At("a").failures.size(), 1u);
  EXPECT_EQ(At("a").failures[0].size(), endpoints::yarn::kLogMessageMax);
  EXPECT_TRUE(At("a").failures[0].ends_with("full"));
}

TEST_F(LogAggregationTest, AFailureIsNotForgottenBeforeTheEnd) {
  Run();
  Say("a", Status::kRunningWithFailure, "full");
  Say("a", Status::kRunning, "again");
  EXPECT_EQ(Now(), Status::kRunningWithFailure);
  Say("a", Status::kFailed);
  Say("b", Status::kSucceeded);
  EXPECT_EQ(Now(), Status::kRunning) << "the application runs, more may come";
  End();
  EXPECT_EQ(Now(), Status::kFailed);
}

TEST_F(LogAggregationTest, OnceAllNodesAreThroughWhatFailedAloneIsKept) {
  Run();
  End();
  Say("a", Status::kRunningWithFailure, "full");
  Say("a", Status::kRunning, "some");
  Say("a", Status::kFailed);
  Say("b", Status::kRunning, "well");
  Say("b", Status::kSucceeded);
  EXPECT_EQ(Now(), Status::kFailed);
  EXPECT_EQ(logs_.NodesOf(Application(), wall_).size(), 1u);
  EXPECT_THAT(At("a").failures, ElementsAre("full"));
  EXPECT_THAT(At("a").messages, IsEmpty());
  Say("a", Status::kSucceeded);
  EXPECT_EQ(Now(), Status::kFailed) << "that is final";
}

TEST_F(LogAggregationTest, ANodeThatStaysSilentIsGivenUp) {
  Run();
  End();
  Say("a", Status::kSucceeded);
  Pass(base::Duration::Seconds(600));
  EXPECT_EQ(Now(), Status::kRunning);
  Pass(base::Duration::Millis(1));
  EXPECT_EQ(Now(), Status::kTimeOut);
  EXPECT_EQ(At("b").status, Status::kTimeOut);
  EXPECT_EQ(At("a").status, Status::kSucceeded);
  Say("b", Status::kSucceeded);
  EXPECT_EQ(Now(), Status::kTimeOut) << "that is final";
}

TEST_F(LogAggregationTest, WhereNobodyKnowsThatItRanTheStatusAloneIsKept) {
  Run(false);
  End();
  Say("a", Status::kRunningWithFailure, "mine");
  EXPECT_EQ(At("a").status, Status::kRunningWithFailure);
  EXPECT_THAT(At("a").failures, IsEmpty());
}

TEST_F(LogAggregationTest, StrangersSayNothing) {
  Run();
  Register("c", {});
  Say("c", Status::kSucceeded, "mine");
  Say("nowhere", Status::kSucceeded, "mine");
  EXPECT_EQ(logs_.NodesOf(Application(), wall_).size(), 2u);
  EXPECT_EQ(Now(), Status::kNotStart);
}

TEST_F(LogAggregationTest, OfOneThatEndedInAnEarlierRunEveryNodeMayTell) {
  m::Started started{1000, 0, {}, {}};
  m::AppRecord& app = started.apps.emplace_back();
  app.submission.id = kApp;
  app.submission.queue = "a";
  app.final_state = m::AppState::kFinished;
  app.finished = wall_;
  Do(std::move(started));
  Register("a", {});
  EXPECT_EQ(Now(), Status::kNotStart);
  Say("a", Status::kSucceeded);
  EXPECT_EQ(Now(), Status::kSucceeded);
}

}  // namespace
}  // namespace fairlead::process::rm
