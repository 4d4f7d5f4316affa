#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/test_seed.h"
#include "scheduler/fairlead/outlook.h"
#include "scheduler/fairlead/promises.h"
#include "scheduler/fairlead/test_cluster.h"

namespace fairlead::scheduler {
namespace {

using base::Duration;
using base::Instant;
using native::kForever;
using native::Outlook;

Instant Second(int64_t second) { return Instant{} + Duration::Seconds(second); }
model::Resources Cores(int64_t cores) { return model::Resources::Of(cores, cores); }

TEST(OutlookTest, TheFirstHoleThatIsLongEnough) {
  Outlook outlook(Second(0), Cores(2), {{Second(30), Cores(4)}, {Second(10), Cores(2)}, {Instant::Max(), Cores(8)}});
  EXPECT_EQ(outlook.Fit(Cores(2), kForever), Second(0));
  EXPECT_EQ(outlook.Fit(Cores(3), Duration::Seconds(5)), Second(10));
  EXPECT_EQ(outlook.Fit(Cores(8), Duration::Seconds(5)), Second(30));
  EXPECT_EQ(outlook.Fit(Cores(2), Duration::Seconds(5), Second(7)), Second(7));
  EXPECT_EQ(outlook.Fit(Cores(9), Duration::Seconds(5)), Instant::Max());
  outlook.Take(Second(20), Duration::Seconds(20), Cores(4));
  EXPECT_EQ(outlook.Fit(Cores(3), Duration::Seconds(10)), Second(10));
  EXPECT_EQ(outlook.Fit(Cores(3), Duration::Seconds(11)), Second(30));
  EXPECT_EQ(outlook.Fit(Cores(5), Duration::Seconds(1)), Second(40));
}

/// Jobs of one container, each of a user of its own whose containers always run for as long.
class Jobs {
 public:
  Jobs(const FairleadConfig& config, std::vector<int64_t> nodes) : cluster_(config) {
    for (uint32_t i = 0; i < nodes.size(); ++i) cluster_.Node(i, nodes[i], nodes[i]);
  }

  /// Three containers of the job's kind have run so long.
  void Teach(const std::string& user, int64_t cores, int64_t seconds) {
    for (int i = 0; i < 3; ++i) {
      const uint32_t app = Come("root.lessons", user, cores);
      Pass(seconds, {});
      cluster_.Complete(cluster_.LiveOf(app).front().container);
      cluster_.Send({ev::AttemptRemoved{{app}, 1}, ev::AppRemoved{{app}}});
    }
  }
  uint32_t Come(const std::string& queue, const std::string& user, int64_t cores) {
    const uint32_t app = apps_++;
    cluster_.App(app, queue, user);
    cluster_.Ask(app, {TestCluster::Want(1, cores, cores)});
    return app;
  }
  void Pass(int64_t seconds, const std::vector<ev::Event>& events) {
    cluster_.now_ = cluster_.now_ + Duration::Seconds(seconds);
    if (!events.empty()) cluster_.Send(events);
  }
  void End(uint32_t app) { cluster_.Complete(cluster_.LiveOf(app).front().container); }
  bool Runs(uint32_t app) const { return !cluster_.LiveOf(app).empty(); }
  Promises Now() { return PromisesOf(cluster_.scheduler()); }
  TestCluster& cluster() { return cluster_; }

 private:
  TestCluster cluster_;
  uint32_t apps_ = 0;
};

FairleadConfig InOrder(int32_t promises, int32_t slack_percent = 0) {
  FairleadConfig config;
  config.backfill.promises = promises;
  config.backfill.slack_percent = slack_percent;
  config.queues.default_policy = "fifo";
  config.reservations.after = Duration::Seconds(1'000'000'000);
  return config;
}

TEST(BackfillTest, OthersPassWhoEndBeforeOrFitBeside) {
  Jobs jobs(InOrder(1), {8});
  jobs.Teach("long", 6, 100);
  jobs.Teach("large", 7, 50);
  jobs.Teach("short", 2, 90);
  jobs.Teach("slow", 2, 200);
  jobs.Teach("thin", 1, 1000);
  const uint32_t running = jobs.Come("root.a", "long", 6);
  const Instant start = jobs.cluster().now_;
  const uint32_t large = jobs.Come("root.a", "large", 7);
  ASSERT_EQ(jobs.Now().now.size(), 1u);
  EXPECT_EQ(jobs.Now().now[0].planned, start + Duration::Seconds(100));
  const uint32_t slow = jobs.Come("root.a", "slow", 2);
  const auto why = [&jobs](uint32_t app) { return jobs.cluster().scheduler().Why({app}, jobs.cluster().now_).at(0); };
  EXPECT_EQ(why(slow).reason, ev::PendingReason::kReserved);
  EXPECT_NE(why(slow).detail.find("whose start in 100000 ms at the latest is promised"), std::string::npos);
  EXPECT_NE(why(large).detail.find("starts in 100000 ms, in 100000 ms at the latest"), std::string::npos);
  EXPECT_FALSE(jobs.Runs(slow)) << "it would still run when the large one is to start, and 8 < 7 + 2";
  const uint32_t thin = jobs.Come("root.a", "thin", 1);
  EXPECT_TRUE(jobs.Runs(thin)) << "it fits beside: 7 + 1";
  EXPECT_EQ(jobs.cluster().scheduler().CheckInvariants(), "");
  jobs.Pass(100, {});
  jobs.End(running);
  EXPECT_TRUE(jobs.Runs(large));
  EXPECT_FALSE(jobs.Runs(slow));
  EXPECT_EQ(jobs.Now().counts.missed, 0);
  EXPECT_EQ(jobs.Now().counts.served, 1);
}

TEST(BackfillTest, AShortOnePasses) {
  Jobs jobs(InOrder(1), {8});
  jobs.Teach("long", 6, 100);
  jobs.Teach("large", 8, 50);
  jobs.Teach("short", 2, 90);
  jobs.Come("root.a", "long", 6);
  jobs.Come("root.a", "large", 8);
  const uint32_t unknown = jobs.Come("root.a", "unknown", 1);
  EXPECT_FALSE(jobs.Runs(unknown)) << "nobody knows when it ends";
  const uint32_t first = jobs.Come("root.a", "short", 2);
  EXPECT_TRUE(jobs.Runs(first));
  jobs.Pass(20, {});
  jobs.End(first);
  EXPECT_FALSE(jobs.Runs(jobs.Come("root.a", "short", 2))) << "90 of 80 seconds";
}

TEST(BackfillTest, WithSlackSomeTimeIsLeftForOthers) {
  Jobs jobs(InOrder(1, 50), {8});  // the large one works for the whole cluster: half of its 50 s
  jobs.Teach("long", 6, 100);
  jobs.Teach("large", 8, 50);
  jobs.Teach("short", 2, 120);
  jobs.Teach("longer", 2, 126);
  jobs.Come("root.a", "long", 6);
  jobs.Come("root.a", "large", 8);
  EXPECT_FALSE(jobs.Runs(jobs.Come("root.a", "longer", 2)));
  EXPECT_TRUE(jobs.Runs(jobs.Come("root.a", "short", 2)));
}

TEST(BackfillTest, WithoutPromisesItDecidesAsBefore) {
  std::vector<uint64_t> hashes;
  for (const int32_t slack : {0, 5000}) {
    FairleadConfig config = InOrder(0, slack);
    config.backfill.run_times = slack == 0;
    Jobs jobs(config, {8, 4});
    jobs.Teach("a", 3, 10);
    jobs.Come("root.a", "a", 8);
    jobs.Come("root.a", "b", 8);
    jobs.Come("root.b", "a", 3);
    EXPECT_EQ(jobs.Now().counts.made, 0);
    hashes.push_back(jobs.cluster().scheduler().StateHash());
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(BackfillTest, WhatMovesAPromiseIsCounted) {
  Jobs jobs(InOrder(1), {8});
  jobs.Teach("long", 8, 100);
  jobs.Teach("large", 8, 50);
  const uint32_t running = jobs.Come("root.a", "long", 8);
  const uint32_t large = jobs.Come("root.a", "large", 8);
  jobs.Pass(140, {});
  jobs.cluster().Send(std::vector<ev::Event>{});
  ASSERT_EQ(jobs.Now().now.size(), 1u);
  EXPECT_EQ(jobs.Now().now[0].planned, jobs.cluster().now_ + Duration::Seconds(35)) << "a quarter of its age more";
  jobs.End(running);
  EXPECT_TRUE(jobs.Runs(large));
  EXPECT_EQ(jobs.Now().counts.missed, 1);
  EXPECT_EQ(jobs.Now().counts.late_ms, 40'000);
}

TEST(BackfillTest, AFreedNodeAndALostOne) {
  Jobs jobs(InOrder(2), {8, 6});
  jobs.Teach("long", 6, 100);
  jobs.Come("root.a", "long", 6);
  jobs.Come("root.a", "long", 6);
  const uint32_t third = jobs.Come("root.a", "long", 6);
  ASSERT_EQ(jobs.Now().now.size(), 1u);
  const model::NodeIndex node = jobs.Now().now[0].node;
  jobs.cluster().Send(ev::NodeRemoved{node});
  EXPECT_FALSE(jobs.Runs(third));
  ASSERT_EQ(jobs.Now().now.size(), 2u) << "also for the one that ran there, which is asked for again";
  for (const PromisedStart& one : jobs.Now().now) EXPECT_NE(one.node, node);
  EXPECT_EQ(jobs.Now().counts.withdrawn, 1);
  EXPECT_EQ(jobs.cluster().scheduler().CheckInvariants(), "");
}

TEST(BackfillTest, AForkAndAStateDecideAlike) {
  Jobs jobs(InOrder(2, 100), {8});
  jobs.Teach("long", 6, 100);
  jobs.Teach("large", 8, 50);
  jobs.Come("root.a", "long", 6);
  jobs.Come("root.a", "large", 8);
  const std::unique_ptr<Scheduler> fork = jobs.cluster().scheduler().Fork();
  EXPECT_EQ(fork->StateHash(), jobs.cluster().scheduler().StateHash());
  const std::unique_ptr<Scheduler> read = MakeFairlead(InOrder(2, 100));
  ASSERT_TRUE(read->ReadState(jobs.cluster().scheduler().State()));
  EXPECT_EQ(read->StateHash(), fork->StateHash());
  EXPECT_EQ(PromisesOf(*read).now.size(), 1u);
  EXPECT_EQ(read->CheckInvariants(), "");
}

/// Jobs that come at random to queues of their own policy, on nodes of different sizes; each runs exactly as long as
/// its kind always did.
class RandomJobs {
 public:
  struct Setting {
    int32_t promises = 1;
    int32_t slack_percent = 0;
    bool fifo = true;
    size_t queues = 1;
  };

  RandomJobs(uint64_t seed, const Setting& setting) : rng_(seed), setting_(setting), jobs_(Config(setting), Nodes()) {
    for (size_t kind = 0; kind < kKinds; ++kind) {
      cores_.push_back(rng_.Between(1, largest_));
      seconds_.push_back(rng_.Between(1, 200));
      jobs_.Teach("k" + std::to_string(kind), cores_.back(), seconds_.back());
    }
  }

  /// Calls look() after every step.
  template <class Look>
  void Run(int count, Look look) {
    int64_t next = 0;
    while (count > 0 || !ends_.empty()) {
      int64_t at = count > 0 ? next : INT64_MAX;
      if (!ends_.empty()) at = std::min(at, ends_.begin()->first);
      jobs_.Pass(at - now_, {});
      now_ = at;
      while (!ends_.empty() && ends_.begin()->first == now_) {
        const uint32_t app = ends_.begin()->second;
        ends_.erase(ends_.begin());
        jobs_.End(app);
        Started();
        look(*this);
      }
      for (; count > 0 && next == now_; --count) {
        const size_t kind = rng_.Below(kKinds);
        const std::string queue = "root.q" + std::to_string(rng_.Below(setting_.queues));
        kinds_[jobs_.Come(queue, "k" + std::to_string(kind), cores_[kind])] = kind;
        next += rng_.Between(0, 20);
        Started();
        look(*this);
      }
    }
    for (const auto& [app, kind] : kinds_) ASSERT_TRUE(started_.contains(app)) << "an application never started";
    ASSERT_EQ(jobs_.cluster().scheduler().CheckInvariants(), "");
  }
  /// The first moment at which some node has room for the job if nothing else starts.
  int64_t AloneAt(uint32_t app) const {
    int64_t first = INT64_MAX;
    for (size_t node = 0; node < nodes_.size(); ++node) {
      int64_t free = nodes_[node];
      std::vector<std::pair<int64_t, int64_t>> ends;
      for (const auto& [end, other] : ends_) {
        if (on_.at(other) != node) continue;
        free -= cores_[kinds_.at(other)];
        ends.emplace_back(end, cores_[kinds_.at(other)]);
      }
      int64_t at = now_;
      for (size_t i = 0; free < cores_[kinds_.at(app)] && i < ends.size(); ++i) {
        at = ends[i].first;
        free += ends[i].second;
      }
      if (free >= cores_[kinds_.at(app)]) first = std::min(first, at);
    }
    return first;
  }
  Jobs& jobs() { return jobs_; }
  const std::map<uint32_t, int64_t>& started() const { return started_; }
  const std::map<uint32_t, size_t>& kinds() const { return kinds_; }

 private:
  static constexpr size_t kKinds = 12;

  static FairleadConfig Config(const Setting& setting) {
    FairleadConfig config = InOrder(setting.promises, setting.slack_percent);
    if (setting.fifo) return config;
    config.queues.default_policy = "fair";
    config.queues.wishes.small_jobs = true;
    return config;
  }
  std::vector<int64_t> Nodes() {
    for (int64_t i = rng_.Between(1, 4); i > 0; --i) nodes_.push_back(rng_.Between(4, 16));
    largest_ = *std::max_element(nodes_.begin(), nodes_.end());
    return nodes_;
  }
  void Started() {
    for (const auto& [app, kind] : kinds_) {
      if (started_.contains(app) || !jobs_.Runs(app)) continue;
      started_[app] = now_;
      on_[app] = jobs_.cluster().LiveOf(app).front().node.value;
      ends_.emplace(now_ + seconds_[kind], app);
    }
  }

  base::Rng rng_;
  Setting setting_;
  std::vector<int64_t> nodes_;
  int64_t largest_ = 0;
  Jobs jobs_;
  std::vector<int64_t> cores_;
  std::vector<int64_t> seconds_;
  int64_t now_ = 0;
  std::map<uint32_t, size_t> kinds_;
  std::map<uint32_t, int64_t> started_;
  std::map<uint32_t, size_t> on_;
  std::multimap<int64_t, uint32_t> ends_;
};

TEST(BackfillProperty, NoPromiseIsMissedWhereRunTimesAreExact) {
  int64_t served = 0;
  for (uint64_t seed = base::TestSeed(); seed < base::TestSeed() + 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomJobs::Setting setting;
    setting.promises = static_cast<int32_t>(seed % 4) + 1;
    setting.slack_percent = seed % 3 == 0 ? 0 : static_cast<int32_t>(seed % 3) * 300;
    setting.fifo = seed % 2 == 0;
    setting.queues = seed % 5 == 0 ? 3 : 1;
    RandomJobs run(seed, setting);
    run.Run(80, [](RandomJobs& one) { ASSERT_EQ(PromisesOf(one.jobs().cluster().scheduler()).counts.missed, 0); });
    served += run.jobs().Now().counts.served;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(served, 500) << "the jobs hardly waited";
}

/// Without backfill the first of the line waits until it has room, and nobody passes it.
TEST(BackfillProperty, TheFirstStartsNoLaterThanIfNobodyPassedIt) {
  for (uint64_t seed = base::TestSeed(); seed < base::TestSeed() + 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomJobs run(seed, {});
    std::map<uint32_t, int64_t> alone;
    run.Run(80, [&alone](RandomJobs& one) {
      for (const auto& [app, kind] : one.kinds()) {
        if (one.started().contains(app)) continue;
        alone.try_emplace(app, one.AloneAt(app));  // the first that waits
        break;
      }
    });
    EXPECT_GT(alone.size(), 5u);
    for (const auto& [app, at] : alone) EXPECT_LE(run.started().at(app), at) << "application " << app;
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace fairlead::scheduler
