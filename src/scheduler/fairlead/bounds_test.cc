#include <gtest/gtest.h>

#include "scheduler/books/core.h"
#include "scheduler/fairlead/fairlead.h"
#include "scheduler/fairlead/test_cluster.h"

// What strangers can make the books grow by.

namespace fairlead::scheduler {
namespace {

const native::Books& BooksOf(TestCluster& cluster) {
  return dynamic_cast<const native::Core&>(cluster.scheduler()).books();
}

std::vector<model::Ask> AtHosts(int from, int count, int32_t containers) {
  std::vector<model::Ask> asks;
  for (int i = from; i < from + count; ++i) {
    asks.push_back(TestCluster::Want(containers, 1, 1, "h" + std::to_string(i)));
  }
  return asks;
}

TEST(BoundsTest, AMillionPlacesNamedAndTakenBackAreForgotten) {
  TestCluster cluster;
  cluster.Node(0, 8, 8);
  cluster.App(0, "root.a");
  for (int i = 0; i < 1'000'000; i += 1'000) {
    cluster.Ask(0, AtHosts(i, 1'000, 1));
    cluster.Ask(0, AtHosts(i, 1'000, 0));
  }
  EXPECT_LE(BooksOf(cluster).places.size(), native::Places::kMostIdle + 2'000);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(BoundsTest, ACallThatNamesMorePlacesThanAllowedIsRefusedAsAWhole) {
  FairleadConfig config;
  config.places_per_app = 100;
  TestCluster cluster(config);
  cluster.App(0, "root.a");
  cluster.Ask(0, AtHosts(0, 90, 1));
  cluster.Ask(0, AtHosts(90, 20, 1));
  ASSERT_EQ(cluster.Last<ev::CallRefused>().size(), 1u);
  EXPECT_EQ(cluster.Last<ev::CallRefused>()[0].refused,
            (model::Refused{model::Refusal::kTooManyPlaces, {}, {}, {100}}));
  EXPECT_FALSE(BooksOf(cluster).places.Find("h95").valid()) << "nothing of it applies";
}

TEST(BoundsTest, ExclusionsAreBoundedAndForgottenWithTheApplication) {
  FairleadConfig config;
  config.places_per_app = 100;
  TestCluster cluster(config);
  cluster.App(0, "root.a");
  ev::Allocate call;
  call.app = {0};
  for (int i = 0; i < 101; ++i) call.blacklist_add.push_back("h" + std::to_string(i));
  cluster.Send(call);
  EXPECT_EQ(cluster.Last<ev::CallRefused>().size(), 1u);
  call.blacklist_add.resize(50);
  cluster.Send(call);
  EXPECT_EQ(BooksOf(cluster).places[BooksOf(cluster).places.Find("h3")].mentions, 1u);
  cluster.Send(ev::AppRemoved{{0}});
  EXPECT_EQ(BooksOf(cluster).places[BooksOf(cluster).places.Find("h3")].mentions, 0u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

TEST(BoundsTest, LabelsThatAsksNameAreBounded) {
  FairleadConfig config;
  config.keys_per_app = config.sizes_per_app = config.places_per_app = 10'000;
  TestCluster cluster(config);
  cluster.App(0, "root.a");
  for (int from = 0; from < 4096; from += 1024) {
    std::vector<model::Ask> asks;
    for (int i = from; i < from + 1024; ++i) {
      asks.push_back(TestCluster::Want(1, 1, 1));
      asks.back().label = "l" + std::to_string(i);
    }
    cluster.Ask(0, asks);
    ASSERT_TRUE(cluster.Last<ev::CallRefused>().empty());
  }
  std::vector<model::Ask> more = {TestCluster::Want(1, 1, 1)};
  more[0].label = "one more";
  cluster.Ask(0, more);
  ASSERT_EQ(cluster.Last<ev::CallRefused>().size(), 1u);
  EXPECT_EQ(cluster.Last<ev::CallRefused>()[0].refused,
            (model::Refused{model::Refusal::kTooManyLabels, {"one more"}, {}, {4096}}));
}

TEST(BoundsTest, QueuesThatApplicationsMakeAreBounded) {
  TestCluster cluster;
  uint32_t app = 0;
  for (; app < 10'001; ++app) {
    cluster.App(app, "root.q" + std::to_string(app));
    if (!cluster.Last<ev::CallRefused>().empty()) break;
  }
  ASSERT_EQ(cluster.Last<ev::CallRefused>().size(), 1u);
  EXPECT_EQ(cluster.Last<ev::CallRefused>()[0].refused.why, model::Refusal::kBadQueueName);
  EXPECT_GT(app, 9'990u);
  cluster.App(20'000, "root.q0");
  EXPECT_TRUE(cluster.Last<ev::CallRefused>().empty()) << "one that is there";
}

TEST(BoundsTest, UsersWhoHaveNothingHereAreForgotten) {
  TestCluster cluster;
  for (uint32_t app = 0; app < 1'000; ++app) {
    cluster.App(app, "root.a", "stranger" + std::to_string(app));
    cluster.Send(ev::AppRemoved{{app}});
  }
  cluster.App(1'000, "root.a", "ann");
  EXPECT_EQ(BooksOf(cluster).apps[BooksOf(cluster).apps.Find({1'000})].user.value, 0u);
}

}  // namespace
}  // namespace fairlead::scheduler
