#include "tasks/task_scheduler.h"

#include <gtest/gtest.h>

#include "tasks/running_median.h"

namespace fairlead::tasks {
namespace {

using base::Duration;
using base::Instant;
using model::tasks::Level;
using model::tasks::TaskLocation;

TaskLocation InExecutor(const std::string& host, const std::string& executor) {
  return {TaskLocation::Kind::kExecutor, host, executor};
}
TaskLocation OnHost(const std::string& host) { return {TaskLocation::Kind::kHost, host, {}}; }

class TaskSchedulerTest : public testing::Test {
 protected:
  std::vector<SetEffect> Step(std::vector<SetEvent> events) {
    if (!core_) core_ = std::make_unique<TaskScheduler>(config_);
    std::vector<SetEffect> out;
    core_->Step(Instant{now_.ns}, events, out);
    EXPECT_EQ(core_->CheckInvariants(), "");
    return out;
  }
  static std::vector<SetLaunched> Launches(const std::vector<SetEffect>& effects) {
    std::vector<SetLaunched> launched;
    for (const SetEffect& effect : effects) {
      if (const auto* one = std::get_if<SetLaunched>(&effect)) launched.push_back(*one);
    }
    return launched;
  }
  std::vector<SetLaunched> OfferAll(std::vector<Offer> offers) {
    return Launches(Step({OfferRound{true, std::move(offers)}}));
  }
  static SubmitSet Set(int32_t stage, std::vector<std::vector<TaskLocation>> locations) {
    SubmitSet set;
    set.set = {.stage = stage, .attempt = 0};
    set.priority = stage;
    for (size_t i = 0; i < locations.size(); ++i) set.partitions.push_back(static_cast<int32_t>(i));
    set.locations = std::move(locations);
    return set;
  }
  std::string Levels(int32_t stage) const {
    std::string text;
    for (const Level level : core_->Find({stage, 0})->levels()) text += std::string(EnumName(level)) + " ";
    return text;
  }

  Config config_;
  Duration now_ = Duration::Seconds(100);
  std::unique_ptr<TaskScheduler> core_;
};

/// The example of the article: T0 cached in a dead executor, T1 on a host, T2 without preference.
TEST_F(TaskSchedulerTest, LevelsThatAreValid) {
  Step({OfferRound{true, {{"E2", "H2", 0}}}});
  Step({Set(0, {{InExecutor("H1", "E1")}, {OnHost("H2")}, {}})});
  EXPECT_EQ(Levels(0), "NODE_LOCAL NO_PREF ANY ");
  // The first offer of a host makes its rack live, and a new executor its level.
  Step({model::tasks::HostRack{"H1", "R1"}, Set(1, {{InExecutor("H1", "E1")}})});
  EXPECT_EQ(Levels(1), "ANY ");
  Step({OfferRound{true, {{"E1", "H1", 0}}}});
  EXPECT_EQ(Levels(1), "PROCESS_LOCAL NODE_LOCAL RACK_LOCAL ANY ");
  EXPECT_EQ(Levels(0), "PROCESS_LOCAL NODE_LOCAL NO_PREF ANY ");  // no rack was known when it was made
}

/// The worked timeline: E1, E2 in rack R1, E3 in R2, four tasks cached in E1, legacy timer.
TEST_F(TaskSchedulerTest, WorkedTimelineOfTheLegacyRule) {
  config_.locality.legacy_reset = true;
  Step({model::tasks::HostRack{"H1", "R1"}, model::tasks::HostRack{"H2", "R1"}, model::tasks::HostRack{"H3", "R2"}});
  const std::vector<Offer> idle{{"E1", "H1", 0}, {"E2", "H2", 1}, {"E3", "H3", 1}};
  Step({OfferRound{true, {{"E1", "H1", 0}, {"E2", "H2", 0}, {"E3", "H3", 0}}}});
  Step({Set(0, std::vector<std::vector<TaskLocation>>(4, {InExecutor("H1", "E1")}))});
  const Duration start = now_;
  auto launched = OfferAll({{"E1", "H1", 1}, {"E2", "H2", 1}, {"E3", "H3", 1}});
  ASSERT_EQ(launched.size(), 1u);
  EXPECT_EQ(launched[0].level, Level::kProcessLocal);
  for (int second = 1; second <= 9; ++second) {
    now_ = start + Duration::Seconds(second);
    std::vector<Offer> offers = idle;
    if (second > 6) offers[1].cores = 0;  // E2 has a task since second 6
    launched = OfferAll(offers);
    if (second == 6) {
      ASSERT_EQ(launched.size(), 1u);
      EXPECT_EQ(launched[0].level, Level::kRackLocal);
      EXPECT_EQ(launched[0].index, 1);
    } else if (second == 9) {
      ASSERT_EQ(launched.size(), 1u);
      EXPECT_EQ(launched[0].level, Level::kAny);
      EXPECT_EQ(launched[0].index, 2);
    } else {
      EXPECT_TRUE(launched.empty()) << second;
    }
  }
  now_ = start + Duration::Seconds(10);
  Step({SetTaskSucceeded{0}});
  launched = OfferAll({{"E1", "H1", 1}});
  ASSERT_EQ(launched.size(), 1u);
  EXPECT_EQ(launched[0].level, Level::kProcessLocal);
  EXPECT_EQ(core_->Find({0, 0})->level(), Level::kProcessLocal);  // back up
}

TEST_F(TaskSchedulerTest, FairPoolsNeedyFirstThenByWeight) {
  config_.mode = PoolMode::kFair;
  config_.pools = {{"a", PoolMode::kFifo, 1, 2}, {"b", PoolMode::kFifo, 3, 0}, {"c", PoolMode::kFair, 1, 0}};
  const auto in_pool = [&](int32_t stage, const std::string& pool) {
    SubmitSet set = Set(stage, std::vector<std::vector<TaskLocation>>(10));
    set.pool = pool;
    return set;
  };
  Step({in_pool(0, "c"), in_pool(1, "b"), in_pool(2, "a"), in_pool(3, "new")});
  const auto stages = [&] {
    std::vector<int32_t> order;
    for (const SetId& id : core_->SchedulingOrder()) order.push_back(id.stage);
    return order;
  };
  // a is below its minimum share; the others have nothing running: by name.
  EXPECT_EQ(stages(), (std::vector<int32_t>{2, 1, 0, 3}));
  // One set takes all of an offer before the next one is asked.
  EXPECT_EQ(OfferAll({{"e", "h", 2}}).back().set.stage, 2);
  EXPECT_EQ(stages(), (std::vector<int32_t>{1, 0, 3, 2}));  // a has its minimum; 2/1 running by weight comes last
  EXPECT_EQ(OfferAll({{"e", "h", 2}}).back().set.stage, 1);
  EXPECT_EQ(OfferAll({{"e", "h", 1}}).back().set.stage, 0);
  EXPECT_EQ(stages(), (std::vector<int32_t>{3, 1, 0, 2}));  // 0, 2/3, 1/1, 2/1
}

TEST_F(TaskSchedulerTest, SpeculativeCopyRunsElsewhereAndTheSlowOneIsKilled) {
  config_.speculation.enabled = true;
  config_.speculation.quantile = 0.5;
  Step({Set(0, std::vector<std::vector<TaskLocation>>(2))});
  OfferAll({{"e0", "h0", 1}, {"e1", "h1", 1}});
  now_ = now_ + Duration::Seconds(1);
  Step({SetTaskSucceeded{0}, SpeculationCheck{}});
  now_ = now_ + Duration::Millis(500);
  EXPECT_TRUE(Step({SpeculationCheck{}}).empty());  // not longer than 1.5 times the median
  now_ = now_ + Duration::Millis(1);
  const auto effects = Step({SpeculationCheck{}});
  EXPECT_EQ(std::get<SetSpeculatable>(effects.front()).index, 1);
  EXPECT_TRUE(OfferAll({{"e1", "h1", 1}}).empty());  // not beside the slow one
  const auto copy = OfferAll({{"e0", "h0", 1}});
  ASSERT_EQ(copy.size(), 1u);
  EXPECT_TRUE(copy[0].speculative);
  bool killed = false;
  for (const SetEffect& effect : Step({SetTaskSucceeded{copy[0].task}})) {
    if (const auto* kill = std::get_if<SetKill>(&effect)) killed = kill->task == 1;
  }
  EXPECT_TRUE(killed);
}

TEST_F(TaskSchedulerTest, ALostExecutorThatNeverAcknowledgedDoesNotCount) {
  config_.task_max_failures = 1;
  Step({Set(0, {{}, {}})});
  OfferAll({{"e0", "h0", 1}, {"e1", "h1", 1}});
  SetExecutorLost lost;
  lost.executor = "e0";
  Step({lost});
  ASSERT_NE(core_->Find({0, 0}), nullptr);
  EXPECT_FALSE(core_->Find({0, 0})->zombie);
  lost.executor = "e1";
  Step({SetTaskStarted{1}, lost});
  EXPECT_EQ(core_->Find({0, 0}), nullptr);  // failed
}

TEST_F(TaskSchedulerTest, UnschedulableSetWaitsForAnIdleExecutorThenFails) {
  config_.exclusion.enabled = true;
  Step({Set(0, {{}})});
  OfferAll({{"e0", "h0", 1}});
  SetTaskFailed failed;
  failed.task = 0;
  Step({failed});
  EXPECT_TRUE(OfferAll({{"e0", "h0", 1}}).empty());
  EXPECT_EQ(core_->NextUnschedulable(), Instant{now_.ns} + Duration::Seconds(120));
  now_ = now_ + Duration::Seconds(120);
  const auto effects = Step({UnschedulableCheck{}});
  ASSERT_FALSE(effects.empty());
  EXPECT_EQ(std::get<SetFailed>(effects.front()).kind, SetFailureKind::kExcludedEverywhere);
}

TEST(RunningMedianTest, UpperMedian) {
  RunningMedian median;
  median.Insert(5);
  EXPECT_EQ(median.Median(), 5);
  median.Insert(1);
  EXPECT_EQ(median.Median(), 5);
  median.Insert(2);
  EXPECT_EQ(median.Median(), 2);
  median.Insert(9);
  EXPECT_EQ(median.Median(), 5);
  EXPECT_EQ(median.size(), 4u);
}

}  // namespace
}  // namespace fairlead::tasks
