#include "scheduler/fairlead/fairlead.h"

#include <gtest/gtest.h>

#include "scheduler/fairlead/test_cluster.h"

namespace fairlead::scheduler {
namespace {

using model::Locality;
using model::Resources;

model::QueueConfig Queue(const std::string& name, double weight = 1) {
  model::QueueConfig queue;
  queue.name = name;
  queue.weight = weight;
  return queue;
}

model::ConfiguredResources Amount(int64_t memory, int64_t cores) {
  return {{{"memory-mb", memory}, {"vcores", cores}}, {}, 0};
}

size_t Count(const TestCluster& cluster, uint32_t app) { return cluster.LiveOf(app).size(); }

TEST(FairleadTest, GrantRidesOnTheStepOfTheAsk) {
  TestCluster cluster;
  cluster.Node(0, 4096, 4);
  cluster.App(0, "root.a", "u", false);
  cluster.Ask(0, {TestCluster::Want(1, 1024, 1, "*", true, 0)});
  const auto granted = cluster.Last<ev::Granted>();
  ASSERT_EQ(granted.size(), 1u);
  EXPECT_TRUE(granted[0].is_master);
  EXPECT_EQ(model::ToString(granted[0].container), "container_1_0001_01_000001");
  const auto answers = cluster.Last<ev::AllocateAnswered>();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].headroom, Resources::Of(3072, 3));
  cluster.Ask(0, {TestCluster::Want(2, 1024, 1)});
  ASSERT_EQ(cluster.Last<ev::Granted>().size(), 2u);
  EXPECT_FALSE(cluster.Last<ev::Granted>()[0].is_master);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(FairleadTest, WhatRunsOnAClosedNodeTakesNothingFromTheOthersRoom) {
  TestCluster cluster;
  cluster.Node(0, 4096, 4);
  cluster.App(0, "root.a");
  cluster.Ask(0, {TestCluster::Want(1, 1024, 1)});
  ASSERT_EQ(cluster.Last<ev::Granted>().size(), 1u);
  cluster.Send(ev::Acquired{{0}, {cluster.Last<ev::Granted>()[0].container}});
  cluster.Node(1, 4096, 4);
  cluster.Send(ev::NodeSchedulable{{0}, false});
  cluster.Ask(0, {});
  EXPECT_EQ(cluster.Last<ev::AllocateAnswered>().at(0).headroom, Resources::Of(4096, 4));
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
  cluster.Send(ev::NodeSchedulable{{0}, true});
  cluster.Ask(0, {});
  EXPECT_EQ(cluster.Last<ev::AllocateAnswered>().at(0).headroom, Resources::Of(7168, 7));
  cluster.Send(ev::NodeSchedulable{{0}, false});
  cluster.Send(ev::NodeRemoved{{0}});
  cluster.Ask(0, {});
  EXPECT_EQ(cluster.Last<ev::AllocateAnswered>().at(0).headroom, Resources::Of(4096, 4));
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

// AbstractYarnScheduler.recoverResourceRequestForContainer: its master has not heard of it and would wait for ever.
TEST(FairleadTest, AGrantThatIsLostBeforeItsMasterHeardOfItIsAskedForAgain) {
  TestCluster cluster;
  cluster.Node(0, 4096, 4, "/r0");
  cluster.Node(1, 4096, 4, "/r1");
  cluster.App(0, "root.a");
  cluster.Ask(0, {TestCluster::Want(2, 1024, 1, "*", false), TestCluster::Want(2, 1024, 1, "n0"),
                  TestCluster::Want(2, 1024, 1, "/r0")});
  const auto granted = cluster.Last<ev::Granted>();
  ASSERT_EQ(granted.size(), 2u);
  cluster.Send(ev::Acquired{{0}, {granted[0].container}});
  cluster.Send({ev::NodeRemoved{{0}}, ev::NodeSchedulable{{1}, false}});
  EXPECT_EQ(cluster.Last<ev::Finished>().size(), 2u);
  const auto waits = cluster.scheduler().Why({0}, cluster.now_);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].ask.count, 1);
  cluster.Send(ev::NodeSchedulable{{1}, true});
  EXPECT_TRUE(cluster.Last<ev::Granted>().empty()) << "it still wants its rack";
  cluster.Node(2, 4096, 4, "/r0");
  ASSERT_EQ(cluster.Last<ev::Granted>().size(), 1u);
  EXPECT_EQ(cluster.Last<ev::Granted>()[0].node.value, 2u) << "still beside its rack";
  cluster.Send(ev::ContainerEnded{cluster.Last<ev::Granted>()[0].container, model::kExitAborted});
  EXPECT_EQ(cluster.Last<ev::Granted>().size(), 1u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(FairleadTest, WhyNamesRemediesThatCanWork) {
  FairleadConfig config;
  config.queues.queues = {Queue("root.small")};
  config.queues.queues.back().max_resources = model::ConfiguredResources{{{"memory-mb", 2048}, {"vcores", 2}}, {}, 0};
  TestCluster cluster(config);
  cluster.Node(0, 8192, 8);
  cluster.App(0, "root.small");
  cluster.App(1, "root.small");
  cluster.Ask(0, {TestCluster::Want(1, 4096, 1)});
  cluster.Ask(1, {TestCluster::Want(3, 1024, 1)});
  const ev::Pending never = cluster.scheduler().Why({0}, cluster.now_).at(0);
  const ev::Pending later = cluster.scheduler().Why({1}, cluster.now_).at(0);
  EXPECT_EQ(never.remedy, "raise maxResources of root.small, or ask for less");
  EXPECT_EQ(later.remedy, "raise maxResources of root.small, or wait for its containers to end");
}

TEST(FairleadTest, WhatFitsOnlyWithoutTheMasterNeverFits) {
  FairleadConfig config;
  config.queues.queues = {Queue("root.small")};
  config.queues.queues.back().max_resources = Amount(2048, 1);
  TestCluster cluster(config);
  cluster.Node(0, 8192, 8);
  cluster.App(0, "root.small", "u", false);
  cluster.Ask(0, {TestCluster::Want(1, 1024, 1, "*", true, 0)});
  cluster.Ask(0, {TestCluster::Want(1, 1024, 1)});
  const ev::Pending why = cluster.scheduler().Why({0}, cluster.now_).at(0);
  EXPECT_NE(why.detail.find("not even beside the application's master alone"), std::string::npos) << why.detail;
  EXPECT_EQ(why.remedy, "raise maxResources of root.small, or ask for less");
}

TEST(FairleadTest, EpochStandsInContainerNumbers) {
  FairleadConfig config;
  config.epoch = 3;
  TestCluster cluster(config);
  cluster.Node(0, 4096, 4);
  cluster.App(0, "root.a");
  cluster.Ask(0, {TestCluster::Want(1, 1024, 1)});
  EXPECT_EQ(model::ToString(cluster.Last<ev::Granted>()[0].container), "container_e03_1_0001_01_000001");
}

TEST(FairleadTest, NodeThenRackThenAnywhereWithBoundedWaits) {
  FairleadConfig config;
  config.node_locality_wait = base::Duration::Millis(100);
  config.rack_locality_wait = base::Duration::Millis(50);
  TestCluster cluster(config);
  cluster.Node(0, 1, 1, "/r0");
  cluster.Node(1, 1, 1, "/r0");
  cluster.Node(2, 4, 4, "/r1");
  cluster.App(0, "root.a");
  cluster.Ask(0, {TestCluster::Want(4, 1, 1, "n0"), TestCluster::Want(4, 1, 1, "/r0"), TestCluster::Want(4, 1, 1)});
  ASSERT_EQ(cluster.Last<ev::Granted>().size(), 1u);
  EXPECT_EQ(cluster.Last<ev::Granted>()[0].locality, Locality::kNodeLocal);
  EXPECT_EQ(cluster.scheduler().NextDeadline(), base::Instant{100'000'000});
  EXPECT_EQ(cluster.scheduler().Why({0}, cluster.now_)[0].reason, ev::PendingReason::kWaitingForLocality);
  cluster.now_ = {100'000'000};
  cluster.Send(std::vector<ev::Event>{});
  ASSERT_EQ(cluster.Last<ev::Granted>().size(), 1u);
  EXPECT_EQ(cluster.Last<ev::Granted>()[0].locality, Locality::kRackLocal);
  cluster.now_ = {150'000'000};
  cluster.Send(std::vector<ev::Event>{});
  ASSERT_EQ(cluster.Last<ev::Granted>().size(), 2u);
  EXPECT_EQ(cluster.Last<ev::Granted>()[1].locality, Locality::kOffSwitch);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(FairleadTest, LaunchedContainerHoldsItsNodeUntilReported) {
  TestCluster cluster;
  cluster.Node(0, 1, 1);
  cluster.App(0, "root.a");
  cluster.Ask(0, {TestCluster::Want(2, 1, 1)});
  const model::ContainerId id = cluster.LiveOf(0)[0].container;
  cluster.live()[id].launched = true;
  cluster.Send(ev::NodeUpdated{{0}, {id}, {}});
  cluster.Ask(0, {}, {id});
  EXPECT_EQ(cluster.Last<ev::Finished>().size(), 1u);
  EXPECT_EQ(cluster.Queue("root.a").used, Resources{});
  EXPECT_TRUE(cluster.Last<ev::Granted>().empty());
  cluster.Send(ev::NodeUpdated{{0}, {}, {{id, 0}}});
  EXPECT_EQ(cluster.Last<ev::Granted>().size(), 1u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(FairleadTest, LostNodeEndsItsContainers) {
  TestCluster cluster;
  cluster.Node(0, 2, 2);
  cluster.Node(1, 2, 2);
  cluster.App(0, "root.a");
  cluster.Ask(0, {TestCluster::Want(4, 1, 1)});
  cluster.Send(ev::NodeRemoved{{0}});
  const auto finished = cluster.Last<ev::Finished>();
  ASSERT_EQ(finished.size(), 2u);
  EXPECT_EQ(finished[0].exit_status, -100);
  EXPECT_EQ(cluster.Queue("root").used, Resources::Of(2, 2));
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(FairleadTest, MastersNeverFillTheCluster) {
  // 20 managed applications on a cluster that fits 10 containers. With the share for masters every one of them ends
  // after one container of work; without it 10 masters fill the cluster and nobody gets a worker.
  for (const bool limited : {true, false}) {
    FairleadConfig config;
    config.queues.queue_max_am_share_default = limited ? 0.5 : -1.0;
    config.cluster_master_share = limited ? 800 : 1000;
    TestCluster cluster(config);
    cluster.Node(0, 10, 10);
    std::vector<ev::Event> all;
    for (uint32_t i = 0; i < 20; ++i) cluster.App(i, "root.a", "u", false);
    for (uint32_t i = 0; i < 20; ++i) {
      ev::Allocate call;
      call.app = {i};
      call.asks = {TestCluster::Want(1, 1, 1, "*", true, 0)};
      all.push_back(call);
    }
    cluster.Send(all);
    for (uint32_t i = 0; i < 20; ++i) cluster.Ask(i, {TestCluster::Want(1, 1, 1)});
    int ended = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t i = 0; i < 20; ++i) {
        const auto live = cluster.LiveOf(i);
        if (live.size() < 2) continue;
        cluster.Send(ev::AppRemoved{{i}});
        moved = true;
        ++ended;
      }
    }
    EXPECT_EQ(ended, limited ? 20 : 0);
    EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
  }
}

TEST(FairleadTest, BadAsksAreRefusedWhole) {
  TestCluster cluster;
  cluster.Node(0, 10, 10);
  cluster.App(0, "root.a");
  const model::Ask good = TestCluster::Want(1, 1, 1);
  for (model::Ask bad : {TestCluster::Want(1, -1, 1), TestCluster::Want(1, 0, 0), TestCluster::Want(-1, 1, 1),
                         TestCluster::Want(INT32_MAX, int64_t{1} << 40, 1), TestCluster::Want(1, INT64_MAX, 1),
                         TestCluster::Want(1, 1, 1, "")}) {
    cluster.Ask(0, {good, bad});
    EXPECT_EQ(cluster.Last<ev::CallRefused>().size(), 1u);
    EXPECT_TRUE(cluster.Last<ev::Granted>().empty());
    EXPECT_TRUE(cluster.Last<ev::AllocateAnswered>().empty());
  }
  std::vector<model::Ask> many;
  for (int32_t i = 0; i < 20'000; ++i) many.push_back(TestCluster::Want(1, 1, 1, "*", true, i));
  cluster.Ask(0, many);
  EXPECT_EQ(cluster.Last<ev::CallRefused>().size(), 1u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(FairleadTest, BadReloadChangesNothing) {
  FairleadConfig config;
  config.queues.queues = {Queue("root.a", 2)};
  TestCluster cluster(config);
  cluster.Node(0, 10, 10);
  cluster.App(0, "root.a");
  const uint64_t before = cluster.scheduler().StateHash();
  model::QueueTree tree;
  tree.queues = {Queue("root.a", -1)};
  cluster.Send(ev::QueuesReloaded{tree});
  ASSERT_EQ(cluster.Last<ev::CallRefused>().size(), 1u);
  EXPECT_EQ(
      cluster.Last<ev::CallRefused>()[0].refused,
      (model::Refused{model::Refusal::kBadQueues, {"queue root.a: weight must be a number from 0 to 262144"}, {}, {}}));
  tree.queues = {Queue("root.a.child")};
  cluster.Send(ev::QueuesReloaded{tree});
  EXPECT_EQ(cluster.Last<ev::CallRefused>().size(), 1u);
  EXPECT_EQ(cluster.scheduler().StateHash(), before);
  tree.queues = {Queue("root.b")};
  cluster.Send(ev::QueuesReloaded{tree});
  EXPECT_TRUE(cluster.Last<ev::CallRefused>().empty());
  EXPECT_EQ(cluster.Queue("root.a").weight, 1);  // kept for its application, with default settings
  cluster.Send(ev::AppRemoved{{0}});
  EXPECT_EQ(cluster.Queue("root.a").name, "");
}

TEST(FairleadTest, MoveTakesUsageAlong) {
  FairleadConfig config;
  config.queues.queues = {Queue("root.a"), Queue("root.b"), Queue("root.c")};
  config.queues.queues[2].max_resources = Amount(1, 1);
  TestCluster cluster(config);
  cluster.Node(0, 10, 10);
  cluster.App(0, "root.a", "u", false);
  cluster.Ask(0, {TestCluster::Want(3, 1, 1)});
  cluster.Send(ev::AppMoved{{0}, 7, "b"});
  EXPECT_EQ(cluster.Last<ev::MoveAnswered>().at(0).queue, "root.b");
  EXPECT_EQ(cluster.Queue("root.a").used, Resources{});
  EXPECT_EQ(cluster.Queue("root.b").used, Resources::Of(3, 3));
  EXPECT_EQ(cluster.Queue("root.b").master_used, Resources::Of(1, 1));
  cluster.Send(ev::AppMoved{{0}, 8, "root.c"});
  EXPECT_EQ(cluster.Last<ev::CallRefused>().at(0).refused.why, model::Refusal::kMoveQueueMaximum);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(FairleadTest, ResizeWithinNodeAndQueue) {
  TestCluster cluster;
  cluster.Node(0, 4, 4);
  cluster.App(0, "root.a");
  cluster.Ask(0, {TestCluster::Want(1, 1, 1)});
  const model::ContainerId id = cluster.LiveOf(0)[0].container;
  cluster.Send(ev::ContainerResized{id, Resources::Of(3, 2), 1});
  EXPECT_EQ(cluster.Last<ev::ResizeAnswered>().at(0).token, 1u);
  EXPECT_EQ(cluster.Queue("root.a").used, Resources::Of(3, 2));
  cluster.Send(ev::ContainerResized{id, Resources::Of(5, 2), 2});
  EXPECT_EQ(cluster.Last<ev::CallRefused>().at(0).refused.why, model::Refusal::kResizeNodeFull);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(FairleadTest, RecoveredContainersAreCounted) {
  FairleadConfig config;
  config.epoch = 1;
  TestCluster cluster(config);
  cluster.Node(0, 4, 4);
  cluster.App(0, "root.a", "u", false);
  const model::ContainerId old{{{1, 1}, 1}, 1};
  cluster.Send(ev::ContainerRecovered{{0}, {0}, old, Resources::Of(1, 1), 0, true});
  EXPECT_EQ(cluster.Queue("root.a").master_used, Resources::Of(1, 1));
  cluster.Ask(0, {TestCluster::Want(9, 1, 1)});
  EXPECT_EQ(Count(cluster, 0), 3u);
  EXPECT_FALSE(cluster.LiveOf(0)[0].is_master);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(FairleadTest, PlacementRulesChooseTheQueue) {
  FairleadConfig config;
  config.queues.placement = {{"specified", false, "", {}},
                             {"nestedUserQueue", true, "", {{"primaryGroup", true, "", {}}}}};
  TestCluster cluster(config);
  ev::AppAdded added;
  added.app = {0};
  added.id = {1, 1};
  added.user = "ann.b";
  added.groups = {"science"};
  cluster.Send(added);
  ASSERT_EQ(cluster.Last<ev::AppAccepted>().size(), 1u);
  EXPECT_EQ(cluster.Last<ev::AppAccepted>()[0].queue, "root.science.ann_dot_b");
  added.app = {1};
  added.queue = "root.science";
  cluster.Send(added);
  EXPECT_EQ(cluster.Last<ev::CallRefused>().at(0).refused.why, model::Refusal::kNotALeaf);
  added.app = {2};
  added.queue = "";
  added.groups = {};
  cluster.Send(added);
  EXPECT_EQ(cluster.Last<ev::CallRefused>().at(0).refused,
            (model::Refused{model::Refusal::kNoGroups, {"ann.b"}, {}, {}}));
}

TEST(FairleadTest, AQueueThatMayHaveNothingRefusesApplications) {
  FairleadConfig config;
  config.queues.queues.resize(2);
  config.queues.queues[0].name = "root.t";
  config.queues.queues[0].parent_type = true;
  config.queues.queues[0].max_resources.emplace().absolute = {{"memory-mb", 4096}, {"vcores", 0}};
  config.queues.queues[0].max_resources->unnamed = INT64_MAX;
  config.queues.queues[1].name = "root.t.leaf";
  TestCluster cluster(config);
  ev::AppAdded added;
  added.app = {0};
  added.id = {1, 1};
  added.queue = "root.t.leaf";
  added.master_asks.emplace_back().capability = Resources::Of(1024, 1);
  cluster.Send(added);
  EXPECT_EQ(cluster.Last<ev::CallRefused>().at(0).refused,
            (model::Refused{model::Refusal::kQueueLacksType, {"application_1_0001", "root.t.leaf", "vcores"}, {}, {}}));
  added.master_asks[0].capability = Resources::Of(1024, 0);
  cluster.Send(added);
  EXPECT_EQ(cluster.Last<ev::AppAccepted>().size(), 1u);
}

}  // namespace
}  // namespace fairlead::scheduler
