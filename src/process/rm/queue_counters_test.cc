#include "process/rm/queue_counters.h"

#include <gtest/gtest.h>

#include "model/exit_status.h"
#include "process/rm/machine.h"
#include "scheduler/fairlead/fairlead.h"

namespace fairlead::process::rm {
namespace {

namespace m = model::rm;
namespace ms = model::scheduler;

/// An application in root.a.b whose master runs.
class QueueCountersTest : public ::testing::Test {
 protected:
  explicit QueueCountersTest(fairlead::rm::Config config = {}) : machine_(config, scheduler::MakeFairlead({})) {
    machine_.SetWatch([this](base::WallTime wall, std::span<const ms::Effect> effects) {
      counters_.Take(wall, machine_.core(), effects);
      for (const ms::Effect& effect : effects) {
        if (const auto* grant = std::get_if<ms::Granted>(&effect)) master_ = *grant;
      }
    });
    Do(m::Started{1000, 0, {}, {}});
    m::RegisterNode node;
    node.call = 1;
    node.address = {"n1", 1};
    node.capacity = model::Resources::Of(8192, 8);
    Do(node);
    m::Submit submit;
    submit.call = 2;
    submit.submission.id = {1000, 1};
    submit.submission.user = "ann";
    submit.submission.queue = "a.b";
    model::Ask& ask = submit.submission.master_asks.emplace_back();
    ask.name = "*";
    ask.capability = model::Resources::Of(1024, 2);
    ask.count = 1;
    Do(submit);
  }

  void Do(m::OuterEvent event) {
    std::vector<m::OuterEvent> events = {std::move(event)};
    while (!events.empty()) {
      std::vector<m::OuterEffect> effects;
      machine_.Step({}, base::WallTime{5000}, events, effects);
      events.clear();
      for (const m::OuterEffect& effect : effects) {
        if (const auto* persist = std::get_if<m::Persist>(&effect))
          events.emplace_back(m::Persisted{persist->txn, true, ""});
      }
    }
  }
  void Take(int64_t ms, const ms::Effect& effect) { counters_.Take({ms}, machine_.core(), std::span(&effect, 1)); }
  QueueCounts Of(const std::string& queue) {
    const auto found = counters_.by_name().find(queue);
    return found == counters_.by_name().end() ? QueueCounts{} : found->second;
  }
  QueueCounts OfUser(const std::string& queue, const std::string& user) {
    const auto all = counters_.by_user();
    const auto found = all.find({queue, user});
    return found == all.end() ? QueueCounts{} : found->second;
  }
  void Submit(int32_t number, const std::string& user, const std::string& queue) {
    m::Submit submit;
    submit.call = 100 + static_cast<uint64_t>(number);
    submit.submission.id = {1000, number};
    submit.submission.user = user;
    submit.submission.queue = queue;
    submit.submission.unmanaged = true;
    Do(submit);
    counters_.Take(machine_.core(), {ToString(submit.submission.id), "RUNNING", "KILLED", "", submit.submission.id});
  }
  ms::Granted Grant(model::Locality locality) const {
    ms::Granted grant;
    grant.app = master_.app;
    grant.locality = locality;
    return grant;
  }

  ResourceMachine machine_;
  QueueCounters counters_;
  ms::Granted master_;
};

TEST_F(QueueCountersTest, AGrantCountsForItsQueueAndThoseAbove) {
  ASSERT_TRUE(master_.is_master);
  Take(6000, Grant(model::Locality::kNodeLocal));
  Take(6000, Grant(model::Locality::kOffSwitch));
  for (const char* queue : {"root.a.b", "root.a", "root"}) {
    EXPECT_EQ(Of(queue).allocated, 3) << queue;
    EXPECT_EQ(Of(queue).by_locality, (std::array<int64_t, 3>{1, 0, 2})) << "with the master";
  }
  EXPECT_EQ(Of("root.b").allocated, 0);
}

TEST_F(QueueCountersTest, WhatIsTakenBackCountsWithItsTime) {
  ms::Finished end;
  end.app = master_.app;
  end.container = master_.container;
  end.exit_status = model::kExitPreempted;
  Take(15'900, end);
  EXPECT_EQ(Of("root.a").released, 1);
  EXPECT_EQ(Of("root.a").preempted, 1);
  EXPECT_EQ(Of("root.a").preempted_size, master_.resources);
  EXPECT_EQ(Of("root.a").preempted_mib_seconds, master_.resources.memory_mib() * 10) << "whole seconds";
  EXPECT_EQ(Of("root.a").preempted_core_seconds, master_.resources.vcores() * 10);
  end.exit_status = 0;
  Take(15'900, end);
  EXPECT_EQ(Of("root.a").released, 2);
  EXPECT_EQ(Of("root.a").preempted, 1);
}

TEST_F(QueueCountersTest, EachUserIsCountedByItself) {
  Submit(2, "bob", "a.b");
  for (const char* queue : {"root.a.b", "root.a", "root"}) {
    EXPECT_EQ(OfUser(queue, "ann").allocated, 1) << queue;
    EXPECT_EQ(OfUser(queue, "ann").killed, 0) << queue;
    EXPECT_EQ(OfUser(queue, "bob").allocated, 0) << queue;
    EXPECT_EQ(OfUser(queue, "bob").killed, 1) << queue;
  }
}

TEST_F(QueueCountersTest, OfTooManyUsersThoseThatWereCountedLastStay) {
  for (int32_t number = 2; number < 1502; ++number) {
    Submit(number, "stranger" + std::to_string(number), "c");
    if (number % 100 == 0) Take(6000, Grant(model::Locality::kNodeLocal));
  }
  EXPECT_LE(counters_.by_user().size(), QueueCounters::kMostUsers);
  EXPECT_EQ(OfUser("root.a.b", "ann").allocated, 16) << "counted now and then";
  EXPECT_EQ(OfUser("root.c", "stranger2").killed, 0) << "forgotten";
  EXPECT_EQ(OfUser("root.c", "stranger1501").killed, 1);
  EXPECT_EQ(Of("root").killed, 1500);
}

class QueueCountersOfCapacityTest : public QueueCountersTest {
 protected:
  static fairlead::rm::Config Capacity() {
    fairlead::rm::Config config;
    config.queues.capacity.emplace();
    return config;
  }
  QueueCountersOfCapacityTest() : QueueCountersTest(Capacity()) {}
};

TEST_F(QueueCountersOfCapacityTest, UsersAreCountedWhereTheFileSaysSo) {
  EXPECT_EQ(Of("root").allocated, 1);
  EXPECT_TRUE(counters_.by_user().empty());
  model::QueueTree tree = machine_.core().config().queues;
  tree.capacity->user_metrics = true;
  Do(m::ReloadQueues{tree, 50});
  Take(6000, Grant(model::Locality::kNodeLocal));
  EXPECT_EQ(OfUser("root", "ann").allocated, 1);
}

TEST_F(QueueCountersTest, WhatHasEndedIsCountedForGood) {
  const auto change = [&](const std::string& subject, const std::string& to) {
    counters_.Take(machine_.core(), {subject, "RUNNING", to, "", {1000, 1}});
  };
  change("appattempt_1000_0001_000001", "FAILED");
  change("application_1000_0001", "FINISHING");
  change("application_1000_0001", "FINISHED");
  change("application_1000_0001", "KILLED");
  EXPECT_EQ(Of("root.a").completed, 1);
  EXPECT_EQ(Of("root").killed, 1);
  EXPECT_EQ(Of("root").failed, 0) << "an attempt is none";
}

}  // namespace
}  // namespace fairlead::process::rm
