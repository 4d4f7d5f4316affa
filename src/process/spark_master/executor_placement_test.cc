#include "process/spark_master/executor_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/fairlead/fairlead.h"

namespace fairlead::process::spark_master {
namespace {

namespace sa = model::standalone;
namespace ss = scheduler::standalone;
using base::Duration;
using ::testing::HasSubstr;

/// A master's books with the default profile behind them.
class PlacementTest : public ::testing::Test {
 protected:
  void Make(const scheduler::FairleadConfig& config = {}) {
    ss::MasterConfig books;
    books.places_executors = false;
    books_.emplace(books);
    placement_.emplace(scheduler::MakeFairlead(config), [this](uint32_t app) { return standings_.at(app); });
  }

  /// An event, and all that follows from it.
  void Feed(std::optional<sa::Event> event = {}) {
    std::vector<sa::Event> events;
    if (event) events.push_back(std::move(*event));
    do {
      books_->Step(events, effects_);
      ASSERT_EQ(books_->CheckInvariants(), "");
      events = placement_->Decide(now_, *books_);
    } while (!events.empty());
  }
  /// Lets time pass, with everything that is due in it.
  void Pass(Duration time) {
    const base::Instant until = now_ + time;
    while (placement_->NextDeadline() <= until) {
      now_ = std::max(now_, placement_->NextDeadline());
      Feed();
    }
    now_ = until;
  }

  void Worker(int32_t cores) {
    const auto index = books_->workers().next();
    const std::string name = "worker" + std::to_string(index);
    Feed(sa::WorkerRegistered{{index}, name, name, 1, cores, cores * 1024, {}});
  }
  uint32_t App(Standing standing, int32_t cores_max = 1000, int32_t cores = 1) {
    const auto index = books_->apps().next();
    standing.user = "user" + std::to_string(index);
    standings_.push_back(std::move(standing));
    sa::AppRegistered event{{index}, cores_max, {0, cores, 1024, {}}, std::nullopt};
    Feed(event);
    return index;
  }
  size_t Running(uint32_t app) const { return books_->apps()[app].executors.size(); }
  void EndOne(uint32_t app) {
    const int32_t id = books_->apps()[app].executors.begin()->first;
    Feed(sa::ExecutorStateChanged{{app}, id, sa::ExecutorState::kExited, 0, "", 0});
  }

  base::Instant now_{1'000'000'000};
  std::vector<Standing> standings_;
  std::optional<ss::Master> books_;
  std::optional<ExecutorPlacement> placement_;
  std::vector<sa::Effect> effects_;
};

TEST_F(PlacementTest, ApplicationsOfAPoolShareWhatBecomesFree) {
  Make();
  Worker(10);
  Worker(10);
  const uint32_t first = App({"", "a"});
  EXPECT_EQ(Running(first), 20u);
  const uint32_t second = App({"", "a"});
  EXPECT_EQ(Running(second), 0u);
  for (int i = 0; i < 40; ++i) EndOne(Running(first) > 0 ? first : second);
  EXPECT_EQ(Running(first) + Running(second), 20u);
  EXPECT_NEAR(static_cast<double>(Running(first)), 10, 1);
}

TEST_F(PlacementTest, CoresMaxAndTargetsBound) {
  Make();
  Worker(16);
  const uint32_t app = App({"", "a"}, 7, 2);
  EXPECT_EQ(Running(app), 3u) << "the seventh core makes no executor";
  Feed(sa::ExecutorsRequested{{app}, 1, {{{0, 2, 1024, {}}, 1}}});
  EXPECT_EQ(Running(app), 3u) << "a lower target takes nothing away";
  Feed(sa::ExecutorsKilled{{app}, 2, {0, 1}});
  EXPECT_EQ(Running(app), 1u);
  Feed(sa::ExecutorsRequested{{app}, 3, {{{0, 2, 1024, {}}, 2}}});
  EXPECT_EQ(Running(app), 2u);
}

TEST_F(PlacementTest, TheMoreImportantApplicationGetsWhatBecomesFree) {
  Make();
  Worker(4);
  const uint32_t running = App({"", "a"});
  const uint32_t waiting = App({"", "a"});
  const uint32_t urgent = App({"", "a", 5});
  for (int i = 0; i < 4; ++i) EndOne(running);
  EXPECT_EQ(Running(urgent), 4u);
  EXPECT_EQ(Running(waiting), 0u);
  EXPECT_NE(placement_->Why(waiting, now_), "");
}

TEST_F(PlacementTest, APoolsMaximumLimitsIt) {
  scheduler::FairleadConfig config;
  model::QueueConfig pool;
  pool.name = "root.small";
  pool.max_resources = model::ConfiguredResources{{{"memory-mb", 3 * 1024}, {"vcores", 3}}, {}, INT64_MAX};
  config.queues.queues.push_back(pool);
  Make(config);
  Worker(10);
  const uint32_t app = App({"", "root.small"});
  EXPECT_EQ(Running(app), 3u);
  EXPECT_THAT(placement_->Why(app, now_), HasSubstr("small"));
}

TEST_F(PlacementTest, APoolBelowItsShareTakesExecutorsBack) {
  scheduler::FairleadConfig config;
  config.preemption.enabled = true;
  Make(config);
  Worker(10);
  const uint32_t greedy = App({"", "root.a"});
  ASSERT_EQ(Running(greedy), 10u);
  const uint32_t hungry = App({"", "root.b"});
  EXPECT_EQ(Running(hungry), 0u);
  effects_.clear();
  Pass(Duration::Seconds(120));
  EXPECT_EQ(Running(greedy), 5u);
  EXPECT_EQ(Running(hungry), 5u);
  size_t told = 0;
  for (const sa::Effect& effect : effects_) {
    const auto* updated = std::get_if<sa::ExecutorUpdated>(&effect);
    if (updated == nullptr || updated->state != sa::ExecutorState::kKilled) continue;
    ++told;
    EXPECT_EQ(updated->exit_status, 56) << "not held against its tasks";
    EXPECT_THAT(updated->message, HasSubstr("taken back"));
  }
  EXPECT_EQ(told, 5u);
}

TEST_F(PlacementTest, AGangStartsWholeOrNotAtAll) {
  Make();
  Worker(4);
  const uint32_t other = App({"", "a"}, 2);
  const uint32_t gang = App({"", "a", 0, true}, 3);
  EXPECT_EQ(Running(gang), 0u);
  EndOne(other);
  Feed(sa::AppFinished{{other}});
  EXPECT_EQ(Running(gang), 3u);
  EndOne(gang);
  EXPECT_EQ(Running(gang), 3u) << "one that is lost comes back by itself";
}

/// What a worker of 4 cores says of its machine.
endpoints::spark::WorkerUse Using(int64_t milli_cores) {
  endpoints::spark::WorkerUse use{{}, 4, 4096};
  use.use.milli_cores = milli_cores;
  use.use.physical_bytes = 0;
  return use;
}

TEST_F(PlacementTest, ExecutorsGoWhereTheMachineIsUsedLeast) {
  scheduler::FairleadConfig config;
  config.queues.wishes.measured_load = true;
  Make(config);
  Worker(4);
  Worker(4);
  placement_->Measured(now_, 0, Using(3000));
  placement_->Measured(now_, 1, Using(200));
  EXPECT_LE(placement_->NextDeadline(), now_ + Duration::Seconds(1)) << "nothing else happens";
  Pass(Duration::Seconds(1));
  App({"", "a"}, 2);
  for (const auto& [id, executor] : books_->apps()[0].executors) EXPECT_EQ(executor.worker, 1u);
  EXPECT_EQ(Running(0), 2u);
}

TEST_F(PlacementTest, AnOverloadedMachineTakesNothingUntilItCalms) {
  scheduler::FairleadConfig config;
  config.queues.wishes.measured_use = true;
  Make(config);
  Worker(4);
  placement_->Measured(now_, 0, Using(4000));
  Pass(Duration::Seconds(1));
  const uint32_t app = App({"", "a"});
  EXPECT_EQ(Running(app), 0u);
  EXPECT_THAT(placement_->Why(app, now_), HasSubstr("worker0"));
  placement_->Measured(now_, 0, Using(100));
  placement_->Measured(now_, 7, Using(100));  // there is no such worker
  Pass(Duration::Seconds(1));
  EXPECT_EQ(Running(app), 4u);
}

TEST_F(PlacementTest, DriversAndLostWorkersTakeTheirRoomAway) {
  Make();
  Worker(4);
  Worker(4);
  Feed(sa::DriverSubmitted{1, 2, 1024, false, {}});
  const uint32_t app = App({"", "a"});
  EXPECT_EQ(Running(app), 6u);
  Feed(sa::WorkerLost{{0}, "gone"});
  const size_t left = Running(app);
  EXPECT_TRUE(left == 2 || left == 4) << left;
  Worker(4);
  EXPECT_EQ(Running(app), left + 4);
  Feed(sa::WorkerDecommissioned{{1}});
  EXPECT_EQ(Running(app), 4u);
}

TEST_F(PlacementTest, WhatRanBeforeARestartIsCounted) {
  Make();
  standings_.push_back({"user", "a"});
  sa::Recovered stored;
  stored.workers.push_back({{0}, "worker0", "worker0", 1, 4, 4096, {}});
  stored.apps.push_back({{{0}, 1000, {0, 1, 1024, {}}, std::nullopt}, {}});
  books_->Step(std::vector<sa::Event>{stored, sa::AppAnswered{{0}}}, effects_);
  sa::WorkerAnswered answer{{0}, {}, {}};
  for (int32_t id : {4, 7}) answer.executors.push_back({{0}, id, 0, 1, 1024, sa::ExecutorState::kRunning, {}});
  Feed(answer);
  EXPECT_EQ(Running(0), 4u);
  EXPECT_TRUE(books_->apps()[0].executors.contains(7));
  const uint32_t second = App({"", "a"});
  Feed(sa::ExecutorsKilled{{0}, 2, {4, 7}});
  EXPECT_EQ(Running(second), 2u) << "the share of what was taken over counts";
}

TEST_F(PlacementTest, AnApplicationThatEndsGivesAllBack) {
  Make();
  Worker(4);
  const uint32_t first = App({"", "a"});
  const uint32_t second = App({"", "a"});
  Feed(sa::AppFinished{{first}});
  EXPECT_EQ(Running(second), 4u);
  Feed(sa::AppKilled{{second}});
  EXPECT_EQ(books_->workers()[0].cores_used, 0);
}

}  // namespace
}  // namespace fairlead::process::spark_master
