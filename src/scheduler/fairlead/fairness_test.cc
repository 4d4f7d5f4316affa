#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/test_seed.h"
#include "scheduler/fairlead/past_use.h"
#include "scheduler/fairlead/test_cluster.h"

namespace fairlead::scheduler {
namespace {

using base::Duration;
using base::Instant;

constexpr Duration kDay = Duration::Seconds(86'400);

TEST(DecayedTest, HalfAfterAHalfLife) {
  EXPECT_EQ(native::Decayed(1'000'000, 0, kDay, kDay), 500'000);
  EXPECT_EQ(native::Decayed(0, 1'000'000, kDay * 2, kDay), 750'000);
  EXPECT_EQ(native::Decayed(7, 1'000, kDay * 100, kDay), 1'000);
  EXPECT_EQ(native::Decayed(7, 1'000, {}, kDay), 7);
  EXPECT_NEAR(static_cast<double>(native::Decayed(int64_t{1} << 38, 0, Duration::Seconds(1), kDay)),
              std::exp2(38.0 - 1.0 / 86'400), 100)
      << "times count in parts of 2^-32 half-lives";
}

/// Two queues of the same weight on a node; each asks for as much as it is told to, containers end after their time.
class TwoQueues {
 public:
  struct Want {
    int64_t cores = 1;
    int32_t apps = 1;
  };

  TwoQueues(const FairleadConfig& config, int64_t cores, Want a, Want b) : cluster_(config), wants_{a, b} {
    cluster_.Node(0, cores, cores);
    for (const int queue : {0, 1}) {
      for (int32_t i = 0; i < wants_[queue].apps; ++i) {
        apps_[queue].push_back(next_app_);
        cluster_.App(next_app_++, queue == 0 ? "root.a" : "root.b", "u");
      }
    }
  }
  void Demand(int queue, bool much) {
    if (std::exchange(demands_[queue], much) == much) return;
    for (const uint32_t app : apps_[queue]) {
      const int64_t cores = wants_[queue].cores;
      cluster_.Ask(app, {TestCluster::Want(much ? 100'000 : 0, cores, cores)});
      Note();
    }
  }
  /// Until then, with containers that run for `seconds`.
  void Run(int64_t until, int64_t seconds) {
    run_ = seconds;
    while (!ends_.empty() && ends_.begin()->first <= until) {
      const int64_t now = ends_.begin()->first;
      cluster_.now_ = Instant{} + Duration::Seconds(now);
      std::vector<ev::Event> events;
      for (; !ends_.empty() && ends_.begin()->first == now; ends_.erase(ends_.begin())) {
        events.emplace_back(ev::NodeUpdated{{0}, {}, {{ends_.begin()->second, 0}}});
      }
      cluster_.Send(events);
      Note();
    }
    cluster_.now_ = Instant{} + Duration::Seconds(until);
    cluster_.Send(std::vector<ev::Event>{});
    Note();
  }
  /// Containers x seconds of the queue, of those that have started.
  int64_t Done(int queue) const { return done_[queue]; }
  TestCluster& cluster() { return cluster_; }

 private:
  void Note() {
    for (const auto& granted : cluster_.Last<ev::Granted>()) {
      if (!seen_.insert(granted.container).second) continue;
      const bool second = std::find(apps_[1].begin(), apps_[1].end(), granted.app.value) != apps_[1].end();
      ends_.emplace(cluster_.now_.ns / 1'000'000'000 + run_, granted.container);
      done_[second] += run_;
    }
  }

  TestCluster cluster_;
  Want wants_[2];
  std::vector<uint32_t> apps_[2];
  uint32_t next_app_ = 0;
  bool demands_[2] = {};
  int64_t run_ = 60;
  int64_t done_[2] = {};
  std::multimap<int64_t, model::ContainerId> ends_;
  std::set<model::ContainerId> seen_;
};

FairleadConfig ByPast(Duration half_life) {
  FairleadConfig config;
  config.fairness.half_lives = {half_life};
  return config;
}

/// The second queue wants all or nothing by turns of an hour, the first one always all. Gives its part of the work.
double PartOfBursts(const FairleadConfig& config, TwoQueues::Want burst) {
  constexpr int64_t kHour = 3600;
  TwoQueues queues(config, 20, {}, burst);
  queues.Demand(0, true);
  int64_t before[2] = {};
  for (int64_t hour = 0; hour < 96; ++hour) {
    queues.Demand(1, hour % 2 == 0);
    queues.Run((hour + 1) * kHour, 60);
    if (hour == 47) before[0] = queues.Done(0), before[1] = queues.Done(1);
  }
  EXPECT_EQ(queues.cluster().scheduler().CheckInvariants(), "");
  const auto a = static_cast<double>(queues.Done(0) - before[0]);
  const auto b = static_cast<double>((queues.Done(1) - before[1]) * burst.cores);
  return b / (a + b);
}

TEST(DecayedUseTest, WhoComesInBurstsHasHisShareInTheEnd) {
  EXPECT_NEAR(PartOfBursts(ByPast({}), {}), 0.25, 0.01) << "by what is used now he has half of half the time";
  EXPECT_NEAR(PartOfBursts(ByPast(kDay), {}), 0.5, 0.01);
}

TEST(DecayedUseTest, SplittingAndInflatingGainNothing) {
  const double honest = PartOfBursts(ByPast(kDay), {});
  EXPECT_LT(PartOfBursts(ByPast(kDay), {1, 20}), honest * 1.01) << "cut into twenty applications";
  EXPECT_LT(PartOfBursts(ByPast(kDay), {2, 1}), honest * 1.01) << "containers of twice the size";
}

TEST(DecayedUseTest, WithoutAHalfLifeItDecidesAsBefore) {
  std::vector<uint64_t> hashes;
  for (const bool zeros : {false, true}) {
    FairleadConfig config;
    if (zeros) config.fairness.half_lives = {Duration{}, Duration{}};
    TwoQueues queues(config, 8, {}, {2, 3});
    queues.Demand(0, true);
    queues.Demand(1, true);
    queues.Run(600, 60);
    hashes.push_back(queues.cluster().scheduler().StateHash());
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

/// Demands at random; the second queue's users do as they should, cut their work up, or ask for more than they use.
TEST(DecayedUseProperty, SplittingAndInflatingGainNothing) {
  for (uint64_t seed = base::TestSeed(); seed < base::TestSeed() + 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<double> work;
    for (const TwoQueues::Want want : {TwoQueues::Want{1, 1}, TwoQueues::Want{1, 12}, TwoQueues::Want{2, 1}}) {
      base::Rng rng(seed);
      TwoQueues queues(ByPast(Duration::Seconds(rng.Between(4, 24) * 3600)), 16, {}, want);
      for (int64_t hour = 1; hour <= 72; ++hour) {
        queues.Demand(0, rng.Chance(0.8));
        queues.Demand(1, rng.Chance(0.6));
        queues.Run(hour * 3600, 60);
      }
      work.push_back(static_cast<double>(queues.Done(1)));
    }
    EXPECT_LT(work[1], work[0] * 1.01) << "cut into applications";
    EXPECT_LT(work[2], work[0] * 1.01) << "containers of twice the size that do no more";
  }
}

FairleadConfig WithBudget(int64_t core_hours, bool hard) {
  FairleadConfig config;
  config.fairness.budgets = {{"root.b", 1, core_hours * 3'600'000, kDay, hard}};
  return config;
}

TEST(BudgetTest, AHardOneIsOverRunByOneGrantAtMost) {
  constexpr int64_t kRun = 600;
  TwoQueues queues(WithBudget(10, true), 8, {}, {});
  queues.Demand(1, true);
  int64_t before = 0;
  for (int64_t day = 1; day <= 3; ++day) {
    queues.Run(day * 86'400 - 1, kRun);
    const int64_t spent = queues.Done(1) - std::exchange(before, queues.Done(1));
    EXPECT_GE(spent, 9 * 3600) << "day " << day;
    EXPECT_LE(spent, 10 * 3600 + kRun) << "day " << day;
    const auto why = queues.cluster().scheduler().Why({1}, queues.cluster().now_);
    EXPECT_EQ(why.at(0).reason, ev::PendingReason::kQueueMaximum);
    EXPECT_NE(why.at(0).detail.find("hard budget of root.b is spent: 10 of 10 vcores-hours"), std::string::npos);
    EXPECT_LE(queues.cluster().scheduler().NextDeadline(), Instant{} + kDay * day);
    queues.Run(day * 86'400, kRun);
  }
  EXPECT_EQ(queues.cluster().scheduler().CheckInvariants(), "");
}

/// The first period is a whole one, whatever the clock shows when the manager starts.
TEST(BudgetTest, PeriodsAreCountedFromTheStart) {
  FairleadConfig config;
  config.fairness.budgets = {{"root.b", 1, 1000, kDay, true}};
  TestCluster cluster(config);
  const Instant start = Instant{} + Duration::Seconds(80'000);
  cluster.now_ = start;
  cluster.Node(0, 4, 4);
  cluster.App(1, "root.b");
  cluster.Ask(1, {TestCluster::Want(2, 1, 1)});
  ASSERT_EQ(cluster.LiveOf(1).size(), 1U) << "it is charged with the rest of the period";
  cluster.now_ = start + kDay - Duration::Seconds(1);
  cluster.Send(std::vector<ev::Event>{});
  EXPECT_EQ(cluster.LiveOf(1).size(), 1U) << "midnight of the clock is nothing to it";
  EXPECT_EQ(cluster.scheduler().NextPeriod(), start + kDay);
  cluster.now_ = start + kDay;
  cluster.Send(std::vector<ev::Event>{});
  EXPECT_EQ(cluster.LiveOf(1).size(), 2U);
}

TEST(BudgetTest, AGangStartsOnceMoreAtMost) {
  constexpr Duration kPeriod = Duration::Seconds(300);  // a gang waits for ten minutes at most
  FairleadConfig config;
  config.fairness.budgets = {{"root.b", 1, 600'000, kPeriod, true}};
  TwoQueues queues(config, 8, {}, {});
  TestCluster& cluster = queues.cluster();
  model::Ask gang = TestCluster::Want(4, 1, 1);
  gang.gang = 7;
  cluster.Ask(1, {gang});
  EXPECT_EQ(cluster.LiveOf(1).size(), 4U);
  gang.gang = 8;
  gang.priority = 2;
  cluster.Ask(1, {gang});
  EXPECT_EQ(cluster.LiveOf(1).size(), 4U) << "all of the period is charged, as nobody knows how long they run";
  const auto why = cluster.scheduler().Why({1}, cluster.now_);
  ASSERT_EQ(why.size(), 1U);
  EXPECT_NE(why[0].detail.find("hard budget of root.b is spent"), std::string::npos) << why[0].detail;
  cluster.now_ = Instant{} + kPeriod;
  cluster.Send(std::vector<ev::Event>{});
  EXPECT_EQ(cluster.LiveOf(1).size(), 8U) << "a new period";
}

TEST(DecayedUseTest, WhoComesAgainUnderTheSameNameIsNoNewcomer) {
  TestCluster cluster(ByPast(kDay));
  cluster.Node(0, 4, 4);
  const auto run = [&](uint32_t app, const char* queue, int64_t until) {
    cluster.App(app, queue);
    cluster.Ask(app, {TestCluster::Want(4, 1, 1)});
    cluster.now_ = Instant{} + Duration::Seconds(until);
    cluster.Send(std::vector<ev::Event>{});
    for (const ev::Granted& granted : cluster.LiveOf(app)) cluster.Complete(granted.container);
    cluster.Send({ev::AttemptRemoved{{app}, 1, false}, ev::AppRemoved{{app}}});
  };
  run(0, "root.greedy", 40'000);
  EXPECT_EQ(cluster.Queue("root.greedy").name, "") << "no file has it";
  cluster.App(1, "root.greedy");
  cluster.App(2, "root.modest");
  cluster.Node(1, 1, 1);
  EXPECT_GT(cluster.Queue("root.greedy").past_ppm.value_or(0), 200'000);
  EXPECT_EQ(cluster.Queue("root.modest").past_ppm.value_or(-1), 0);
  cluster.Ask(1, {TestCluster::Want(9, 1, 1)});
  cluster.Ask(2, {TestCluster::Want(9, 1, 1)});
  for (const ev::Granted& granted : cluster.LiveOf(1)) cluster.Complete(granted.container);
  EXPECT_EQ(cluster.LiveOf(1).size(), 0U) << "all that is freed goes to the other one";
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(BudgetTest, WhoHasSpentASoftOneComesLast) {
  TwoQueues queues(WithBudget(2, false), 4, {}, {});
  queues.Demand(1, true);
  queues.Run(3600, 60);
  EXPECT_EQ(queues.Done(1), 4 * 3600 + 4 * 60) << "nobody else wants it";
  queues.Demand(0, true);
  queues.Run(7200, 60);
  EXPECT_EQ(queues.Done(1), 4 * 3600 + 4 * 60) << "the other queue takes all";
}

}  // namespace
}  // namespace fairlead::scheduler
