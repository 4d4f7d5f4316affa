#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/rng.h"
#include "scheduler/fairlead/fairlead.h"
#include "scheduler/fairlead/test_cluster.h"

// Properties that hold after every step of random histories: books balance, nothing is over-committed, maxima hold, no
// request that could be placed waits, waits for locality end in time, and what `why` names is what binds.

namespace fairlead::scheduler {
namespace {

using model::Resources;

class RandomHistory {
 public:
  explicit RandomHistory(uint64_t seed) : rng_(seed), cluster_(Config()) {}

  void Run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      cluster_.now_ = cluster_.now_ + base::Duration::Millis(rng_.Between(0, 400));
      Act();
      Check();
    }
  }
  void DrainAndCheckEmpty() {
    for (const uint32_t app : apps_) cluster_.Send(ev::AppRemoved{{app}});
    while (!cluster_.dying().empty()) ReportDying();
    EXPECT_EQ(cluster_.scheduler().CheckInvariants(), "");
    for (const QueueView& queue : cluster_.scheduler().GetView().queues) {
      EXPECT_EQ(queue.used, Resources{}) << queue.name;
      EXPECT_EQ(queue.demand, Resources{}) << queue.name;
      EXPECT_EQ(queue.runnable_apps, 0) << queue.name;
    }
    for (const NodeView& node : cluster_.scheduler().GetView().nodes) EXPECT_EQ(node.used, Resources{});
  }
  TestCluster& cluster() { return cluster_; }
  const std::set<uint32_t>& apps() const { return apps_; }

 private:
  FairleadConfig Config() {
    FairleadConfig config;
    config.node_locality_wait = base::Duration::Millis(300);
    config.rack_locality_wait = base::Duration::Millis(200);
    const char* names[] = {"root.a", "root.b", "root.b.x", "root.b.y", "root.c"};
    for (const char* name : names) {
      model::QueueConfig queue;
      queue.name = name;
      queue.weight = static_cast<double>(rng_.Between(1, 5));
      queue.policy = rng_.Chance(0.5) ? "drf" : rng_.Chance(0.5) ? "fair" : "fifo";
      if (std::string(name) == "root.b") {
        queue.parent_type = true;
        queue.policy = "drf";
      }
      if (rng_.Chance(0.3)) queue.max_running_apps = static_cast<int32_t>(rng_.Between(1, 4));
      if (rng_.Chance(0.4))
        queue.max_resources = model::ConfiguredResources{{{"memory-mb", rng_.Between(4, 40)}}, {}, INT64_MAX};
      if (rng_.Chance(0.3))
        queue.min_resources = model::ConfiguredResources{{{"memory-mb", rng_.Between(1, 8)}}, {}, 0};
      config.queues.queues.push_back(queue);
    }
    if (rng_.Chance(0.3)) config.queues.user_max_apps_default = static_cast<int32_t>(rng_.Between(2, 5));
    if (rng_.Chance(0.5)) config.node_order = NodeOrder::kPack;
    if (rng_.Chance(0.5)) {
      config.preemption.enabled = true;
      config.preemption.starvation = base::Duration::Millis(rng_.Between(0, 2000));
      config.preemption.grace = base::Duration::Millis(rng_.Between(0, 1500));
      config.preemption.interval = base::Duration::Millis(rng_.Between(0, 1000));
      config.preemption.minimum_run = base::Duration::Millis(rng_.Between(0, 1000));
    }
    config.holds.after = base::Duration::Millis(rng_.Between(500, 5000));
    config.holds.duration = base::Duration::Millis(rng_.Between(500, 5000));
    config.holds.nodes_per_thousand = 200;
    for (model::QueueConfig& queue : config.queues.queues) {
      if (queue.min_resources && queue.max_resources) queue.min_resources.reset();
    }
    return config;
  }
  std::string Queue() {
    const char* names[] = {"root.a", "root.b.x", "root.b.y", "root.c", "root.d"};
    return names[rng_.Below(5)];
  }
  uint32_t SomeApp() { return *std::next(apps_.begin(), static_cast<int64_t>(rng_.Below(apps_.size()))); }

  void Act() {
    const uint64_t what = rng_.Below(100);
    if (nodes_.empty() || what < 5) return AddNode();
    if (apps_.empty() || what < 13) return AddApp();
    if (what < 45) return Ask();
    if (what < 72) return Complete();
    if (what < 76) return RemoveNode();
    if (what < 80) return Release();
    if (what < 83) return EndApp();
    if (what < 86) return Move();
    if (what < 88) return Resize();
    if (what < 91) return Toggle();
    if (what < 93) {
      cluster_.Send(ev::AppPriority{{SomeApp()}, static_cast<int32_t>(rng_.Between(0, 2))});
      return;
    }
    if (what < 96) return Blacklist();
    if (!cluster_.dying().empty()) return ReportDying();
    cluster_.Send(std::vector<ev::Event>{});
  }
  void AddNode() {
    const uint32_t node = next_node_++;
    std::vector<std::string> labels;
    if (rng_.Chance(0.15)) labels = {"gpu"};
    cluster_.Node(node, rng_.Between(1, 12), rng_.Between(1, 12), rng_.Chance(0.5) ? "/r0" : "/r1", labels);
    nodes_.insert(node);
  }
  void AddApp() {
    cluster_.App(next_app_, Queue(), rng_.Chance(0.5) ? "ann" : "bob", rng_.Chance(0.5),
                 static_cast<int32_t>(rng_.Between(0, 1)));
    apps_.insert(next_app_++);
  }
  void Ask() {
    const int64_t memory = rng_.Between(1, rng_.Chance(0.1) ? 14 : 4);
    const int64_t cores = rng_.Between(1, 4);
    const auto count = static_cast<int32_t>(rng_.Between(0, 6));
    const auto priority = static_cast<int32_t>(rng_.Between(0, 2));
    std::vector<model::Ask> asks;
    bool relax = true;
    if (rng_.Chance(0.4)) {
      relax = rng_.Chance(0.8);
      const std::string host = "n" + std::to_string(rng_.Below(next_node_ + 1));
      asks.push_back(TestCluster::Want(count, memory, cores, host, true, priority));
      asks.push_back(
          TestCluster::Want(count, memory, cores, rng_.Chance(0.5) ? "/r0" : "/r1", rng_.Chance(0.8), priority));
    }
    asks.push_back(TestCluster::Want(count, memory, cores, "*", relax, priority));
    if (rng_.Chance(0.1)) {
      for (model::Ask& ask : asks) ask.label = "gpu";
    }
    cluster_.Ask(SomeApp(), asks);
  }
  void Complete() {
    if (cluster_.live().empty()) return AddNode();
    std::vector<ev::Event> events;
    for (int64_t i = rng_.Between(1, 4); i > 0 && !cluster_.live().empty(); --i) {
      auto it = std::next(cluster_.live().begin(), static_cast<int64_t>(rng_.Below(cluster_.live().size())));
      if (!it->second.launched && rng_.Chance(0.5)) {
        it->second.launched = true;
        events.push_back(ev::NodeUpdated{it->second.grant.node, {it->first}, {}});
      } else {
        it->second.launched = false;
        events.push_back(ev::NodeUpdated{it->second.grant.node, {}, {{it->first, 0}}});
      }
    }
    cluster_.Send(events);
  }
  void ReportDying() {
    const ev::Granted grant = cluster_.dying().back();
    cluster_.dying().pop_back();
    cluster_.Send(ev::NodeUpdated{grant.node, {}, {{grant.container, 0}}});
  }
  void RemoveNode() {
    const uint32_t node = *std::next(nodes_.begin(), static_cast<int64_t>(rng_.Below(nodes_.size())));
    nodes_.erase(node);
    for (auto& [id, live] : cluster_.live()) {
      if (live.grant.node.value == node) live.launched = false;
    }
    cluster_.Send(ev::NodeRemoved{{node}});
    std::erase_if(cluster_.dying(), [&](const ev::Granted& grant) { return grant.node.value == node; });
  }
  void Release() {
    const uint32_t app = SomeApp();
    const auto live = cluster_.LiveOf(app);
    if (live.empty()) return AddNode();
    cluster_.Ask(app, {}, {live[rng_.Below(live.size())].container});
  }
  void EndApp() {
    const uint32_t app = SomeApp();
    apps_.erase(app);
    cluster_.Send(ev::AppRemoved{{app}});
  }
  void Move() { cluster_.Send(ev::AppMoved{{SomeApp()}, 1, Queue()}); }
  void Resize() {
    const uint32_t node = *nodes_.begin();
    cluster_.Send(ev::NodeResized{{node}, Resources::Of(rng_.Between(1, 12), rng_.Between(1, 12))});
  }
  void Toggle() {
    const uint32_t node = *std::next(nodes_.begin(), static_cast<int64_t>(rng_.Below(nodes_.size())));
    cluster_.Send(ev::NodeSchedulable{{node}, rng_.Chance(0.5)});
  }
  void Blacklist() {
    ev::Allocate call;
    call.app = {SomeApp()};
    std::vector<std::string>& names = rng_.Chance(0.5) ? call.blacklist_add : call.blacklist_remove;
    names.push_back("n" + std::to_string(rng_.Below(next_node_)));
    cluster_.Send(call);
  }

  void Check() {
    ASSERT_EQ(cluster_.scheduler().CheckInvariants(), "");
    const View view = cluster_.scheduler().GetView();
    for (const ev::Granted& granted : cluster_.Last<ev::Granted>()) {
      for (const NodeView& node : view.nodes) {
        const bool fits = node.node != granted.node || node.used.FitsIn(node.capacity);
        ASSERT_TRUE(fits) << "over-commit";
      }
    }
    Resources top;
    for (const QueueView& queue : view.queues) {
      ASSERT_TRUE(queue.used.FitsIn(queue.max_share)) << queue.name;
      ASSERT_TRUE(queue.fair_share.FitsIn(queue.max_share)) << queue.name;
      if (queue.parent == "root") top += queue.used;
      Resources children;
      for (const QueueView& child : view.queues) {
        if (child.parent == queue.name) children += child.fair_share;
      }
      ASSERT_TRUE(children.FitsIn(queue.fair_share)) << queue.name;
    }
    ASSERT_EQ(top, view.queues[0].used);
    // Work conservation: whatever still waits is held back by something other than its place in the order.
    for (const uint32_t app : apps_) {
      for (const ev::Pending& pending : cluster_.scheduler().Why({app}, cluster_.now_)) {
        ASSERT_NE(pending.reason, ev::PendingReason::kFairShare) << "app " << app << " " << pending.detail;
        ASSERT_NE(pending.reason, ev::PendingReason::kNone);
        if (pending.reason == ev::PendingReason::kWaitingForLocality && pending.ask.relax_locality) {
          ASSERT_LE(cluster_.scheduler().NextDeadline(), cluster_.now_ + base::Duration::Millis(500));
        }
      }
    }
  }

  base::Rng rng_;
  TestCluster cluster_;
  std::set<uint32_t> nodes_;
  std::set<uint32_t> apps_;
  uint32_t next_node_ = 0;
  uint32_t next_app_ = 0;
};

TEST(FairleadPropertyTest, RandomHistories) {
  for (uint64_t seed = 0; seed < 120 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomHistory history(seed);
    history.Run(150);
    if (!HasFailure()) history.DrainAndCheckEmpty();
  }
}

/// Relaxes what `pending` names as the reason on `copy`, and steps. The relaxations are those that `remedy` speaks of.
void Relax(Scheduler& copy, const ev::Pending& pending, uint32_t app, uint32_t& next_node, base::Instant& now) {
  std::vector<ev::Event> events;
  switch (pending.reason) {
    case ev::PendingReason::kStrictLocality: {
      ev::Allocate call;
      call.app = {app};
      call.asks = {pending.ask};
      call.asks[0].relax_locality = true;
      events.push_back(call);
      break;
    }
    case ev::PendingReason::kWaitingForLocality:
      now = now + base::Duration::Millis(500);
      break;
    case ev::PendingReason::kQueueMaximum:
    case ev::PendingReason::kMaxRunningApps:
    case ev::PendingReason::kUserLimit:
      events.push_back(ev::QueuesReloaded{});
      break;
    default: {
      if (pending.reason == ev::PendingReason::kMasterShare) {
        model::QueueTree unlimited;
        unlimited.queue_max_am_share_default = -1;
        events.push_back(ev::QueuesReloaded{unlimited});
      }
      std::vector<std::string> labels;
      if (!pending.ask.label.empty()) labels = {pending.ask.label};
      for (int i = 0; i < 4; ++i) {
        const uint32_t node = next_node++;
        events.push_back(
            ev::NodeAdded{{node}, "extra" + std::to_string(node), 1, "/x", Resources::Of(5000, 5000), labels});
      }
    }
  }
  EffectSink effects;
  copy.Step(now, events, effects);
  ASSERT_EQ(copy.CheckInvariants(), "");
}

/// The count still pending under the key of `ask`, with its reason.
ev::Pending Still(const Scheduler& scheduler, uint32_t app, const model::Ask& ask, base::Instant now) {
  for (const ev::Pending& pending : scheduler.Why({app}, now)) {
    if (pending.ask.priority == ask.priority && pending.ask.capability == ask.capability &&
        pending.ask.label == ask.label) {
      return pending;
    }
  }
  return {};
}

TEST(FairleadPropertyTest, RemovingTheNamedReasonsPlacesTheRequest) {
  // Soundness: a reason that was removed is not named again; when none is left the request is placed. At most one
  // reason of each kind can stand in the way, two for those that a later one uncovers.
  std::map<ev::PendingReason, int> seen;
  for (uint64_t seed = 5020; seed < 5050 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomHistory history(seed);
    history.Run(60 + static_cast<int>(seed % 40));
    for (const uint32_t app : history.apps()) {
      for (const ev::Pending& first : history.cluster().scheduler().Why({app}, history.cluster().now_)) {
        const auto copy = history.cluster().scheduler().Fork();
        ev::Pending pending = first;
        base::Instant now = history.cluster().now_;
        uint32_t next_node = 1000;
        for (int i = 0; i < 8 && pending.ask.count == first.ask.count && !HasFailure(); ++i) {
          ++seen[pending.reason];
          ASSERT_FALSE(pending.detail.empty());
          ASSERT_FALSE(pending.remedy.empty());
          Relax(*copy, pending, app, next_node, now);
          pending = Still(*copy, app, first.ask, now);
        }
        ASSERT_LT(pending.ask.count, first.ask.count) << EnumName(first.reason) << " then " << EnumName(pending.reason);
      }
    }
  }
  for (const ev::PendingReason reason :
       {ev::PendingReason::kClusterFull, ev::PendingReason::kQueueMaximum, ev::PendingReason::kStrictLocality,
        ev::PendingReason::kWaitingForLocality, ev::PendingReason::kMaxRunningApps}) {
    EXPECT_GT(seen[reason], 0) << EnumName(reason) << " was never met: the histories are too tame";
  }
}

TEST(FairleadPropertyTest, ForksStepAlikeAndAlone) {
  for (uint64_t seed = 1000; seed < 1030; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomHistory history(seed);
    history.Run(100);
    Scheduler& live = history.cluster().scheduler();
    const uint64_t hash = live.StateHash();
    const auto first = live.Fork();
    const auto second = live.Fork();
    const std::vector<ev::Event> events = {ev::NodeAdded{{500}, "n500", 1, "/r0", Resources::Of(20, 20), {}}};
    EffectSink a, b;
    first->Step(history.cluster().now_, events, a);
    second->Step(history.cluster().now_, events, b);
    EXPECT_EQ(first->StateHash(), second->StateHash());
    EXPECT_EQ(a.size(), b.size());
    EXPECT_EQ(live.StateHash(), hash);
    EXPECT_NE(first->StateHash(), hash);
    EXPECT_EQ(first->CheckInvariants(), "");
  }
}

}  // namespace
}  // namespace fairlead::scheduler
