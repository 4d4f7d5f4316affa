#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "scheduler/fairlead/fairlead.h"
#include "scheduler/fairlead/test_cluster.h"

// Pools, users and groups that limit: what waits for a limit says which, by its name and with its numbers.

namespace fairlead::scheduler {
namespace {

using model::Resources;
using ::testing::HasSubstr;

struct LimitCase {
  const char* name;
  std::function<void(FairleadConfig&)> set;
  ev::PendingReason reason;
  const char* detail;
};

model::QueueConfig QueueOf(const char* name, std::optional<int32_t> running, std::optional<int64_t> cores,
                           std::optional<double> masters = {}) {
  model::QueueConfig queue;
  queue.name = name;
  queue.parent_type = true;
  queue.max_running_apps = running;
  queue.max_am_share = masters;
  if (cores)
    queue.max_resources = model::ConfiguredResources{{{"memory-mb", *cores}, {"vcores", *cores}}, {}, INT64_MAX};
  return queue;
}

std::function<void(FairleadConfig&)> WithQueue(model::QueueConfig queue) {
  return [queue](FairleadConfig& config) { config.queues.queues.push_back(queue); };
}

std::function<void(FairleadConfig&)> WithUser(const char* name, int32_t most) {
  return [=](FairleadConfig& config) { config.queues.user_max_apps[name] = most; };
}

/// What a user or group, or by default every user, may use in all queues.
std::function<void(FairleadConfig&)> WithMaximum(const char* name, bool group) {
  return [=](FairleadConfig& config) {
    const model::ConfiguredResources most{{{"memory-mb", 3}}, {}, INT64_MAX};
    if (*name == '\0') {
      config.queues.user_max_resources_default = most;
    } else {
      (group ? config.queues.group_max_resources : config.queues.user_max_resources)[name] = most;
    }
  };
}

class LimitsTest : public ::testing::TestWithParam<LimitCase> {
 protected:
  /// One of ann's, of the groups staff and analysts.
  static void App(TestCluster& cluster, uint32_t index, const std::string& queue, const std::string& user = "ann") {
    ev::AppAdded added;
    added.app = {index};
    added.id = {1, static_cast<int32_t>(index) + 1};
    added.queue = queue;
    added.user = user;
    added.groups = {"staff", "analysts", "staff"};
    added.place = false;
    ev::AttemptAdded attempt;
    attempt.app = {index};
    attempt.attempt = 1;
    cluster.Send({added, attempt});
    cluster.Ask(index, {TestCluster::Want(1, 2, 2)});
  }
};

TEST_P(LimitsTest, IsNamedByWhatItRefuses) {
  FairleadConfig config;
  config.cluster_master_share = 1000;
  config.queues.queue_max_am_share_default = -1.0;
  GetParam().set(config);
  TestCluster cluster(config);
  cluster.Node(0, 100, 100);
  App(cluster, 0, "root.a.one");
  ASSERT_EQ(cluster.LiveOf(0).size(), 1u);
  App(cluster, 1, "root.a.two");
  EXPECT_EQ(cluster.LiveOf(1).size(), 0u);
  const auto why = cluster.scheduler().Why({1}, cluster.now_);
  ASSERT_EQ(why.size(), 1u);
  EXPECT_EQ(why[0].reason, GetParam().reason);
  EXPECT_THAT(why[0].detail, HasSubstr(GetParam().detail));
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
  cluster.Send(std::vector<ev::Event>{ev::AppRemoved{{0}}});
  EXPECT_EQ(cluster.LiveOf(1).size(), 1u) << "the limit has room again";
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Every, LimitsTest,
    ::testing::Values(
        LimitCase{"MaxResourcesAbove", WithQueue(QueueOf("root.a", {}, 3)), ev::PendingReason::kQueueMaximum,
                  "queue root.a uses"},
        LimitCase{"MaxRunningAppsAbove", WithQueue(QueueOf("root.a", 1, {})), ev::PendingReason::kMaxRunningApps,
                  "queue root.a runs 1 of at most 1"},
        LimitCase{"MaxRunningAppsOfRoot", WithQueue(QueueOf("root", 1, {})), ev::PendingReason::kMaxRunningApps,
                  "queue root runs 1 of at most 1"},
        LimitCase{"User", WithUser("ann", 1), ev::PendingReason::kUserLimit, "user ann runs 1 of at most 1"},
        LimitCase{"UserByDefault", [](FairleadConfig& config) { config.queues.user_max_apps_default = 1; },
                  ev::PendingReason::kUserLimit, "user ann runs 1 of at most 1"},
        LimitCase{"Group", [](FairleadConfig& config) { config.queues.group_max_apps["staff"] = 1; },
                  ev::PendingReason::kUserLimit, "group staff runs 1 of at most 1"},
        LimitCase{"UsersMaximum", WithMaximum("ann", false), ev::PendingReason::kUserMaximum,
                  "user ann uses 2 MiB and 2 cores of at most 3 MiB"},
        LimitCase{"UsersMaximumByDefault", WithMaximum("", false), ev::PendingReason::kUserMaximum,
                  "user ann uses 2 MiB and 2 cores of at most 3 MiB"},
        LimitCase{"GroupsMaximum", WithMaximum("staff", true), ev::PendingReason::kUserMaximum,
                  "group staff uses 2 MiB and 2 cores of at most 3 MiB"},
        LimitCase{"MastersOfAll", [](FairleadConfig& config) { config.cluster_master_share = 25; },
                  ev::PendingReason::kMasterShare, "masters in queue root use"}),
    [](const auto& one) { return one.param.name; });

TEST_F(LimitsTest, AGroupsLimitCountsAllItsUsersAndIsReadAnew) {
  FairleadConfig config;
  config.cluster_master_share = 1000;
  config.queues.queue_max_am_share_default = -1.0;
  config.queues.group_max_apps["analysts"] = 2;
  config.queues.user_max_apps_default = 5;  // of users, not of groups
  TestCluster cluster(config);
  cluster.Node(0, 100, 100);
  App(cluster, 0, "root.a", "ann");
  App(cluster, 1, "root.b", "bob");
  App(cluster, 2, "root.c", "eve");
  cluster.App(3, "root.c", "one of none");
  cluster.Ask(3, {TestCluster::Want(1, 2, 2)});
  EXPECT_EQ(cluster.LiveOf(1).size(), 1u);
  EXPECT_EQ(cluster.LiveOf(2).size(), 0u);
  EXPECT_EQ(cluster.LiveOf(3).size(), 1u);
  config.queues.group_max_apps["analysts"] = 3;
  cluster.Send(std::vector<ev::Event>{ev::QueuesReloaded{config.queues, 7}});
  EXPECT_EQ(cluster.LiveOf(2).size(), 1u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST_F(LimitsTest, AMaximumOfAUserFollowsTheClusterTheFileAndWhatEnds) {
  FairleadConfig config;
  config.cluster_master_share = 1000;
  config.queues.queue_max_am_share_default = -1.0;
  config.queues.user_max_resources["ann"] = model::ConfiguredResources{{}, {{"*", 50.0}}, INT64_MAX};
  TestCluster cluster(config);
  cluster.Node(0, 8, 8);
  for (uint32_t app = 0; app < 6; ++app) App(cluster, app, "root.q" + std::to_string(app));
  const auto running = [&] {
    size_t sum = 0;
    for (uint32_t app = 0; app < 6; ++app) sum += cluster.LiveOf(app).size();
    return sum;
  };
  EXPECT_EQ(running(), 2u) << "half of the node";
  App(cluster, 9, "root.q1", "bob");
  EXPECT_EQ(cluster.LiveOf(9).size(), 1u) << "another user's";
  const auto& effects = cluster.Ask(0, {});
  EXPECT_EQ(std::get<ev::AllocateAnswered>(effects.back()).headroom, Resources::Of(0, 0));
  cluster.Node(1, 4, 4);
  EXPECT_EQ(running(), 3u) << "half of both";
  cluster.Complete(cluster.LiveOf(0)[0].container);
  EXPECT_EQ(running(), 3u) << "one ended, the next began";
  config.queues.user_max_resources["ann"] = model::ConfiguredResources{{{"memory-mb", 8}}, {}, INT64_MAX};
  cluster.Send(std::vector<ev::Event>{ev::QueuesReloaded{config.queues, 7}});
  EXPECT_EQ(running(), 4u);
  config.queues.user_max_resources.clear();
  cluster.Send(std::vector<ev::Event>{ev::QueuesReloaded{config.queues, 8}});
  EXPECT_EQ(running(), 5u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST_F(LimitsTest, AGangBeyondItsUsersMaximumSaysSo) {
  FairleadConfig config;
  config.queues.user_max_resources["u"] = model::ConfiguredResources{{{"memory-mb", 3}}, {}, INT64_MAX};
  TestCluster cluster(config);
  cluster.Node(0, 8, 8);
  cluster.App(0, "root.a");
  model::Ask members = TestCluster::Want(4, 1, 1);
  members.gang = 7;
  cluster.Ask(0, {members});
  EXPECT_EQ(cluster.LiveOf(0).size(), 0u);
  const auto why = cluster.scheduler().Why({0}, cluster.now_);
  ASSERT_EQ(why.size(), 1u);
  EXPECT_EQ(why[0].reason, ev::PendingReason::kUserMaximum);
  config.queues.user_max_resources.clear();
  cluster.Send(std::vector<ev::Event>{ev::QueuesReloaded{config.queues, 7}});
  EXPECT_EQ(cluster.LiveOf(0).size(), 4u);
}

}  // namespace
}  // namespace fairlead::scheduler
