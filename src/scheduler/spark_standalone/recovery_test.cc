#include <gtest/gtest.h>

#include "scheduler/spark_standalone/master.h"

namespace fairlead::scheduler::standalone {
namespace {

sa::WorkerRegistered StoredWorker(uint32_t index) {
  return {
      {index}, "worker-" + std::to_string(index), "host", static_cast<int32_t>(index), 4, 4096, {{"gpu", {"0", "1"}}}};
}

sa::StoredApp StoredAppOf(uint32_t index) {
  sa::Profile profile;
  profile.cores = 1;
  profile.memory = 512;
  return {{{index}, 2, profile, std::nullopt}, {}};
}

/// Two workers, an application of two cores, a supervised driver and a plain one that ran, and one that waited.
class RecoveryTest : public testing::Test {
 protected:
  RecoveryTest() {
    sa::Recovered stored;
    stored.workers = {StoredWorker(0), StoredWorker(1)};
    stored.apps = {StoredAppOf(0)};
    stored.drivers = {{{0, 1, 512, true, {}}, false}, {{0, 1, 512, false, {}}, false}, {{0, 1, 512, false, {}}, true}};
    Step(stored);
  }

  void Step(const sa::Event& event) {
    effects_.clear();
    master_.Step({&event, 1}, effects_);
    EXPECT_EQ(master_.CheckInvariants(), "");
  }
  template <class Effect>
  std::vector<Effect> Of() const {
    std::vector<Effect> found;
    for (const sa::Effect& effect : effects_) {
      if (const auto* one = std::get_if<Effect>(&effect)) found.push_back(*one);
    }
    return found;
  }
  static sa::ClaimedExecutor Executor(int32_t id, int32_t cores = 1) {
    return {{0}, id, 0, cores, 512, sa::ExecutorState::kRunning, {}};
  }

  Master master_{{}};
  std::vector<sa::Effect> effects_;
};

TEST_F(RecoveryTest, AWorkerSpeaksForWhatRunsThere) {
  Step(sa::WorkerAnswered{{0}, {Executor(3)}, {{{1}, {}}}});
  Step(sa::WorkerAnswered{{1}, {}, {}});
  Step(sa::AppAnswered{{0}});
  const auto end = [&](uint32_t worker) {
    Step(sa::ExecutorStateChanged{{0}, 3, sa::ExecutorState::kExited, 1, "", 0, sa::WorkerIndex{worker}});
    Step(sa::DriverStateChanged{{1}, sa::DriverState::kFailed, sa::WorkerIndex{worker}, "why"});
  };
  end(1);
  EXPECT_TRUE(master_.apps()[0].executors.contains(3));
  EXPECT_TRUE(master_.drivers()[1].known);
  end(0);
  EXPECT_FALSE(master_.apps()[0].executors.contains(3));
  ASSERT_EQ(Of<sa::DriverEnded>().size(), 1u);
  EXPECT_EQ(Of<sa::DriverEnded>()[0].exception, "why");
}

TEST_F(RecoveryTest, WhatAnswersGoesOn) {
  EXPECT_TRUE(master_.recovering());
  Step(sa::WorkerAnswered{{0}, {Executor(3)}, {{{0}, {}}, {{1}, {}}}});
  Step(sa::AppAnswered{{0}});
  EXPECT_TRUE(master_.recovering());
  EXPECT_TRUE(Of<sa::LaunchExecutor>().empty());
  Step(sa::WorkerAnswered{{1}, {}, {}});
  EXPECT_FALSE(master_.recovering());
  EXPECT_EQ(master_.drivers()[0].state, sa::DriverState::kRunning);
  EXPECT_EQ(master_.drivers()[1].state, sa::DriverState::kRunning);
  ASSERT_EQ(Of<sa::LaunchDriver>().size(), 1u);
  EXPECT_EQ(Of<sa::LaunchDriver>()[0].driver.value, 2u);
  // The second of its two executors, under a number that no one had.
  ASSERT_EQ(Of<sa::LaunchExecutor>().size(), 1u);
  EXPECT_EQ(Of<sa::LaunchExecutor>()[0].executor, 4);
  EXPECT_EQ(master_.apps()[0].state, sa::AppState::kRunning);
}

TEST_F(RecoveryTest, WhoDoesNotAnswerIsGivenUp) {
  Step(sa::WorkerAnswered{{0}, {}, {}});
  Step(sa::RecoveryEnded{});
  EXPECT_FALSE(master_.recovering());
  EXPECT_EQ(master_.workers()[1].state, sa::WorkerState::kDead);
  EXPECT_FALSE(master_.apps()[0].known);
  EXPECT_EQ(Of<sa::ApplicationRemoved>().size(), 1u);
  EXPECT_EQ(master_.drivers()[0].state, sa::DriverState::kRelaunching);
  EXPECT_EQ(master_.drivers()[1].state, sa::DriverState::kError);
  // The one that waited, and the supervised one under a new number.
  std::vector<uint32_t> launched;
  for (const sa::LaunchDriver& launch : Of<sa::LaunchDriver>()) launched.push_back(launch.driver.value);
  EXPECT_EQ(launched, (std::vector<uint32_t>{2, 3}));
}

TEST_F(RecoveryTest, AWorkerCannotClaimMoreThanItHas) {
  sa::ClaimedExecutor twice = Executor(1);
  twice.resources = {{"gpu", {"0", "0"}}};
  sa::ClaimedExecutor gpu = Executor(0);
  gpu.resources = {{"gpu", {"1"}}};
  sa::ClaimedExecutor again = Executor(2);
  again.resources = gpu.resources;
  sa::ClaimedExecutor stranger = Executor(3);
  stranger.app = {7};
  Step(sa::WorkerAnswered{
      {0}, {Executor(9, 5), twice, gpu, again, Executor(0), Executor(4, 2), stranger}, {{{9}, {}}, {{2}, {}}}});
  EXPECT_EQ(master_.apps()[0].executors.size(), 1u);
  EXPECT_EQ(Of<sa::KillExecutor>().size(), 6u);
  EXPECT_EQ(Of<sa::KillDriver>().size(), 2u);
  EXPECT_EQ(master_.workers()[0].cores_used, 1);
}

TEST_F(RecoveryTest, AnApplicationCanBeKilledBeforeItAnswers) {
  Step(sa::AppKilled{{0}});
  EXPECT_EQ(master_.apps()[0].state, sa::AppState::kKilled);
  EXPECT_EQ(Of<sa::ApplicationRemoved>().size(), 1u);
}

TEST_F(RecoveryTest, ANewWorkerTakesTheAddressOfASilentOne) {
  sa::WorkerRegistered other = StoredWorker(1);
  other.worker = {2};
  other.id = "worker-new";
  Step(other);
  EXPECT_EQ(master_.workers()[1].state, sa::WorkerState::kDead);
  EXPECT_EQ(master_.workers()[2].state, sa::WorkerState::kAlive);
  EXPECT_TRUE(master_.recovering());
}

TEST(RecoveryOfLittleTest, NothingToWaitForEndsItAtOnceAndTotalsAreKept) {
  Master master({});
  std::vector<sa::Effect> effects;
  sa::Recovered stored;
  stored.apps = {StoredAppOf(0)};
  stored.apps[0].registration.initial_executor_limit = 0;
  stored.apps[0].targets = {{{}, 5}};
  const sa::Event events[] = {stored, sa::AppAnswered{{0}}};
  master.Step(events, effects);
  EXPECT_FALSE(master.recovering());
  EXPECT_EQ(master.apps()[0].targets.at(0), 5);
  Master empty({});
  const sa::Event drivers_only = sa::Recovered{{}, {}, {{{0, 1, 512, false, {}}, false}}};
  empty.Step({&drivers_only, 1}, effects);
  EXPECT_FALSE(empty.recovering());
  EXPECT_EQ(empty.drivers()[0].state, sa::DriverState::kError);
}

}  // namespace
}  // namespace fairlead::scheduler::standalone
