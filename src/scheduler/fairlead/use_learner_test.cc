#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/fairlead/test_cluster.h"

// Wish learned-use: what containers of a kind were measured to use is expected of the next ones.

namespace fairlead::scheduler {
namespace {

using model::LearnedUse;
using model::MeasuredUse;
using model::Resources;

struct Jobs {
  static FairleadConfig Config() {
    FairleadConfig config;
    config.queues.wishes.measured_load = true;
    config.queues.wishes.learned_use = true;
    return config;
  }
  explicit Jobs(const FairleadConfig& config = Config()) : cluster_(config) {
    for (uint32_t i = 0; i < 2; ++i) cluster_.Node(i, 102'400, 100);
  }
  void At(int64_t seconds) {
    cluster_.now_ = base::Instant{} + base::Duration::Seconds(seconds);
    cluster_.Send(std::vector<ev::Event>{});
  }
  void App(uint32_t index, const std::string& user, const std::string& name) {
    ev::AppAdded added;
    added.app = {index};
    added.id = {1, static_cast<int32_t>(index) + 1};
    added.queue = "root.q";
    added.user = user;
    added.place = false;
    added.unmanaged = true;
    added.session.kind = name;
    ev::AttemptAdded attempt;
    attempt.app = {index};
    attempt.attempt = 1;
    cluster_.Send({added, attempt});
  }
  /// How many of `count` containers of 10 cores and 1,000 MiB go to node 0.
  size_t OnFirst(uint32_t app, int32_t count, int32_t priority = 1) {
    cluster_.Ask(app, {TestCluster::Want(count, 1000, 10, "*", true, priority)});
    size_t first = 0;
    for (const ev::Granted& grant : cluster_.Last<ev::Granted>()) first += grant.node.value == 0 ? 1 : 0;
    EXPECT_EQ(cluster_.scheduler().CheckInvariants(), "");
    return first;
  }
  /// Node 0 uses `cores`, node 1 uses `other`; every container of the application on the node so much of them.
  void Tell(uint32_t node, int64_t cores, uint32_t app, int64_t milli_cores, int64_t mib) {
    ev::NodeMeasured event;
    event.node = {node};
    event.use.milli_cores = cores * 1000;
    event.use.physical_bytes = 0;
    event.physical = Resources::Of(102'400, 100);
    for (const ev::Granted& grant : cluster_.LiveOf(app)) {
      if (grant.node.value != node) continue;
      MeasuredUse use;
      use.milli_cores = milli_cores;
      use.physical_bytes = mib << 20;
      event.each.push_back({grant.container, use});
    }
    cluster_.Send(event);
    for (const ev::UseLearned& learned : cluster_.Last<ev::UseLearned>()) {
      stored_.insert(stored_.end(), learned.rows.begin(), learned.rows.end());
    }
  }
  /// An application whose 10 containers of 10 cores on the two nodes use so much each, and that then ends.
  void Teach(uint32_t app, const std::string& user, const std::string& name, int64_t milli_cores, int64_t mib = 100,
             int64_t machine_cores = 10) {
    App(app, user, name);
    Tell(0, 0, app, 0, 0);
    Tell(1, 0, app, 0, 0);
    OnFirst(app, 10);
    const int64_t now = cluster_.now_.ns / 1'000'000'000;
    for (int64_t second = 20; second <= 60; second += 20) {
      At(now + second);
      Tell(0, machine_cores, app, milli_cores, mib);
      Tell(1, machine_cores, app, milli_cores, mib);
    }
    cluster_.Send(ev::AppRemoved{{app}});
    At(now + 120);
  }
  /// Of 9 containers of the application, so many go to a node that is used to 40 cores less than the other: 40 over
  /// what each is expected to use, and half of the rest.
  size_t FirstOfNine(uint32_t app, const std::string& user, const std::string& name, int32_t priority = 1) {
    App(app, user, name);
    Tell(0, 0, app, 0, 0);
    Tell(1, 40, app, 0, 0);
    return OnFirst(app, 9, priority);
  }
  TestCluster cluster_;
  std::vector<LearnedUse> stored_;
};

class UseLearnerTest : public testing::Test, public Jobs {};

// Node 0 is 40 cores below node 1. As booked 4 containers level it, and the other 5 are split.
constexpr size_t kAsBooked = 7;  // at most

TEST_F(UseLearnerTest, WhatIsNotKnownIsExpectedToUseWhatItBooks) {
  EXPECT_LE(FirstOfNine(0, "ann", "daily "), kAsBooked);
}

TEST_F(UseLearnerTest, TheNextOfAKindIsExpectedToUseWhatTheyDid) {
  Teach(0, "ann", "daily ", 4000);
  EXPECT_EQ(FirstOfNine(1, "ann", "daily "), 9) << "9 of 4 cores do not level it";
}

TEST_F(UseLearnerTest, AnotherUserNameOrPriorityIsAnotherKind) {
  Teach(0, "ann", "daily ", 4000);
  EXPECT_LE(FirstOfNine(1, "bob", "daily "), kAsBooked);
  cluster_.Send(ev::AppRemoved{{1}});
  EXPECT_LE(FirstOfNine(2, "ann", "hourly "), kAsBooked);
  cluster_.Send(ev::AppRemoved{{2}});
  EXPECT_LE(FirstOfNine(3, "ann", "daily ", 2), kAsBooked);
}

TEST_F(UseLearnerTest, NobodyIsExpectedToUseLessThanAQuarterWhateverIsTold) {
  Teach(0, "ann", "daily ", 0, 0);
  ASSERT_FALSE(stored_.empty());
  EXPECT_EQ(stored_.back().milli_cores.mean(), 0);
  App(1, "ann", "daily ");
  Tell(0, 0, 1, 0, 0);
  Tell(1, 10, 1, 0, 0);
  EXPECT_EQ(OnFirst(1, 8), 6) << "each counts 2.5 cores: 4 level the 10, the other 4 are split";
}

TEST_F(UseLearnerTest, MoreThanIsBookedCountsAsWhatIsBooked) {
  Teach(0, "ann", "daily ", INT64_MAX, 1 << 20);
  ASSERT_FALSE(stored_.empty());
  EXPECT_EQ(stored_.back().milli_cores.mean(), 10'000);
  EXPECT_EQ(stored_.back().memory_mib.peak, 1000);
  EXPECT_LE(FirstOfNine(1, "ann", "daily "), kAsBooked);
}

TEST_F(UseLearnerTest, CoresAreNotLearnedWhereTheMachineIsFull) {
  Teach(0, "ann", "daily ", 1000, 100, 95);
  ASSERT_FALSE(stored_.empty());
  EXPECT_EQ(stored_.back().milli_cores.count, 0);
  EXPECT_GT(stored_.back().memory_mib.count, 0);
}

TEST_F(UseLearnerTest, ANodeSpeaksOfItsOwnContainersOnly) {
  App(0, "ann", "daily ");
  Tell(1, 50, 0, 0, 0);
  Tell(0, 0, 0, 0, 0);
  ASSERT_EQ(OnFirst(0, 3), 3);
  At(60);
  ev::NodeMeasured lie;
  lie.node = {1};
  lie.use.milli_cores = 0;
  for (const ev::Granted& grant : cluster_.LiveOf(0)) lie.each.push_back({grant.container, MeasuredUse{0, 0}});
  lie.each.push_back({model::ContainerId{}, MeasuredUse{0, 0}});
  cluster_.Send(lie);
  EXPECT_TRUE(cluster_.Last<ev::UseLearned>().empty());
}

TEST_F(UseLearnerTest, WhatIsUnknownTeachesNothing) {
  Teach(0, "ann", "daily ", MeasuredUse::kUnknown, 100);
  ASSERT_FALSE(stored_.empty());
  EXPECT_EQ(stored_.back().milli_cores, model::LearnedAmount{});
  EXPECT_EQ(stored_.back().disk_bytes, model::LearnedAmount{});
}

TEST_F(UseLearnerTest, WhatWasNotHeardForLongIsForgotten) {
  Teach(0, "ann", "daily ", 4000);
  At(86'400 * 6);
  EXPECT_LE(FirstOfNine(1, "ann", "daily "), kAsBooked) << "30 measures halved six times are none";
}

TEST_F(UseLearnerTest, ARestartKeepsWhatWasStored) {
  Teach(0, "ann", "daily ", 4000);
  ASSERT_FALSE(stored_.empty());
  LearnedUse row = stored_.back();
  row.stored = {1'000'000};
  const auto after = [&](int64_t later_ms) {
    Jobs next;
    next.cluster_.Send(ev::UseRecalled{{row}, {1'000'000 + later_ms}});
    return next.FirstOfNine(0, "ann", "daily ");
  };
  EXPECT_EQ(after(60'000), 9);
  EXPECT_LE(after(86'400'000 * 6), kAsBooked) << "it aged while nobody ran";
}

TEST_F(UseLearnerTest, RowsThatMakeNoSenseArePassedOver) {
  LearnedUse row;
  row.user = "ann";
  row.size = Resources::Of(1000, 10);
  std::vector<LearnedUse> rows(6, row);
  rows[0].row = UINT32_MAX;
  rows[1].milli_cores = {-1, 0, 0};
  rows[2].milli_cores = {10, INT64_MAX, 1};
  rows[3].user = std::string(1 << 20, 'x');
  rows[4].size = Resources::Of(-1, 0);
  rows[5].memory_mib = {1 << 30, 0, 0};
  cluster_.Send(ev::UseRecalled{rows, {INT64_MAX}});
  const uint64_t before = Jobs().cluster_.scheduler().StateHash();
  EXPECT_EQ(cluster_.scheduler().StateHash(), before);
  cluster_.Send(ev::UseRecalled{{row, row}, {INT64_MIN}});
  EXPECT_NE(cluster_.scheduler().StateHash(), before);
  EXPECT_EQ(cluster_.scheduler().CheckInvariants(), "");
}

TEST_F(UseLearnerTest, AUserHasSoManyRowsAndTheOldestGoes) {
  App(0, "ann", "daily ");
  std::map<uint32_t, int32_t> priority_of_row;
  for (int32_t priority = 0; priority < 300; ++priority) {
    At(100 * priority);
    Tell(1, 50, 0, 0, 0);
    Tell(0, 0, 0, 0, 0);
    OnFirst(0, 1, priority);
    At(100 * priority + 61);
    Tell(0, 1, 0, 500, 100);
    std::vector<model::ContainerId> all;
    for (const ev::Granted& grant : cluster_.LiveOf(0)) all.push_back(grant.container);
    cluster_.Ask(0, {}, all);
    for (const LearnedUse& row : std::exchange(stored_, {})) priority_of_row[row.row] = row.priority;
  }
  EXPECT_EQ(priority_of_row.size(), 256);
  EXPECT_EQ(priority_of_row[0], 256) << "the first was the oldest when the 257th came";
  EXPECT_EQ(priority_of_row[44], 44);
  EXPECT_EQ(cluster_.scheduler().CheckInvariants(), "");
}

TEST_F(UseLearnerTest, OffNothingIsLearned) {
  FairleadConfig config = Config();
  config.queues.wishes.learned_use = false;
  Jobs off(config);
  off.Teach(0, "ann", "daily ", 4000);
  EXPECT_TRUE(off.stored_.empty());
  EXPECT_LE(off.FirstOfNine(1, "ann", "daily "), kAsBooked);
}

}  // namespace
}  // namespace fairlead::scheduler
