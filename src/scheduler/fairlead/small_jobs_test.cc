#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "scheduler/fairlead/fairlead.h"
#include "scheduler/fairlead/test_cluster.h"

// Wish small-jobs, and park-masters with it.

namespace fairlead::scheduler {
namespace {

using base::Duration;

FairleadConfig Config(bool park = false, const std::string& policy = "") {
  FairleadConfig config;
  config.queues.wishes.small_jobs = true;
  config.queues.wishes.park_masters = park;
  model::QueueConfig queue;
  queue.name = "root.a";
  if (!policy.empty()) queue.policy = policy;
  config.queues.queues = {queue};
  config.increment = model::Resources::Of(1, 1);
  return config;
}

void Pass(TestCluster& cluster, Duration time) {
  cluster.now_ = cluster.now_ + time;
  cluster.Send(std::vector<ev::Event>{});
}

void EndOne(TestCluster& cluster, uint32_t app) { cluster.Complete(cluster.LiveOf(app).front().container); }

/// A node of four, all taken by application 0, which wants no more; then 1 wants `large` and 2 wants one.
TestCluster Full(const FairleadConfig& config, int32_t large, Duration later) {
  TestCluster cluster(config);
  cluster.Node(0, 4096, 4);
  cluster.App(0, "root.a", "x");
  cluster.Ask(0, {TestCluster::Want(4, 1024, 1)});
  cluster.App(1, "root.a", "y");
  cluster.Ask(1, {TestCluster::Want(large, 1024, 1)});
  cluster.now_ = cluster.now_ + later;
  cluster.App(2, "root.a", "z");
  cluster.Ask(2, {TestCluster::Want(1, 1024, 1)});
  return cluster;
}

TEST(SmallJobsTest, TheLeastWorkComesFirst) {
  TestCluster cluster = Full(Config(), 100, Duration::Seconds(60));
  EndOne(cluster, 0);
  EXPECT_EQ(cluster.LiveOf(1).size(), 0u);
  EXPECT_EQ(cluster.LiveOf(2).size(), 1u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(SmallJobsTest, NobodyIsPassedByWhoCameLaterThanTheBound) {
  FairleadConfig config = Config();
  config.small_jobs.bound = Duration::Seconds(60);
  TestCluster cluster = Full(config, 100, Duration::Seconds(61));
  EndOne(cluster, 0);
  EXPECT_EQ(cluster.LiveOf(1).size(), 1u);
  EXPECT_EQ(cluster.LiveOf(2).size(), 0u);
}

TEST(SmallJobsTest, AFifoQueueStaysOne) {
  TestCluster cluster = Full(Config(false, "fifo"), 100, Duration::Seconds(60));
  EndOne(cluster, 0);
  EXPECT_EQ(cluster.LiveOf(1).size(), 1u);
}

TEST(SmallJobsTest, ARefreshSwitchesIt) {
  FairleadConfig config = Config();
  config.queues.wishes = {};
  TestCluster cluster = Full(config, 100, Duration::Seconds(60));
  ev::QueuesReloaded reload{Config().queues, 1};
  cluster.Send(reload);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
  EndOne(cluster, 0);
  EXPECT_EQ(cluster.LiveOf(2).size(), 1u);
}

/// A job that runs for longer than the bound, with a task each minute and small ones that come all the time, does not
/// pass them: it has its part.
TEST(SmallJobsTest, AJobMayRunForLongerThanTheBound) {
  FairleadConfig config = Config();
  config.small_jobs.bound = Duration::Seconds(600);
  TestCluster cluster(config);
  cluster.Node(0, 40'960, 40);
  cluster.App(0, "root.a", "x");
  cluster.Ask(0, {TestCluster::Want(1000, 1024, 1)});
  for (uint32_t minute = 1; minute <= 60; ++minute) {
    Pass(cluster, Duration::Seconds(60));
    cluster.App(minute, "root.a", "y");
    cluster.Ask(minute, {TestCluster::Want(1, 1024, 1)});
    EndOne(cluster, 0);
    ASSERT_EQ(cluster.LiveOf(minute).size(), 1u) << minute;
    EndOne(cluster, minute);
    ASSERT_EQ(cluster.LiveOf(0).size(), 40u) << minute;
    ASSERT_EQ(cluster.scheduler().CheckInvariants(), "");
  }
}

/// In a queue of jobs whose tasks are alike, no task is given to a job while another waits that has had nothing since
/// more than the bound before the first one came.
RC_GTEST_PROP(SmallJobsProperty, TheBoundHolds, ()) {
  FairleadConfig config = Config();
  config.small_jobs.bound = Duration::Seconds(*rc::gen::inRange(1, 100));
  TestCluster cluster(config);
  cluster.Node(0, 4096, 4);
  std::map<uint32_t, base::Instant> came;
  std::map<uint32_t, base::Instant> had;  // a container, or came
  std::map<uint32_t, int32_t> waits;
  uint32_t next = 0;
  for (int step = 0; step < 200; ++step) {
    cluster.now_ = cluster.now_ + Duration::Millis(*rc::gen::inRange(0, 5000));
    const auto live = cluster.live();
    if (!live.empty() && *rc::gen::inRange(0, 2) == 0) {
      const size_t which = *rc::gen::inRange<size_t>(0, live.size());
      cluster.Complete(std::next(live.begin(), static_cast<std::ptrdiff_t>(which))->first);
    } else {
      const uint32_t app = next++;
      came[app] = had[app] = cluster.now_;
      waits[app] = *rc::gen::inRange(1, 50);
      cluster.App(app, "root.a", "u" + std::to_string(*rc::gen::inRange(0, 3)));
      cluster.Ask(app, {TestCluster::Want(waits[app], 1024, 1)});
    }
    for (const auto& grant : cluster.Last<ev::Granted>()) {
      const uint32_t app = grant.app.value;
      for (const auto& [other, count] : waits) {
        RC_ASSERT(count == 0 || had[other] + config.small_jobs.bound >= came[app]);
      }
      --waits[app];
    }
    for (const auto& [id, one] : cluster.live()) had[one.grant.app.value] = cluster.now_;
    RC_ASSERT(cluster.scheduler().CheckInvariants() == "");
  }
}

/// Ten slots, tasks of one step each, five other users with a job every few steps; when the last of 1,000 tasks ends
/// that one user brings at once as `pieces` jobs.
int LastEnd(uint32_t pieces) {
  TestCluster cluster(Config());
  cluster.Node(0, 10'240, 10);
  uint32_t next = 0;
  const auto bring = [&](const std::string& user, int32_t tasks) {
    cluster.App(next, "root.a", user);
    cluster.Ask(next++, {TestCluster::Want(tasks, 1024, 1)});
  };
  for (int i = 0; i < 20; ++i) bring("other" + std::to_string(i % 5), 10 + 7 * i);
  const uint32_t first = next;
  for (uint32_t i = 0; i < pieces; ++i) bring("cutter", static_cast<int32_t>(1000 / pieces));
  int64_t left = 1000;
  for (int step = 1; step < 2000; ++step) {
    cluster.now_ = cluster.now_ + Duration::Seconds(60);
    const auto live = cluster.live();
    for (const auto& [id, one] : live) {
      left -= one.grant.app.value >= first && one.grant.app.value < first + pieces ? 1 : 0;
      cluster.Complete(id);
    }
    if (left == 0) return step;
    if (step % 4 == 0) bring("other" + std::to_string(step % 5), 5 + step % 30);
  }
  return -1;
}

TEST(SmallJobsTest, AJobCutIntoAHundredGainsLessThanOnePercent) {
  const int whole = LastEnd(1);
  const int cut = LastEnd(100);
  ASSERT_GT(whole, 0);
  ASSERT_GT(cut, 0);
  EXPECT_GE(cut * 100, whole * 99) << cut << " steps after " << whole;
}

/// Whether an ask for a whole node, which is next in its queue, is served among more sizes than there are classes, each
/// smaller than it.
bool LargeAskIsServed(const FairleadConfig& config) {
  TestCluster cluster(config);
  for (uint32_t node = 0; node < 4; ++node) cluster.Node(node, 10'000, 4);
  cluster.App(0, "root.a", "x");
  cluster.Ask(0, {TestCluster::Want(16, 1000, 1)});
  cluster.App(1, "root.a", "y");
  cluster.Ask(1, {TestCluster::Want(1, 4000, 4)});
  for (uint32_t app = 2; app < 102; ++app) {
    cluster.App(app, "root.a", "u" + std::to_string(app));
    cluster.Ask(app, {TestCluster::Want(20, 1000 + app, 1)});
  }
  for (int step = 0; step < 300 && cluster.LiveOf(1).empty(); ++step) {
    Pass(cluster, Duration::Seconds(1));
    const auto live = cluster.live();
    cluster.Complete(std::next(live.begin(), step % static_cast<int>(live.size()))->first);
    EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
  }
  return !cluster.LiveOf(1).empty();
}

TEST(SmallJobsTest, ALargeAskHasItsTurnAmongManySizes) {
  EXPECT_TRUE(LargeAskIsServed(Config()));
  FairleadConfig off = Config();
  off.queues.wishes = {};
  EXPECT_FALSE(LargeAskIsServed(off)) << "without the switch it starves: docs/wishes.md says so";
}

/// Four nodes, one at most is kept: root.a has them all but for a core, and both queues wait for a whole node, and
/// for small tasks that would take what becomes free.
TEST(SmallJobsTest, ANodeIsKeptForTheQueueThatHasLeastOfItsShare) {
  FairleadConfig config = Config();
  config.queues.queues.emplace_back().name = "root.b";
  TestCluster cluster(config);
  for (uint32_t node = 0; node < 4; ++node) cluster.Node(node, 10'000, 4);
  cluster.App(0, "root.a", "x");
  cluster.Ask(0, {TestCluster::Want(15, 1000, 1)});
  cluster.App(1, "root.b", "y");
  cluster.Ask(1, {TestCluster::Want(1, 1000, 1)});
  for (const uint32_t app : {2, 3}) {
    cluster.App(app, app == 2 ? "root.a" : "root.b", "z");
    cluster.Ask(app, {TestCluster::Want(1, 4000, 4)});
    cluster.App(app + 2, app == 2 ? "root.a" : "root.b", "s");
    cluster.Ask(app + 2, {TestCluster::Want(100, 1000, 1)});
  }
  std::vector<ev::Reserved> kept;
  for (int second = 0; second < 5 && kept.empty(); ++second) {
    Pass(cluster, Duration::Seconds(1));
    kept = cluster.Last<ev::Reserved>();
  }
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].app.value, 3u) << "root.b's, though root.a has the smaller number";
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

/// Twenty nodes without a free core: one job waits for six whole nodes, another for `small` tasks of a core.
size_t NodesKept(int32_t small) {
  FairleadConfig config = Config();
  config.small_jobs = {};
  TestCluster cluster(config);
  for (uint32_t node = 0; node < 20; ++node) cluster.Node(node, 10'000, 4);
  cluster.App(0, "root.a", "x");
  cluster.Ask(0, {TestCluster::Want(80, 1000, 1)});
  cluster.App(1, "root.a", "y");
  cluster.Ask(1, {TestCluster::Want(6, 4000, 4)});
  cluster.App(2, "root.a", "z");
  cluster.Ask(2, {TestCluster::Want(small, 1000, 1)});
  std::set<uint32_t> kept;
  for (int second = 0; second < 8; ++second) {
    Pass(cluster, Duration::Seconds(1));
    for (const ev::Reserved& one : cluster.Last<ev::Reserved>()) kept.insert(one.node.value);
  }
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
  return kept.size();
}

TEST(SmallJobsTest, FewNodesAreKeptWhereLittleWaits) {
  EXPECT_EQ(NodesKept(1), 3u) << "25 of 80 cores wait: of the six, 2 * 25 / 80";
  EXPECT_EQ(NodesKept(15), 5u);
  EXPECT_EQ(NodesKept(300), 6u) << "30 % of the nodes";
}

/// A node whose cores are all taken: by a task of 0 and by masters that only wait, of 1 to 5, which want more and more.
class ParkingTest : public testing::Test {
 protected:
  static constexpr uint32_t kLast = 5;

  void Begin(const FairleadConfig& config, bool restartable = true) {
    cluster_ = std::make_unique<TestCluster>(config);
    cluster_->Node(0, 16'384, 16);
    Start(0, true);
    cluster_->Ask(0, {TestCluster::Want(10, 1024, 1)});
    for (uint32_t app = 1; app <= kLast; ++app) Start(app, restartable);
    for (uint32_t app = 1; app <= kLast; ++app) AskForTasks(app);
    for (uint32_t app = 0; app <= kLast; ++app) EXPECT_GE(cluster_->LiveOf(app).size(), 1u) << app;
  }
  void AskForTasks(uint32_t app) { cluster_->Ask(app, {TestCluster::Want(10 * static_cast<int32_t>(app), 1024, 1)}); }
  void Start(uint32_t app, bool restartable) {
    ev::AppAdded added;
    added.app = {app};
    added.id = {1, static_cast<int32_t>(app) + 1};
    added.queue = "root.a";
    added.user = "u" + std::to_string(app);
    added.place = false;
    added.session.restartable = restartable;
    cluster_->Send({added, ev::AttemptAdded{{app}, 1, false}});
    AskForMaster(app);
  }
  void AskForMaster(uint32_t app) { cluster_->Ask(app, {TestCluster::Want(1, 1024, 1, "*", true, 0)}); }
  std::vector<ev::Finished> After(Duration time) {
    Pass(*cluster_, time);
    EXPECT_EQ(cluster_->scheduler().CheckInvariants(), "");
    return cluster_->Last<ev::Finished>();
  }

  std::unique_ptr<TestCluster> cluster_;
};

TEST_F(ParkingTest, ANewMasterWhoseTurnIsFarIsEndedOnceAndStartsAgain) {
  Begin(Config(true));
  const auto ended = After(Duration::Seconds(3));
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].app.value, kLast) << "the largest";
  EXPECT_EQ(ended[0].exit_status, model::kExitPreempted);
  EXPECT_EQ(cluster_->LiveOf(1).size(), 2u) << "the smallest has the room";
  cluster_->Send({ev::AttemptRemoved{{kLast}, 1, false}, ev::AttemptAdded{{kLast}, 2, false}});
  AskForMaster(kLast);
  EXPECT_EQ(cluster_->LiveOf(kLast).size(), 0u) << "it is not its turn";
  cluster_->Send(ev::AppRemoved{{0}});
  for (uint32_t app = 1; app < kLast; ++app) cluster_->Send(ev::AppRemoved{{app}});
  ASSERT_EQ(cluster_->LiveOf(kLast).size(), 1u);
  for (uint32_t app = 6; app < 11; ++app) {
    Start(app, true);
    cluster_->Ask(app, {TestCluster::Want(1, 16'384, 16)});
  }
  cluster_->Ask(kLast, {TestCluster::Want(50, 16'384, 16)});
  for (int i = 0; i < 3; ++i) {
    for (const ev::Finished& one : After(Duration::Seconds(3))) EXPECT_NE(one.app.value, kLast);
  }
}

TEST_F(ParkingTest, NotAMasterThatHasRunForAMinute) {
  FairleadConfig config = Config(true);
  config.queues.wishes.park_masters = false;
  Begin(config);
  EXPECT_TRUE(After(Duration::Seconds(61)).empty());
  ev::QueuesReloaded reload{Config(true).queues, 1};
  cluster_->Send(reload);
  EXPECT_TRUE(After(Duration::Seconds(3)).empty());
}

TEST_F(ParkingTest, NotWithoutTheSwitch) {
  Begin(Config(false));
  EXPECT_TRUE(After(Duration::Seconds(3)).empty());
}

TEST_F(ParkingTest, NotInAFifoQueue) {
  Begin(Config(true, "fifo"));
  EXPECT_TRUE(After(Duration::Seconds(3)).empty());
}

TEST_F(ParkingTest, NotAnApplicationThatCannotStartAgain) {
  Begin(Config(true), false);
  EXPECT_TRUE(After(Duration::Seconds(3)).empty());
}

TEST_F(ParkingTest, NotInAQueueFromWhichNothingIsTaken) {
  FairleadConfig config = Config(true);
  config.queues.queues[0].allow_preemption_from = false;
  Begin(config);
  EXPECT_TRUE(After(Duration::Seconds(3)).empty());
}

}  // namespace
}  // namespace fairlead::scheduler
