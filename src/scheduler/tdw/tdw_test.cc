#include "scheduler/tdw/tdw.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "scheduler/fairlead/test_cluster.h"
#include "scheduler/shared/water_fill.h"
#include "scheduler/tdw/standing.h"

// Vectors computed by hand from the article's rules.

namespace fairlead::scheduler {
namespace {

using model::Resources;

model::QueueConfig Pool(const std::string& name, double weight, int64_t low = 0, int64_t high = -1) {
  model::QueueConfig queue;
  queue.name = name;
  queue.weight = weight;
  queue.policy = "fair";
  if (low > 0) queue.min_resources = model::ConfiguredResources{{{"vcores", low}}, {}, 0};
  if (high >= 0) queue.max_resources = model::ConfiguredResources{{{"vcores", high}}, {}, INT64_MAX};
  return queue;
}

TdwConfig Config(std::vector<model::QueueConfig> queues) {
  TdwConfig config;
  config.round_interval = {};
  config.base.queues.queues = std::move(queues);
  return config;
}

class TdwCluster : public TestCluster {
 public:
  explicit TdwCluster(const TdwConfig& config) : TestCluster(MakeTdw(config)) {}
  size_t Count(uint32_t app) const { return LiveOf(app).size(); }
  void AskMaps(std::vector<std::pair<uint32_t, int32_t>> counts) {
    std::vector<ev::Event> events;
    for (const auto& [app, count] : counts) {
      ev::Allocate call;
      call.app = {app};
      call.asks = {Want(count, 1, 1, "*", true, 20)};
      events.push_back(call);
    }
    Send(events);
  }
};

TEST(TdwSharesTest, ArticleTable) {
  const auto fill = [](std::vector<FillItem> items) { return WaterFill(items, 10'000, WhenLowsExceed::kKeep); };
  const int64_t none = int64_t{1} << 45;
  // x = 1285.71: 3857.1, 5142.9, 1000; the unit that rounding leaves goes to the first.
  EXPECT_EQ(fill({{3, 0, 4000}, {4, 0, 9000}, {3, 0, 1000}}), (std::vector<int64_t>{3858, 5142, 1000}));
  EXPECT_EQ(fill({{1, 3000, 5000}, {1, 0, none}, {1, 0, 2000}}), (std::vector<int64_t>{4000, 4000, 2000}));
  EXPECT_EQ(fill({{1, 3000, 500}, {1, 0, none}}), (std::vector<int64_t>{500, 9500}));
  EXPECT_EQ(fill({{3, 3000, 5000}, {7, 0, 9000}}), (std::vector<int64_t>{3000, 7000}));
}

TEST(TdwSharesTest, MinimaAboveTheTotal) {
  const std::vector<FillItem> items = {{1, 8000, 9000}, {1, 6000, 6000}};
  EXPECT_EQ(WaterFill(items, 10'000, WhenLowsExceed::kKeep), (std::vector<int64_t>{8000, 6000}));
  EXPECT_EQ(WaterFill(items, 10'000, WhenLowsExceed::kScale), (std::vector<int64_t>{5715, 4285}));
}

TEST(TdwSharesTest, SolutionIsExactOnRandomItems) {
  base::Rng rng(5);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<FillItem> items;
    int64_t highs = 0;
    int64_t lows = 0;
    for (int64_t n = rng.Between(1, 8); n > 0; --n) {
      const int64_t high = rng.Between(0, 60);
      items.push_back({rng.Between(1, 5), rng.Between(0, 12), high});
      highs += high;
      lows += std::min(items.back().low, high);
    }
    const int64_t total = rng.Between(0, 120);
    const std::vector<int64_t> shares = WaterFill(items, total, WhenLowsExceed::kScale);
    int64_t sum = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      sum += shares[i];
      ASSERT_LE(shares[i], items[i].high);
      ASSERT_GE(shares[i], 0);
      const bool lowest = lows > total || shares[i] >= std::min(items[i].low, items[i].high);
      ASSERT_TRUE(lowest);
    }
    ASSERT_EQ(sum, std::min(total, highs));
    if (lows > total) continue;
    // No taker is further below its weight's level than rounding explains, unless it is at its upper bound, while
    // another stands above both its lower bound and the level.
    for (size_t i = 0; i < items.size(); ++i) {
      for (size_t j = 0; j < items.size(); ++j) {
        if (shares[i] >= items[i].high || shares[j] <= items[j].low) continue;
        ASSERT_GE((shares[i] + 1) * items[j].weight, (shares[j] - 1) * items[i].weight) << i << " " << j;
      }
    }
  }
}

TEST(TdwTest, WorkedOrder) {
  // One group; P1 (min 2, weight 1), P2 (min 0, weight 2); 7 slots: P1, P1, P2, P2, P2, P2, then the older pool: P1.
  TdwCluster cluster(Config({Pool("root.g", 1), Pool("root.g.p1", 1, 2), Pool("root.g.p2", 2)}));
  cluster.App(0, "root.g.p1");
  cluster.App(1, "root.g.p2");
  cluster.AskMaps({{0, 50}, {1, 50}});
  cluster.Node(0, 100, 7);
  std::string order;
  for (const ev::Granted& granted : cluster.Last<ev::Granted>()) order += granted.app.value == 0 ? '1' : '2';
  EXPECT_EQ(order, "1122221");
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(TdwTest, PreferredThenBelowMeanThenAny) {
  TdwCluster cluster(Config({Pool("root.a", 1)}));
  for (uint32_t i = 0; i < 3; ++i) cluster.Node(i, 100, 4);
  cluster.App(0, "root.a");
  // Even cluster, all loads equal the mean: the second pass decides, from node 0 on.
  cluster.AskMaps({{0, 1}});
  EXPECT_EQ(cluster.Last<ev::Granted>()[0].node.value, 0u);
  // The preferred node wins although its load is above the mean.
  cluster.Ask(0, {TestCluster::Want(1, 1, 1, "n0", true, 20), TestCluster::Want(1, 1, 1, "/r", true, 20),
                  TestCluster::Want(1, 1, 1, "*", true, 20)});
  EXPECT_EQ(cluster.Last<ev::Granted>()[0].node.value, 0u);
  EXPECT_EQ(cluster.Last<ev::Granted>()[0].locality, model::Locality::kNodeLocal);
  // Without one: the nodes below the mean (2 of 12) after the last grant's.
  cluster.AskMaps({{0, 2}});
  EXPECT_EQ(cluster.Last<ev::Granted>()[0].node.value, 1u);
  EXPECT_EQ(cluster.Last<ev::Granted>()[1].node.value, 2u);
}

/// Twenty jobs come to a cluster of ten slots; gives how many jobtrackers run.
uint32_t StartTwentyJobs(TdwCluster& cluster) {
  cluster.Node(0, 100, 10);
  for (uint32_t app = 0; app < 20; ++app) {
    cluster.App(app, "root.a", "u", false);
    cluster.Ask(app, {TestCluster::Want(1, 1, 1, "*", true, 0)});
  }
  return static_cast<uint32_t>(cluster.live().size());
}

TEST(TdwTest, JobtrackersLeaveRoomForTasks) {
  TdwCluster cluster(Config({Pool("root.a", 1)}));
  const uint32_t jobtrackers = StartTwentyJobs(cluster);
  EXPECT_EQ(jobtrackers, 5u);
  EXPECT_EQ(cluster.scheduler().Why({jobtrackers}, cluster.now_)[0].reason, ev::PendingReason::kMasterShare);
  cluster.AskMaps({{0, 20}});
  EXPECT_EQ(cluster.Count(0), 6u);
  cluster.Send(ev::AppRemoved{{0}});
  cluster.Send(std::vector<ev::Event>{});
  EXPECT_EQ(cluster.Count(jobtrackers), 1u) << "one that ends lets the next one start";
  EXPECT_EQ(cluster.live().size(), 5u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

/// The article's preemption: pool A (w 3, min 30) has 20 and waits for 30; pool B (w 7) has b1 60 (5 more), b2 20 (5
/// more), a hundredth of the page's numbers. need = 10; b1's share is 45, so k = 15.
class TdwPreemptionTest : public ::testing::TestWithParam<bool> {};

TEST_P(TdwPreemptionTest, WorkedPreemption) {
  TdwConfig config = Config({Pool("root.a", 3, 30, 100), Pool("root.b", 7, 0, 100)});
  config.over_kill = GetParam();
  TdwCluster cluster(config);
  cluster.Node(0, 1000, 100);
  cluster.App(0, "root.a");
  cluster.App(1, "root.b");
  cluster.App(2, "root.b");
  cluster.AskMaps({{0, 20}});
  cluster.AskMaps({{2, 20}});
  cluster.AskMaps({{1, 48}});
  cluster.now_ = {400'000'000'000};
  cluster.AskMaps({{1, 12}});  // young at t = 500 s: 12 of b1's 60
  ASSERT_EQ(cluster.Count(1), 60u);
  cluster.now_ = {500'000'000'000};
  cluster.AskMaps({{1, 5}, {2, 5}});
  EXPECT_TRUE(cluster.Last<ev::Finished>().empty());  // nobody is hungry with something to want
  cluster.AskMaps({{0, 30}});
  const auto finished = cluster.Last<ev::Finished>();
  EXPECT_EQ(finished.size(), GetParam() ? 12u : 10u);
  for (const ev::Finished& one : finished) {
    EXPECT_EQ(one.app.value, 1u);
    EXPECT_EQ(one.exit_status, -102);
    EXPECT_GT(one.container.value, 48) << "the newest go first, the old stay";
  }
  cluster.Send(std::vector<ev::Event>{});
  EXPECT_GE(cluster.Count(0), 30u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}
INSTANTIATE_TEST_SUITE_P(WithAndWithoutOverKill, TdwPreemptionTest, ::testing::Bool());

TEST(TdwTest, NothingIsTakenBackForWhatFitsNoNode) {
  TdwCluster cluster(Config({Pool("root.a", 1, 3, 100), Pool("root.b", 1, 0, 100)}));
  cluster.Node(0, 1000, 10);
  cluster.App(0, "root.a");
  cluster.App(1, "root.b");
  cluster.AskMaps({{1, 10}});
  cluster.Ask(0, {TestCluster::Want(3, 2000, 1)});
  EXPECT_TRUE(cluster.Last<ev::Finished>().empty());
  EXPECT_EQ(cluster.Count(1), 10u);
  cluster.Ask(0, {TestCluster::Want(0, 2000, 1)});
  cluster.AskMaps({{0, 3}});
  EXPECT_EQ(cluster.Last<ev::Finished>().size(), 3u) << "what fits is taken back for";
}

TEST(TdwTest, WhySeesRoomFreedSinceTheLastRound) {
  TdwConfig config = Config({Pool("root.a", 1)});
  config.round_interval = base::Duration::Seconds(10);
  TdwCluster cluster(config);
  cluster.Node(0, 1000, 1);
  cluster.App(0, "root.a");
  cluster.now_ = {10'000'000'000};
  cluster.AskMaps({{0, 2}});
  ASSERT_EQ(cluster.Count(0), 1u);
  EXPECT_EQ(cluster.scheduler().Why({0}, cluster.now_)[0].reason, ev::PendingReason::kClusterFull);
  cluster.now_ = {11'000'000'000};
  cluster.Complete(cluster.LiveOf(0)[0].container);
  ASSERT_EQ(cluster.Count(0), 0u);
  EXPECT_EQ(cluster.scheduler().Why({0}, cluster.now_)[0].reason, ev::PendingReason::kNextRound);
  cluster.App(1, "root.a");
  cluster.AskMaps({{1, 2}});
  EXPECT_EQ(cluster.scheduler().Why({1}, cluster.now_)[0].reason, ev::PendingReason::kFairShare);
}

TEST(TdwTest, TheFirstRoundIsWaitedFor) {
  TdwConfig config = Config({Pool("root.a", 1)});
  config.round_interval = base::Duration::Seconds(10);
  TdwCluster cluster(config);
  cluster.now_ = {10'000'000'000};
  cluster.Node(0, 1000, 1);
  cluster.App(0, "root.a");
  cluster.AskMaps({{0, 1}});
  EXPECT_EQ(cluster.scheduler().Why({0}, cluster.now_)[0].reason, ev::PendingReason::kNextRound);
}

TEST(TdwTest, QueuesShowTheirTasksByType) {
  TdwCluster cluster(Config({Pool("root.g", 1), Pool("root.g.p", 1, 3)}));
  EXPECT_TRUE(cluster.Queue("root.g.p").tasks.empty()) << "no round yet";
  cluster.Node(0, 1000, 2);
  cluster.App(0, "root.g.p");
  cluster.AskMaps({{0, 9}});
  for (const char* name : {"root", "root.g", "root.g.p"}) {
    const std::vector<TaskCounts> tasks = cluster.Queue(name).tasks;
    ASSERT_EQ(tasks.size(), 3u);
    EXPECT_EQ(tasks[1].type, "map");
    EXPECT_EQ(tasks[1].granted, 2) << name;
    EXPECT_EQ(tasks[1].waiting, 7) << name;
    EXPECT_EQ(tasks[1].missing, 1) << name;
    EXPECT_EQ(tasks[2].waiting, 0) << name;
  }
  EXPECT_NE(cluster.scheduler().Why({0}, cluster.now_)[0].detail.find("root.g.p has 2 of its minimum of 3"),
            std::string::npos);
}

std::vector<model::QueueConfig> RandomPools(base::Rng& rng) {
  std::vector<model::QueueConfig> pools = {Pool("root.a", 1, 3), Pool("root.b", 1), Pool("root.b.x", 2, 0, 9),
                                           Pool("root.b.y", 1, 2), Pool("root.c", 5)};
  for (model::QueueConfig& pool : pools) {
    pool.weight = static_cast<double>(rng.Below(4));
    if (rng.Chance(0.3)) pool.policy = "fifo";
  }
  return pools;
}

TEST(TdwTest, RandomHistoriesKeepTheBooks) {
  const char* pools[] = {"root.a", "root.b.x", "root.b.y", "root.c", "root.d"};  // the last is made when it is used
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Rng rng(seed);
    TdwConfig config = Config(RandomPools(rng));
    config.over_kill = rng.Chance(0.5);
    TdwCluster cluster(config);
    uint32_t added = 0;
    std::vector<uint32_t> apps;
    const auto any_app = [&] { return apps[rng.Below(apps.size())]; };
    for (int step = 0; step < 150; ++step) {
      cluster.now_ = cluster.now_ + base::Duration::Seconds(rng.Between(0, 90));
      const uint64_t what = rng.Below(14);
      if (what < 1 || step == 0) {
        cluster.Node(static_cast<uint32_t>(step), rng.Between(1, 20), rng.Between(1, 8));
      } else if (what < 3 || apps.empty()) {
        apps.push_back(added++);
        cluster.App(apps.back(), pools[rng.Below(5)], "u", rng.Chance(0.5), static_cast<int32_t>(rng.Below(2)));
      } else if (what < 7) {
        cluster.Ask(any_app(), {TestCluster::Want(static_cast<int32_t>(rng.Below(8)), rng.Between(1, 5),
                                                  rng.Between(1, 2), "*", true, rng.Chance(0.5) ? 10 : 20)});
      } else if (what < 8) {
        cluster.Send(ev::AppMoved{{any_app()}, 1, pools[rng.Below(5)]});
      } else if (what < 9) {
        cluster.Send(ev::AppPriority{{any_app()}, static_cast<int32_t>(rng.Below(3))});
      } else if (what < 10) {
        ev::QueuesReloaded reloaded;
        reloaded.tree.queues = RandomPools(rng);
        cluster.Send(reloaded);
      } else if (what < 11) {
        const uint32_t app = any_app();
        std::erase(apps, app);
        cluster.Send(ev::AppRemoved{{app}});
      } else if (!cluster.live().empty()) {
        cluster.Complete(
            std::next(cluster.live().begin(), static_cast<int64_t>(rng.Below(cluster.live().size())))->first);
      }
      ASSERT_EQ(cluster.scheduler().CheckInvariants(), "");
      for (const NodeView& node : cluster.scheduler().GetView().nodes) ASSERT_TRUE(node.used.FitsIn(node.capacity));
    }
  }
}

model::Ask Member(int32_t count, int64_t memory, int64_t gang) {
  model::Ask ask = TestCluster::Want(count, memory, 1, "*", true, 20);
  ask.gang = gang;
  return ask;
}

TEST(TdwGangTest, IsGrantedWholeOrNotAtAll) {
  TdwCluster cluster(Config({Pool("root.g", 1), Pool("root.g.p", 1)}));
  cluster.Node(0, 4, 8);
  cluster.App(0, "root.g.p");
  cluster.Ask(0, {Member(3, 2, 7)});
  EXPECT_EQ(cluster.Count(0), 0u);
  const auto why = cluster.scheduler().Why({0}, cluster.now_);
  ASSERT_EQ(why.size(), 1u);
  EXPECT_EQ(why[0].reason, ev::PendingReason::kGang);
  EXPECT_EQ(why[0].detail, "2 of 3 members of gang 7 fit now");
  cluster.Node(1, 2, 8);
  EXPECT_EQ(cluster.Last<ev::Granted>().size(), 3u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(TdwGangTest, OthersDoNotWaitForIt) {
  TdwCluster cluster(Config({Pool("root.g", 1), Pool("root.g.p", 1)}));
  cluster.Node(0, 4, 8);
  cluster.App(0, "root.g.p");
  cluster.Ask(0, {Member(9, 1, 7), TestCluster::Want(2, 1, 1, "*", true, 20)});
  EXPECT_EQ(cluster.Count(0), 2u);
}

TEST(TdwGangTest, StaysWithinThePoolsMaximumOfTasks) {
  TdwCluster cluster(Config({Pool("root.g", 1), Pool("root.g.p", 1, 0, 2)}));
  cluster.Node(0, 9, 9);
  cluster.App(0, "root.g.p");
  cluster.Ask(0, {Member(3, 1, 7)});
  EXPECT_EQ(cluster.Count(0), 0u);
  EXPECT_EQ(cluster.scheduler().Why({0}, cluster.now_)[0].reason, ev::PendingReason::kQueueMaximum);
  cluster.Ask(0, {Member(2, 1, 7)});
  EXPECT_EQ(cluster.Count(0), 2u);
}

TEST(TdwGangTest, ExpiresAtItsDeadlineAndSaysSo) {
  TdwConfig config = Config({Pool("root.g", 1), Pool("root.g.p", 1)});
  config.base.gang_expiry = base::Duration::Seconds(30);
  TdwCluster cluster(config);
  cluster.Node(0, 4, 8);
  cluster.App(0, "root.g.p");
  cluster.Ask(0, {Member(9, 1, 7)});
  cluster.Send(std::vector<ev::Event>{});
  ASSERT_LE(cluster.scheduler().NextDeadline(), base::Instant{30'000'000'000});
  cluster.now_ = {30'000'000'000};
  cluster.Send(std::vector<ev::Event>{});
  ASSERT_EQ(cluster.Last<ev::GangExpired>().size(), 1u);
  EXPECT_EQ(cluster.Last<ev::GangExpired>()[0].gang, 7);
  EXPECT_TRUE(cluster.scheduler().Why({0}, cluster.now_).empty());
}

TEST(TdwWhyTest, NamesWhatARoundWouldMeet) {
  TdwCluster cluster(Config({Pool("root.g", 1), Pool("root.g.p", 1)}));
  cluster.App(0, "root.g.p");
  const auto why = [&] { return cluster.scheduler().Why({0}, cluster.now_).at(0).reason; };
  cluster.Ask(0, {TestCluster::Want(1, 4, 1, "*", true, 20)});
  EXPECT_EQ(why(), ev::PendingReason::kNoNodes);
  cluster.Node(0, 2, 8);
  EXPECT_EQ(why(), ev::PendingReason::kLargerThanAnyNode);
  ev::Allocate call;
  call.app = {0};
  call.blacklist_add = {"n1"};
  cluster.Send(call);
  cluster.Node(1, 4, 8);
  EXPECT_EQ(why(), ev::PendingReason::kNodesExcluded);
  cluster.App(1, "root.g.p");
  cluster.Ask(1, {TestCluster::Want(1, 4, 1, "n0", true, 20), TestCluster::Want(1, 4, 1, "*", false, 20)});
  EXPECT_EQ(cluster.scheduler().Why({1}, cluster.now_).at(0).reason, ev::PendingReason::kStrictLocality);
}

}  // namespace
}  // namespace fairlead::scheduler
