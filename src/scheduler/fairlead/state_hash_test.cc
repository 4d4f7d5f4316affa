#include <gtest/gtest.h>

#include <functional>

#include "scheduler/fairlead/fairlead.h"
#include "scheduler/fairlead/test_cluster.h"

// Two schedulers with the same past that differ in one thing: so do their hashes.

namespace fairlead::scheduler {
namespace {

using Story = std::function<void(TestCluster&)>;

FairleadConfig Config() {
  FairleadConfig config;
  model::QueueConfig queue;
  queue.name = "root.a";
  queue.max_running_apps = 2;
  config.queues.queues = {queue};
  return config;
}

void Begin(TestCluster& cluster) {
  cluster.Node(0, 8, 8);
  cluster.Node(1, 8, 8, "/r", {"gpu"});
  cluster.App(0, "root.a");
  cluster.App(1, "root.a");
  cluster.Ask(0, {TestCluster::Want(8, 1, 1)});
}

uint64_t HashAfter(const Story& story) {
  TestCluster cluster(Config());
  Begin(cluster);
  story(cluster);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
  return cluster.scheduler().StateHash();
}

void Exclude(TestCluster& cluster, const std::string& host) {
  ev::Allocate call;
  call.app = {1};
  call.blacklist_add = {host};
  cluster.Send(call);
}

TEST(StateHashTest, IsTheSameAfterTheSame) {
  EXPECT_EQ(HashAfter([](TestCluster&) {}), HashAfter([](TestCluster&) {}));
}

TEST(StateHashTest, ExclusionsCount) {
  EXPECT_NE(HashAfter([](TestCluster& c) { Exclude(c, "n0"); }), HashAfter([](TestCluster& c) { Exclude(c, "n1"); }));
}

TEST(StateHashTest, ApplicationsThatWaitToRunCount) {
  const auto third = [](uint32_t app) {
    return [app](TestCluster& c) {
      c.App(2, app == 2 ? "root.a" : "root.b");
      c.App(3, app == 3 ? "root.a" : "root.b");
    };
  };
  EXPECT_NE(HashAfter(third(2)), HashAfter(third(3)));
}

TEST(StateHashTest, APlaceThatAnAskMayBeFarFromCounts) {
  const auto ask = [](bool relax) {
    return [relax](TestCluster& c) {
      c.Ask(1, {TestCluster::Want(1, 1, 1, "n0"), TestCluster::Want(1, 1, 1, "/r", relax),
                TestCluster::Want(1, 1, 1, "*", false)});
    };
  };
  EXPECT_NE(HashAfter(ask(true)), HashAfter(ask(false)));
}

TEST(StateHashTest, WhenAnAskBeganToWaitCounts) {
  const auto ask = [](int64_t ns) {
    return [ns](TestCluster& c) {
      c.now_ = {ns};
      c.Ask(1, {TestCluster::Want(1, 1, 1)});
      c.now_ = {9};
      c.Send(std::vector<ev::Event>{});
    };
  };
  EXPECT_NE(HashAfter(ask(1)), HashAfter(ask(2)));
}

TEST(StateHashTest, ReservationsAndTheirTimersCount) {
  const auto large = [](int64_t after_ms) {
    return [after_ms](TestCluster& c) {
      c.Ask(1, {TestCluster::Want(1, 8, 8)});
      c.Ask(0, {TestCluster::Want(9, 1, 1)});
      c.now_ = {after_ms * 1'000'000};
      c.Send(std::vector<ev::Event>{});
      c.now_ = {9'000'000'000};
      c.Send(std::vector<ev::Event>{});
    };
  };
  EXPECT_NE(HashAfter(large(3'000)), HashAfter(large(4'000)));
}

TEST(StateHashTest, GangsCount) {
  const auto gang = [](int64_t number) {
    return [number](TestCluster& c) {
      model::Ask member = TestCluster::Want(1, 9, 9);
      member.gang = number;
      c.Ask(1, {member});
    };
  };
  EXPECT_NE(HashAfter(gang(1)), HashAfter(gang(2)));
}

TEST(StateHashTest, WhatAnApplicationSaysIsLostCounts) {
  const auto loss = [](int64_t seconds) {
    return [seconds](TestCluster& c) {
      c.Ask(0, {TestCluster::Want(1, 1, 1)});
      ASSERT_FALSE(c.LiveOf(0).empty());
      const model::ContainerId id = c.LiveOf(0)[0].container;
      c.now_ = {9'000'000'000};
      ev::Allocate call;
      call.app = {0};
      call.losses = {{id, base::Duration::Seconds(seconds)}};
      c.Send(call);
    };
  };
  EXPECT_NE(HashAfter(loss(1)), HashAfter(loss(2)));
  EXPECT_EQ(HashAfter(loss(9)), HashAfter(loss(1000))) << "no more than it has run for";
}

TEST(StateHashTest, PriorityAndPreemptabilityCount) {
  const auto priority = [](int32_t value) { return [value](TestCluster& c) { c.Send(ev::AppPriority{{1}, value}); }; };
  EXPECT_NE(HashAfter(priority(1)), HashAfter(priority(2)));
  const auto reload = [](bool preemptable) {
    return [preemptable](TestCluster& c) {
      model::QueueTree tree = Config().queues;
      tree.queues[0].allow_preemption_from = preemptable;
      c.Send(ev::QueuesReloaded{tree});
    };
  };
  EXPECT_NE(HashAfter(reload(true)), HashAfter(reload(false)));
}

}  // namespace
}  // namespace fairlead::scheduler
