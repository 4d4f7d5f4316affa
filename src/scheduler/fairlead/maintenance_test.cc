#include "scheduler/fairlead/maintenance.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/test_seed.h"
#include "scheduler/fairlead/promises.h"
#include "scheduler/fairlead/test_cluster.h"

namespace fairlead::scheduler {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant At(int64_t seconds) { return Instant{} + Duration::Seconds(seconds); }

/// Containers of `short` cores' size run for a minute, as is known; nothing is known of others.
class MaintenanceTest : public testing::Test {
 protected:
  static constexpr int64_t kShort = 1;
  static constexpr int64_t kUnknown = 2;

  explicit MaintenanceTest(const FairleadConfig& config = {}) : cluster_(config) {
    cluster_.Node(0, 16, 16);
    cluster_.App(0, "root.a");
  }
  void Announce(uint32_t node, int64_t from, int64_t until) {
    cluster_.Send(ev::NodeWindows{{node}, {{At(from), At(until)}}});
  }
  void Learn() {
    for (int i = 0; i < 4; ++i) {
      const auto granted = Want(kShort, 1);
      ASSERT_EQ(granted.size(), 1U);
      cluster_.now_ = cluster_.now_ + Duration::Seconds(60);
      cluster_.Complete(granted.front().container);
    }
  }
  std::vector<ev::Granted> Want(int64_t cores, int32_t count) {
    cluster_.Ask(0, {TestCluster::Want(count, cores, cores)});
    return cluster_.Last<ev::Granted>();
  }
  void Wait(int64_t until) {
    cluster_.now_ = At(until);
    cluster_.Send(std::vector<ev::Event>{});
  }
  TestCluster cluster_;
};

TEST_F(MaintenanceTest, WhatEndsBeforeStartsAndOthersWait) {
  Announce(0, 10'000, 12'000);
  Learn();
  Wait(9900);
  EXPECT_EQ(Want(kShort, 1).size(), 1U) << "it ends 40 s before";
  EXPECT_TRUE(Want(kUnknown, 1).empty()) << "an hour is assumed";
  Wait(9950);
  EXPECT_TRUE(Want(kShort, 1).empty()) << "it would end 10 s after the beginning";
  const auto why = cluster_.scheduler().Why({0}, cluster_.now_);
  ASSERT_FALSE(why.empty());
  EXPECT_EQ(why[0].reason, ev::PendingReason::kReserved);
  EXPECT_NE(why[0].detail.find("first of n0, which begins in 50000 ms: it may run for 60000 ms"), std::string::npos)
      << why[0].detail;
  EXPECT_EQ(cluster_.scheduler().CheckInvariants(), "");
}

TEST_F(MaintenanceTest, UnknownOnesStartUpToAnHourBefore) {
  Announce(0, 10'000, 12'000);
  Wait(6000);
  EXPECT_EQ(Want(kUnknown, 1).size(), 1U);
  Wait(6401);
  EXPECT_TRUE(Want(kUnknown, 1).empty());
  EXPECT_NE(cluster_.scheduler().Why({0}, cluster_.now_).at(0).detail.find("nobody knows how long it runs"),
            std::string::npos);
}

TEST_F(MaintenanceTest, WhoWaitedStartsWhenItIsOverOrCancelled) {
  for (const bool cancelled : {false, true}) {
    Announce(0, 10'000, 12'000);
    ASSERT_TRUE(Want(kUnknown, 1).size() == 1U || cluster_.now_ > At(6400));
    Wait(cancelled ? 19'000 : 9000);
    if (cancelled) Announce(0, 20'000, 22'000);
    ASSERT_TRUE(Want(kUnknown, 3).empty());
    if (cancelled) {
      cluster_.Send(ev::NodeWindows{{0}, {}});
    } else {
      Wait(10'000);
      cluster_.Send(ev::NodeSchedulable{{0}, false});
      Wait(12'000);
      cluster_.Send({ev::NodeSchedulable{{0}, true}, ev::NodeWindows{{0}, {}}});
    }
    EXPECT_EQ(cluster_.Last<ev::Granted>().size(), 3U) << cancelled;
  }
}

TEST_F(MaintenanceTest, AnotherNodeIsTaken) {
  cluster_.Node(1, 16, 16);
  Announce(0, 1000, 2000);
  Announce(1, 100'000, 200'000);
  for (const ev::Granted& granted : Want(kUnknown, 8)) EXPECT_EQ(granted.node.value, 1U);
  EXPECT_EQ(cluster_.live().size(), 8U);
}

TEST_F(MaintenanceTest, TheNextNodeOfThatNumberHasNone) {
  Announce(0, 1000, 2000);
  EXPECT_TRUE(Want(kUnknown, 1).empty());
  cluster_.Send(ev::NodeRemoved{{0}});
  cluster_.Node(0, 16, 16);
  EXPECT_EQ(cluster_.live().size(), 1U);
}

TEST_F(MaintenanceTest, GangsStartAsTheUnknownDo) {
  Announce(0, 10'000, 12'000);
  Wait(9000);
  model::Ask member = TestCluster::Want(2, 1, 1);
  member.gang = 7;
  cluster_.Ask(0, {member});
  EXPECT_TRUE(cluster_.live().empty());
  cluster_.Send(ev::NodeWindows{{0}, {}});
  Wait(9001);
  EXPECT_EQ(cluster_.live().size(), 2U);
}

TEST_F(MaintenanceTest, WhatWasLearnedBeforeCounts) {
  model::LearnedRuns row;
  row.user = "u";
  row.priority = 1;
  row.size = model::Resources::Of(kShort, kShort);
  row.runs_ms = {60'000, 60'000, 60'000};
  cluster_.Send(ev::RunTimesRecalled{{row}, true});
  Announce(0, 100, 200);
  EXPECT_EQ(Want(kShort, 1).size(), 1U);
  EXPECT_TRUE(Want(kUnknown, 1).empty());
}

class PromisesInMaintenanceTest : public MaintenanceTest {
 protected:
  PromisesInMaintenanceTest() : MaintenanceTest(Config()) {}
  static FairleadConfig Config() {
    FairleadConfig config;
    config.backfill.promises = 2;
    config.backfill.slack_percent = 0;
    return config;
  }
};

TEST_F(PromisesInMaintenanceTest, NoStartIsPromisedThatWouldRunIntoIt) {
  Learn();
  const int64_t now = 240;
  ASSERT_EQ(Want(kShort, 16).size(), 16U);
  Wait(now + 1);
  EXPECT_TRUE(Want(kShort, 1).empty());
  Promises promises = PromisesOf(cluster_.scheduler());
  ASSERT_EQ(promises.now.size(), 1U);
  EXPECT_EQ(promises.now[0].planned, At(now + 60));
  Announce(0, now + 100, now + 1000);
  promises = PromisesOf(cluster_.scheduler());
  ASSERT_EQ(promises.now.size(), 1U);
  EXPECT_EQ(promises.now[0].planned, At(now + 1000));
  EXPECT_EQ(promises.counts.withdrawn, 1);
  EXPECT_EQ(cluster_.scheduler().CheckInvariants(), "");
}

/// Containers of known kinds, windows at random: whatever starts on a node has ended when its window begins.
TEST(MaintenanceProperty, NothingOfAKnownKindRunsInAWindow) {
  for (uint64_t seed = base::TestSeed(); seed < base::TestSeed() + 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Rng rng(seed);
    FairleadConfig config;
    config.backfill.promises = rng.Chance(0.5) ? 2 : 0;
    TestCluster cluster(config);
    for (uint32_t node = 0; node < 3; ++node) cluster.Node(node, 8, 8);
    cluster.App(0, "root.a");
    std::vector<model::LearnedRuns> rows(3);
    for (uint32_t i = 0; i < 3; ++i) {
      rows[i].row = i;
      rows[i].user = "u";
      rows[i].priority = 1;
      rows[i].size = model::Resources::Of(i + 1, i + 1);
      rows[i].runs_ms.assign(4, (i + 1) * 30'000);
    }
    cluster.Send(ev::RunTimesRecalled{rows, true});
    std::map<uint32_t, int64_t> begins;
    for (uint32_t node = 0; node < 3; ++node) {
      begins[node] = rng.Between(50, 600);
      cluster.Send(ev::NodeWindows{{node}, {{At(begins[node]), At(1000)}}});
    }
    std::multimap<int64_t, model::ContainerId> ends;
    size_t started = 0;
    for (int64_t now = 0; now < 600; now += rng.Between(1, 9)) {
      cluster.now_ = At(now);
      const auto note = [&] {
        for (const ev::Granted& granted : cluster.Last<ev::Granted>()) {
          const int64_t end = now + granted.resources.vcores() * 30;
          EXPECT_LE(end, begins[granted.node.value]) << "of " << granted.resources.vcores() << " at " << now;
          ends.emplace(end, granted.container);
          ++started;
        }
      };
      while (!ends.empty() && ends.begin()->first <= now) {
        cluster.Complete(ends.begin()->second);
        note();
        ends.erase(ends.begin());
      }
      const int64_t cores = rng.Between(1, 3);
      cluster.Ask(0, {TestCluster::Want(static_cast<int32_t>(rng.Between(0, 9)), cores, cores)});
      note();
    }
    EXPECT_GT(started, 4U);  // where all windows begin soon there are few
    EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
  }
}

}  // namespace
}  // namespace fairlead::scheduler
