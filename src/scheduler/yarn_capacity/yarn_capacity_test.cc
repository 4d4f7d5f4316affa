#include "scheduler/yarn_capacity/yarn_capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "scheduler/yarn_capacity/from_tree.h"

// What recordings do not say: other profiles' queues, the reasons of Why, states that are written and read again.

namespace fairlead::scheduler::yarn_capacity {
namespace {

namespace ms = model::scheduler;
using model::AppIndex;
using model::Resources;
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

class Cluster {
 public:
  explicit Cluster(const model::CapacityQueues& queues, std::vector<ms::ClusterLabel> labels = {}) {
    YarnCapacityConfig config;
    config.minimum_allocation = Resources::Of(256, 1);
    config.timed_passes = false;
    config.cap_at_largest_node = false;
    auto made = MakeYarnCapacity(config, queues, labels);
    FL_CHECK(made.ok(), "queues of the test");
    core_ = std::move(*made);
  }

  void AddNode(int64_t mib, int64_t vcores, std::vector<std::string> labels = {}) {
    const std::string host = "n" + std::to_string(nodes_);
    Send(ms::NodeAdded{{nodes_++}, host, 1, "/r", Resources::Of(mib, vcores), std::move(labels)});
  }
  AppIndex Submit(const std::string& queue, const std::string& user = "u", int64_t master_mib = 256) {
    const AppIndex app{apps_++};
    ms::AppAdded added;
    added.app = app;
    added.id = {1, static_cast<int32_t>(app.value) + 1};
    added.queue = queue;
    added.user = user;
    added.master_asks = {AskFor(master_mib, 1, 0)};
    Send(std::move(added));
    Send(ms::AttemptAdded{app, 1, false});
    Allocate(app, AskFor(master_mib, 1, 0));
    Beat();
    return app;
  }
  static model::Ask AskFor(int64_t mib, int32_t count, int32_t priority = 1) {
    model::Ask ask;
    ask.name = "*";
    ask.priority = priority;
    ask.capability = Resources::Of(mib, 1);
    ask.count = count;
    return ask;
  }
  void Allocate(AppIndex app, model::Ask ask) {
    ms::Allocate call;
    call.app = app;
    call.asks = {std::move(ask)};
    Send(std::move(call));
  }
  void Beat() {
    for (uint32_t node = 0; node < nodes_; ++node) Send(ms::NodeUpdated{{node}, {}, {}});
  }
  ms::Pending Why(AppIndex app) const {
    const std::vector<ms::Pending> all = core_->Why(app, {});
    return all.empty() ? ms::Pending{} : all.front();
  }
  YarnCapacityScheduler& core() { return *core_; }
  const EffectSink& effects() const { return effects_; }
  template <class Event>
  void Send(Event event) {
    const ms::Event one = std::move(event);
    effects_.clear();
    core_->Step({}, {&one, 1}, effects_);
    ASSERT_EQ(core_->CheckInvariants(), "");
  }

 private:
  std::unique_ptr<YarnCapacityScheduler> core_;
  EffectSink effects_;
  uint32_t nodes_ = 0;
  uint32_t apps_ = 0;
};

std::map<std::string, float> SharesOf(YarnCapacityScheduler& core) {
  std::map<std::string, float> shares;
  for (const QueueView& queue : core.GetQueues().queues) {
    shares[queue.name] = queue.capacity->partitions.at("").absolute;
  }
  return shares;
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
  EXPECT_EQ(cluster.Why(cluster.Submit("root.b")).reason, PendingReason::kNoNodes);
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

TEST(CapacityWhy, NamesTheMaximumOfAQueueAndTheLimitOfAUser) {
  model::CapacityQueues queues = Halves();
  model::CapacityValue half;
  half.percent = 50;
  half.vector.assign(model::ResourceTypes::Count(), {model::CapacityUnit::kPercent, 50});
  queues.queues["root.a"].own.maximum_capacity[""] = half;
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
