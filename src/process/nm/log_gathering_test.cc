#include "process/nm/log_gathering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/stored.h"
#include "env_sim/world.h"

namespace fairlead::process::nm {
namespace {

using model::nm::Effect;
using model::nm::Event;
using testing::ElementsAre;
using testing::IsEmpty;
using Told = wire::yarn::LogAggregationStatusProto;

/// What is committed is there at once; the answers come in a later turn.
class RowsOfLogs final : public env::Store {
 public:
  explicit RowsOfLogs(env::Loop& loop) : loop_(loop) {}
  void Commit(std::vector<env::Row> rows, std::function<void(env::CommitStatus)> done) override {
    for (env::Row& row : rows) {
      std::erase_if(rows_, [&](const env::Row& old) { return old.table == row.table && old.key == row.key; });
      if (row.value) rows_.push_back(row);
    }
    loop_.Post([done = std::move(done)] { done({}); });
  }
  base::Result<std::vector<env::Row>> Load(const std::string& table) override {
    std::vector<env::Row> out;
    for (const env::Row& row : rows_) {
      if (row.table == table) out.push_back(row);
    }
    return out;
  }
  std::string Name() const override { return "rows"; }
  size_t size() const { return rows_.size(); }

 private:
  env::Loop& loop_;
  std::vector<env::Row> rows_;
};

class LogDirs final : public NodeDirs {
 public:
  std::vector<std::string> all_local() const override { return {}; }
  std::vector<std::string> good_local() const override { return {}; }
  std::vector<std::string> all_logs() const override { return {"/logs"}; }
  std::vector<std::string> good_logs() const override { return {"/logs"}; }
  std::string PickLocal() override { return ""; }
  void Remove(std::vector<std::string>, std::function<void(std::vector<std::string>)>) override {}
};

/// Keeps what it is asked until the test says how it went.
class WaitingAggregator final : public LogAggregator {
 public:
  void Aggregate(AggregationPlan plan, std::function<void(const base::Result<std::string>&)> done) override {
    plans.push_back(std::move(plan));
    done_.push_back(std::move(done));
  }
  void End(const base::Result<std::string>& note = std::string()) {
    const auto done = std::exchange(done_, {});
    for (const auto& one : done) one(note);
  }
  std::vector<AggregationPlan> plans;

 private:
  std::vector<std::function<void(const base::Result<std::string>&)>> done_;
};

class WarningLog final : public env::Log {
 public:
  void Write(env::LogLevel level, std::string_view, const Fields& fields) override {
    if (level != env::LogLevel::kWarn) return;
    auto& warning = warnings.emplace_back();
    for (const auto& [name, value] : fields) warning[std::string(name)] = value;
  }
  std::vector<std::map<std::string, std::string>> warnings;
};

/// Node agents, one after the other, over the same rows.
class LogGatheringTest : public testing::Test {
 protected:
  static constexpr base::Duration kHour = base::Duration::Seconds(3600);

  LogGatheringTest() { Begin({}); }

  void Begin(const model::nm::Started& started) {
    gathering_.reset();
    state_.emplace(loop_, store_, log_, [](const std::string&) {});
    fairlead::nm::Config config;
    config.node_address = "h:1";
    config.capacity = model::Resources::Of(8192, 8);
    core_.emplace(config);
    tokens_.emplace(*state_, log_);
    gathering_.emplace(LogGathering::Ports{loop_, log_, dirs_, aggregator_, *state_, *core_, *tokens_}, settings_);
    gathering_->SetNode("h:1");
    std::vector<env::UnreadRow> unread;
    ASSERT_TRUE(gathering_->Start(store_, started, unread));
    Step({started});
    Step({model::nm::Registered{model::nm::NodeAction::kNormal, 77, {}, false, {}}});
  }

  void Step(std::vector<Event> events) {
    std::vector<Effect> effects;
    core_->Step(loop_.Now(), loop_.Wall(), events, effects);
    std::vector<Event> more;
    for (const Effect& effect : effects) {
      if (const auto* ended = std::get_if<model::nm::ContainerEnded>(&effect)) gathering_->Ended(*ended);
      if (const auto* rows = std::get_if<model::nm::Persist>(&effect); rows && rows->txn != 0)
        more.push_back(model::nm::Persisted{rows->txn, true, {}});
      if (std::holds_alternative<model::nm::Heartbeat>(effect)) more.push_back(model::nm::HeartbeatAnswered{});
    }
    if (!more.empty()) Step(std::move(more));
  }

  static model::ContainerId Id(int64_t number) { return {{{1000, 1}, 1}, number}; }
  model::nm::ContainerSpec Spec(int64_t number) const {
    model::nm::ContainerSpec spec;
    spec.id = Id(number);
    spec.user = "ann";
    spec.is_master = number == 1;
    spec.resources = model::Resources::Of(1024, 1);
    spec.token_expires = {loop_.Wall().ms + 600'000};
    spec.rm_identifier = 77;
    spec.log_context = context_.Encode();
    return spec;
  }
  void Run(int64_t number) {
    Step({model::nm::StartContainers{1, Id(number).attempt, {Spec(number)}}});
    Step({model::nm::ContainerRunning{Id(number), 42}});
  }
  void Exit(int64_t number, int32_t status) { Step({model::nm::ContainerExited{Id(number), status, {}, "", 0}}); }
  void FinishApp() {
    gathering_->Finish({{1000, 1}, "ann", "", "", context_.Encode(), {}},
                       [this](const std::string& error) { finished_.push_back(error); });
  }
  void Pass(base::Duration time) {
    world_.RunUntil(world_.now() + time, [] { return false; });
  }
  std::vector<Told> Reports() const {
    std::vector<Told> out;
    for (const auto& report : gathering_->reports()) out.push_back(*report.log_aggregation_status);
    return out;
  }

  env_sim::World world_{1};
  env::Loop& loop_ = world_.AddMachine("n").loop();
  WarningLog log_;
  RowsOfLogs store_{loop_};
  LogDirs dirs_;
  WaitingAggregator aggregator_;
  LogSettings settings_;
  wire::yarn::LogAggregationContextProto context_;
  std::optional<StateWriter> state_;
  std::optional<AppTokens> tokens_;
  std::optional<fairlead::nm::Nm> core_;
  std::optional<LogGathering> gathering_;
  std::vector<std::string> finished_;
};

TEST_F(LogGatheringTest, AllLogsGoAtTheEndWhereNobodySaysOtherwise) {
  Run(1);
  Exit(1, 1);
  FinishApp();
  ASSERT_EQ(aggregator_.plans.size(), 1U);
  const AggregationPlan& plan = aggregator_.plans.front();
  EXPECT_EQ(plan.node_id, "h:1");
  EXPECT_TRUE(plan.is_over && !plan.rolls);
  EXPECT_THAT(plan.left_out, IsEmpty());
  EXPECT_EQ(store_.size(), 0U);
  aggregator_.End();
  EXPECT_THAT(finished_, ElementsAre(""));
  EXPECT_THAT(Reports(), ElementsAre(Told::kSucceeded));
  gathering_->Told(1);
  EXPECT_THAT(Reports(), IsEmpty());
}

TEST_F(LogGatheringTest, AManagerThatBeginsAnewHearsHowItWent) {
  settings_.roll_every = kHour;  // time passes
  Begin({});
  FinishApp();
  aggregator_.End();
  gathering_->Told(1);
  ASSERT_EQ(gathering_->Remembered().size(), 1U);
  EXPECT_EQ(gathering_->Remembered()[0].log_aggregation_status, Told::kSucceeded);
  Pass(kHour + base::Duration::Seconds(1));
  EXPECT_THAT(gathering_->Remembered(), IsEmpty());
}

TEST_F(LogGatheringTest, ARuleThatCannotBeObeyedIsNamed) {
  settings_.roll_every = kHour;
  context_.rolled_logs_include_pattern = "\\.[0-9]$";
  context_.exclude_pattern = "(?!x)";
  Begin({});
  Run(1);
  Pass(kHour + base::Duration::Seconds(1));
  const std::string note = "the pattern (?!x) decides nothing";
  aggregator_.End(note);
  FinishApp();
  aggregator_.End(note);
  EXPECT_THAT(finished_, ElementsAre("")) << "the logs have left";
  EXPECT_THAT(Reports(), ElementsAre(Told::kRunning, Told::kRunning, Told::kSucceeded));
  for (const size_t report : {0, 1}) EXPECT_EQ(gathering_->reports()[report].diagnostics, note);
  EXPECT_EQ(log_.warnings.size(), 1U) << "at the end, once";
  EXPECT_EQ(log_.warnings.front().at("why"), note);
}

TEST_F(LogGatheringTest, WhatThePolicyLeavesOutIsKnownAfterARestart) {
  context_.log_aggregation_policy_class_name =
      "org.apache.hadoop.yarn.server.nodemanager.containermanager.logaggregation."
      "AMOrFailedContainerLogAggregationPolicy";
  for (const int64_t container : {1, 2, 3}) Run(container);
  Exit(2, 0);
  Exit(3, 1);
  // The last run stored the end of the fourth, and died before it stored anything else.
  model::nm::Started started;
  started.apps.emplace_back().id = {1000, 1};
  started.apps.front().log_context = context_.Encode();
  model::nm::ContainerRecord& fourth = started.containers.emplace_back();
  fourth.spec = Spec(4);
  fourth.done = true;
  fourth.exit_status = 0;
  Begin(started);
  FinishApp();
  EXPECT_THAT(aggregator_.plans.back().left_out, ElementsAre(Id(2), Id(4)));
  aggregator_.End();
  EXPECT_EQ(store_.size(), 0U) << "nothing stays of an application that is over";
}

TEST_F(LogGatheringTest, AnApplicationsPolicyThatIsNotKnownGivesWayToTheNodes) {
  settings_.policy_class =
      "org.apache.hadoop.yarn.server.nodemanager.containermanager.logaggregation.NoneContainerLogAggregationPolicy";
  context_.log_aggregation_policy_class_name = "com.example.Mine";
  Begin({});
  Run(1);
  Exit(1, 1);
  FinishApp();
  EXPECT_THAT(aggregator_.plans.back().left_out, ElementsAre(Id(1)));
}

TEST_F(LogGatheringTest, RollsWhatItsApplicationNamesWhileItRuns) {
  settings_.roll_every = kHour;
  Begin({});
  Run(1);
  Run(2);
  Pass(kHour + base::Duration::Seconds(1));
  EXPECT_THAT(aggregator_.plans, IsEmpty()) << "it names no rolled logs";
}

TEST_F(LogGatheringTest, ARollIsRepeatedAndTheEndWaitsForIt) {
  settings_.roll_every = kHour;
  context_.rolled_logs_include_pattern = "\\.[0-9]$";
  Begin({});
  Run(1);
  Run(2);
  Exit(2, 0);
  Pass(kHour + base::Duration::Seconds(1));
  ASSERT_EQ(aggregator_.plans.size(), 1U);
  EXPECT_FALSE(aggregator_.plans[0].is_over);
  EXPECT_TRUE(aggregator_.plans[0].rolls);
  EXPECT_THAT(aggregator_.plans[0].live, ElementsAre(Id(1)));
  Pass(kHour);
  EXPECT_EQ(aggregator_.plans.size(), 1U) << "the last one is still under way";
  aggregator_.End(base::Error{"the cluster's place is full"});
  Pass(kHour);
  ASSERT_EQ(aggregator_.plans.size(), 2U);
  FinishApp();
  EXPECT_EQ(aggregator_.plans.size(), 2U);
  aggregator_.End();
  ASSERT_EQ(aggregator_.plans.size(), 3U);
  EXPECT_TRUE(aggregator_.plans[2].is_over && aggregator_.plans[2].rolls);
  EXPECT_GT(aggregator_.plans[2].now.ms, aggregator_.plans[0].now.ms);
  aggregator_.End(base::Error{"it is still full"});
  EXPECT_THAT(finished_, ElementsAre("it is still full"));
  EXPECT_THAT(Reports(),
              ElementsAre(Told::kRunningWithFailure, Told::kRunning, Told::kRunningWithFailure, Told::kFailed));
  EXPECT_EQ(gathering_->reports()[2].diagnostics, "it is still full") << "a manager shows the text of a failure";
}

TEST_F(LogGatheringTest, ARunningContainerCountsAsOneThatEndsWell) {
  settings_.roll_every = kHour;
  context_.rolled_logs_include_pattern = "x";
  context_.log_aggregation_policy_class_name =
      "org.apache.hadoop.yarn.server.nodemanager.containermanager.logaggregation.AMOnlyLogAggregationPolicy";
  Begin({});
  Run(1);
  Run(2);
  Pass(kHour + base::Duration::Seconds(1));
  ASSERT_EQ(aggregator_.plans.size(), 1U);
  EXPECT_THAT(aggregator_.plans[0].left_out, ElementsAre(Id(2)));
}

TEST_F(LogGatheringTest, TokensOfLogsThatHaveNotLeftAreToBeKeptUp) {
  const model::ApplicationId app{1000, 1};
  Run(1);
  Exit(1, 0);
  FinishApp();
  EXPECT_THAT(gathering_->KeepAlive(), IsEmpty()) << "without Kerberos there are none";
  aggregator_.End();
  settings_.tokens_kept = base::Duration::Seconds(600);
  Begin({});
  FinishApp();
  EXPECT_THAT(gathering_->KeepAlive(), ElementsAre(app)) << "the end may be long ago: the agent may have restarted";
  EXPECT_THAT(gathering_->KeepAlive(), IsEmpty());
  const auto pass = [&](int64_t seconds) {
    loop_.After(base::Duration::Seconds(seconds), [] {});
    world_.RunUntil(world_.now() + base::Duration::Seconds(seconds), [] { return false; });
  };
  pass(400);
  EXPECT_THAT(gathering_->KeepAlive(), IsEmpty());
  pass(30);
  EXPECT_THAT(gathering_->KeepAlive(), ElementsAre(app));
  pass(430);
  aggregator_.End();
  EXPECT_THAT(gathering_->KeepAlive(), IsEmpty()) << "they have left";
}

}  // namespace
}  // namespace fairlead::process::nm
