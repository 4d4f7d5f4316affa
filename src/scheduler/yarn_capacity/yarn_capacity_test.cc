#include "scheduler/yarn_capacity/yarn_capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/rejection.h"
#include "scheduler/yarn_capacity/from_tree.h"
#include "scheduler/yarn_capacity/test_cluster.h"

// What recordings do not say: other profiles' queues, the reasons of Why, states that are written and read again.

namespace fairlead::scheduler::yarn_capacity {
namespace {

using ms::PendingReason;
using testing::ElementsAre;
using testing::HasSubstr;

model::QueueTree Tree(const std::vector<std::pair<std::string, double>>& weights) {
  model::QueueTree tree;
  for (const auto& [name, weight] : weights) {
    tree.queues.emplace_back().name = name;
    tree.queues.back().weight = weight;
  }
  return tree;
}

TEST(CapacityQueuesFrom, WeightsAreThoseOfTheTree) {
  Cluster cluster(
      CapacityQueuesFrom(Tree({{"root.bi", 2}, {"root.bi.daily", 3}, {"root.bi.hourly", 1}, {"search", 1}})));
  cluster.AddNode(40960, 40);
  const std::map<std::string, float> shares = SharesOf(cluster.core());
  EXPECT_FLOAT_EQ(shares.at("root.bi"), 0.5F);  // root.default is the third child
  EXPECT_FLOAT_EQ(shares.at("root.bi.daily"), 0.375F);
  EXPECT_FLOAT_EQ(shares.at("root.search"), 0.25F);
}

TEST(CapacityQueuesFrom, AQueueThatIsNamedIsMade) {
  Cluster cluster(CapacityQueuesFrom(Tree({{"root.a", 1}})));
  cluster.AddNode(4096, 4);
  const AppIndex app = cluster.Submit("root.new");
  EXPECT_EQ(cluster.core().PendingContainers(app), 0);
  EXPECT_TRUE(SharesOf(cluster.core()).contains("root.new"));
}

TEST(CapacityQueuesFrom, ACapacitySchedulersFileGoesFirst) {
  model::QueueTree tree = Tree({{"root.a", 1}});
  tree.capacity.emplace();
  tree.capacity->maximum_applications = 7;
  EXPECT_EQ(CapacityQueuesFrom(tree).maximum_applications, 7);
  EXPECT_TRUE(CapacityQueuesFrom(tree).queues.empty());
}

/// root.a and root.b with equal weights.
model::CapacityQueues Halves() { return CapacityQueuesFrom(Tree({{"root.a", 1}, {"root.b", 1}})); }

TEST(CapacityWhy, NamesTheLimitThatBinds) {
  model::CapacityQueues queues = Halves();
  queues.queues["root.a"].own.am_percent[""] = 0.1F;
  queues.queues["root.b"].own.max_parallel_apps = 1;
  Cluster cluster(queues);
  const model::scheduler::Pending none = cluster.Why(cluster.Submit("root.b"));
  EXPECT_EQ(none.reason, PendingReason::kNoNodes);
  EXPECT_EQ(none.detail + "; " + none.remedy, "no node is registered; start node agents");
  cluster.AddNode(4096, 8);
  cluster.Beat();

  const AppIndex second = cluster.Submit("root.b");
  EXPECT_EQ(cluster.Why(second).reason, PendingReason::kMaxRunningApps);
  EXPECT_THAT(cluster.Why(second).detail, HasSubstr("queue root.b runs 1 of 1 applications"));

  const AppIndex first = cluster.Submit("root.a", "u", 1024);
  EXPECT_EQ(cluster.core().PendingContainers(first), 0);
  const AppIndex waits = cluster.Submit("root.a", "u", 1024);
  EXPECT_EQ(cluster.Why(waits).reason, PendingReason::kMasterShare);
  EXPECT_THAT(cluster.Why(waits).detail, HasSubstr("this one needs 1024 MiB and 1 core"));
  EXPECT_THAT(cluster.Why(waits).remedy, HasSubstr("maximum-am-resource-percent"));

  cluster.Allocate(first, Cluster::AskFor(8192, 1));
  EXPECT_EQ(cluster.Why(first).reason, PendingReason::kLargerThanAnyNode);
  cluster.Allocate(first, Cluster::AskFor(4096, 1));
  EXPECT_EQ(cluster.Why(first).reason, PendingReason::kClusterFull);
  EXPECT_THAT(cluster.Why(first).detail, HasSubstr("the largest free room"));
}

TEST(CapacityWhy, BlamesOtherQueuesOnlyWhereOthersWait) {
  Cluster cluster(Halves());
  cluster.AddNode(8192, 8);
  const AppIndex app = cluster.Submit("root.a");
  const AppIndex other = cluster.Submit("root.b");
  cluster.Allocate(app, Cluster::AskFor(1024, 1));
  EXPECT_EQ(cluster.Why(app).reason, PendingReason::kNextRound);
  EXPECT_EQ(cluster.Why(app).detail, "1 node has room, and nobody else waits");
  cluster.Allocate(other, Cluster::AskFor(1024, 1));
  EXPECT_EQ(cluster.Why(app).reason, PendingReason::kFairShare);
  EXPECT_THAT(cluster.Why(app).detail, HasSubstr("queues that use less of their own come first"));
}

TEST(CapacityWhy, NamesTheMaximumOfAQueueAndTheLimitOfAUser) {
  model::CapacityQueues queues = Halves();
  queues.queues["root.a"].own.maximum_capacity[""] = Percent(50);
  queues.queues["root.b"].own.user_limit_factor = 1;
  Cluster cluster(queues);
  cluster.AddNode(8192, 8);
  const AppIndex app = cluster.Submit("root.a");
  cluster.Allocate(app, Cluster::AskFor(1024, 8));
  for (int i = 0; i < 9; ++i) cluster.Beat();
  EXPECT_EQ(cluster.Why(app).reason, PendingReason::kQueueMaximum);
  EXPECT_THAT(cluster.Why(app).detail, HasSubstr("queue root.a uses"));
  EXPECT_THAT(cluster.Why(app).remedy, HasSubstr("maximum-capacity"));

  const AppIndex other = cluster.Submit("root.b");
  cluster.Allocate(other, Cluster::AskFor(512, 8));
  for (int i = 0; i < 9; ++i) cluster.Beat();
  EXPECT_EQ(cluster.Why(other).reason, PendingReason::kUserLimit);
  EXPECT_THAT(cluster.Why(other).detail, HasSubstr("which 1 active user shares"));
}

TEST(CapacityWhy, NamesWhatTheMastersOfAUserMayUse) {
  model::CapacityQueues queues = Halves();
  queues.legacy_queue_mode = true;
  queues.queues["root.a"].own.user_limit_factor = 1;
  queues.queues["root.a"].own.am_percent[""] = 0.5F;
  Cluster cluster(queues);
  cluster.AddNode(12288, 16);  // a third each: 4096 MiB, the masters of a user half of it
  cluster.Submit("root.a", "ann", 1024);
  cluster.Submit("root.a", "ann", 1024);
  const AppIndex waits = cluster.Submit("root.a", "ann", 1024);
  EXPECT_EQ(cluster.Why(waits).reason, PendingReason::kMasterShare);
  EXPECT_THAT(cluster.Why(waits).detail, HasSubstr("masters of user ann in queue root.a use 2048 MiB"));
  EXPECT_THAT(cluster.Why(waits).detail, HasSubstr("of at most 2048 MiB"));
  EXPECT_THAT(cluster.Why(waits).remedy, HasSubstr("user-limit-factor"));
}

/// A submission that a queue does not take, in Hadoop's words, with numbers and what to do.
TEST(CapacityWhy, ARefusedSubmissionIsTold) {
  model::CapacityQueues queues = Halves();
  queues.queues["root.a"].own.state = model::CapacityQueueState::kStopped;
  queues.queues["root.b"].own.maximum_applications = 1;
  Cluster cluster(queues);
  cluster.AddNode(8192, 8);
  const auto refused = [&](const std::string& queue) {
    ms::AppAdded added;
    added.app = {50};
    added.id = {1, 51};
    added.queue = queue;
    added.user = "u";
    added.token = 5;
    cluster.Send(std::move(added));
    const std::vector<ms::CallRefused> all = cluster.Got<ms::CallRefused>();
    return all.empty() ? std::string("taken") : model::RejectionText(all.front().refused);
  };
  EXPECT_EQ(
      refused("root.a"),
      "Queue root.a is STOPPED. Cannot accept submission of application; wait until its state is RUNNING, or set it");
  cluster.Submit("root.b");
  EXPECT_EQ(refused("root.b"),
            "Queue root.b already has 1 applications of at most 1, cannot accept submission of application; wait until "
            "one ends, or raise its capacity or maximum-applications");
}

TEST(YarnCapacity, ARecoveredApplicationIsTakenWhateverLimitsSay) {
  model::CapacityQueues queues = Halves();
  queues.queues["root.a"].own.state = model::CapacityQueueState::kStopped;
  queues.queues["root.a"].own.maximum_applications = 0;
  queues.queues["root"].own.auto_creation = false;
  Cluster cluster(queues);
  ms::AppAdded added;
  added.app = {0};
  added.id = {1, 1};
  added.queue = "root.a";
  added.user = "u";
  added.recovering = true;
  added.token = 5;
  cluster.Send(added);
  ASSERT_EQ(cluster.Got<ms::AppAccepted>().size(), 1u);
  EXPECT_EQ(cluster.core().GetQueues().queues.at(1).capacity->state, model::CapacityQueueState::kDraining);
  cluster.Send(ms::AppRemoved{{0}});
  EXPECT_EQ(cluster.core().GetQueues().queues.at(1).capacity->state, model::CapacityQueueState::kStopped);
  added.app = {1};
  added.id = {1, 2};
  added.queue = "root.gone";
  cluster.Send(added);
  EXPECT_EQ(
      model::RejectionText(cluster.Got<ms::CallRefused>().at(0).refused),
      "Application killed on recovery as it was submitted to queue root.gone which no longer exists after restart.");
}

/// root.users makes queues for who asks, root.a is there; weights 3 and 1.
model::CapacityQueues QueuesOnDemand() {
  model::CapacityQueues queues = CapacityQueuesFrom(Tree({{"root.a", 1}, {"root.users", 3}}));
  queues.queues["root"].own.auto_creation = false;
  queues.queues["root"].own.queues = {"a", "users"};
  queues.queues["root.users"].own.auto_creation = true;
  queues.queues["root.users"].own.ordering_policy.reset();  // it is no leaf
  return queues;
}

model::Refusal SubmitTo(Cluster& cluster, uint32_t number, const std::string& queue, bool recovering) {
  ms::AppAdded added;
  added.app = {number};
  added.id = {1, static_cast<int32_t>(number) + 1};
  added.queue = queue;
  added.user = "ann";
  added.recovering = recovering;
  cluster.Send(added);
  const auto refused = cluster.Got<ms::CallRefused>();
  return refused.empty() ? model::Refusal::kNone : refused.front().refused.why;
}

// YARN-11682: Hadoop's has capacity 0 then, where amounts are absolute.
TEST(YarnCapacity, AQueueMadeOnDemandComesBackWithItsShareAfterARestart) {
  Cluster cluster(QueuesOnDemand());
  cluster.AddNode(40960, 40);
  ASSERT_EQ(SubmitTo(cluster, 0, "root.users.ann", true), model::Refusal::kNone);
  EXPECT_FLOAT_EQ(SharesOf(cluster.core()).at("root.users.ann"), 0.75F);
}

// YARN-11584: an empty name ends Hadoop's resource manager.
TEST(YarnCapacity, AQueueWithAnEmptyPartInItsNameIsNotMade) {
  Cluster cluster(QueuesOnDemand());
  cluster.AddNode(40960, 40);
  uint32_t number = 0;
  for (const char* queue : {"root.users.", "root.users..ann", ".", "", "root..users.ann"}) {
    EXPECT_NE(SubmitTo(cluster, number++, queue, false), model::Refusal::kNone) << queue;
  }
  EXPECT_EQ(cluster.core().GetQueues().queues.size(), 3u);
}

TEST(CapacityWhy, NamesThePartition) {
  model::CapacityQueues queues = Halves();
  queues.queues["root.a"].own.accessible_labels = std::vector<std::string>{};
  Cluster cluster(queues, {{"fast", true}});
  cluster.AddNode(8192, 8);
  const auto labelled = [] {
    model::Ask ask = Cluster::AskFor(512, 1);
    ask.label = "fast";
    return ask;
  };
  const AppIndex barred = cluster.Submit("root.a");
  cluster.Allocate(barred, labelled());
  EXPECT_EQ(cluster.Why(barred).reason, PendingReason::kLabel);
  EXPECT_THAT(cluster.Why(barred).detail, HasSubstr("queue root.a may not use partition fast"));
}

TEST(CapacityWhy, SaysThatNodesWithLabelsTakeNoMasters) {
  Cluster cluster(Halves(), {{"fast", false}, {"own", true}});
  cluster.AddNode(8192, 8, {"fast"});
  const AppIndex app = cluster.Submit("root.a");
  cluster.Beat();
  EXPECT_EQ(cluster.Why(app).reason, PendingReason::kLabel);
  EXPECT_THAT(cluster.Why(app).detail, HasSubstr("take no masters without it"));
  EXPECT_THAT(cluster.Why(app).remedy, HasSubstr("am.allow-non-exclusive-allocation"));
  Cluster exclusive(Halves(), {{"own", true}});
  exclusive.AddNode(8192, 8, {"own"});
  EXPECT_THAT(exclusive.Why(exclusive.Submit("root.a")).detail, HasSubstr("all nodes have a label, and the ask has"));
}

TEST(YarnCapacity, ADefaultLabelIsTheParentsWhereTheQueueSaysNone) {
  model::CapacityQueues queues = Halves();
  queues.queues["root"].own.default_label_expression = "fast";
  queues.queues["root.b"].own.default_label_expression = "slow";
  const Cluster cluster(queues, {{"fast", true}, {"slow", true}});
  EXPECT_EQ(cluster.core().DefaultLabelOf("root.a"), "fast");
  EXPECT_EQ(cluster.core().DefaultLabelOf("root.b"), "slow");
  EXPECT_EQ(cluster.core().DefaultLabelOf("root.none"), "");
}

TEST(YarnCapacity, AStateThatIsReadGoesOnAsTheOther) {
  Cluster one(Halves());
  Cluster two(Halves());
  one.AddNode(8192, 8);
  const AppIndex app = one.Submit("root.a");
  one.Allocate(app, Cluster::AskFor(512, 20));
  one.Beat();
  ASSERT_TRUE(two.core().ReadState(one.core().State()));
  EXPECT_EQ(two.core().StateHash(), one.core().StateHash());
  const std::unique_ptr<Scheduler> fork = one.core().Fork();
  const ms::Event beat = ms::NodeUpdated{{0}, {}, {}};
  EffectSink of_two;
  EffectSink of_fork;
  two.core().Step({}, {&beat, 1}, of_two);
  fork->Step({}, {&beat, 1}, of_fork);
  one.Send(ms::NodeUpdated{{0}, {}, {}});
  EXPECT_EQ(of_two.size(), one.effects().size());
  EXPECT_EQ(two.core().StateHash(), one.core().StateHash());
  EXPECT_EQ(fork->StateHash(), one.core().StateHash());
  EXPECT_FALSE(two.core().ReadState(one.core().State().substr(1)));
}

TEST(YarnCapacity, ARefusedReloadIsToldInHadoopsWords) {
  Cluster cluster(Halves());
  cluster.AddNode(8192, 8);
  ms::QueuesReloaded reload;
  reload.token = 7;
  reload.tree.capacity.emplace();
  reload.tree.capacity->problem = {model::CapacityFault::kNumber, "a problem"};
  cluster.Send(std::move(reload));
  ASSERT_EQ(cluster.effects().size(), 1u);
  const auto& refused = std::get<ms::CallRefused>(cluster.effects().front());
  EXPECT_EQ(refused.token, 7u);
  EXPECT_EQ(refused.refused.why, model::Refusal::kBadQueues);
  EXPECT_THAT(refused.refused.names, ElementsAre("Failed to re-init queues : a problem"));
  EXPECT_TRUE(SharesOf(cluster.core()).contains("root.a"));
}

}  // namespace
}  // namespace fairlead::scheduler::yarn_capacity
