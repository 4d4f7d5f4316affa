#include "process/rm/queue_activity.h"

#include <gtest/gtest.h>

namespace fairlead::process::rm {
namespace {

constexpr int64_t kMinute = 60'000;
constexpr base::WallTime kNow{2000 * kMinute};

/// A master that started so long ago.
AppRow Row(const std::string& queue, const std::string& user, int64_t minutes, int64_t pending) {
  AppRow row;
  row.app.submission.queue = queue;
  row.app.submission.user = user;
  row.app.state = model::rm::AppState::kRunning;
  Attempt& attempt = row.app.attempts[1];
  attempt.master.id.value = 1;
  attempt.started = {kNow.ms - minutes * kMinute};
  row.pending = pending;
  return row;
}

TEST(QueueActivitiesTest, RunningOnesAreCountedByTheirTimeInTheQueueAndAbove) {
  QueueActivities activities;
  for (const int64_t minutes : {0, 59, 60, 299, 300, 1439, 1440, 1999})
    activities.Add(Row("root.a.b", "u", minutes, 0), kNow);
  for (const char* queue : {"root", "root.a", "root.a.b"}) {
    EXPECT_EQ(activities.Of(queue).running, (std::array<int64_t, 4>{2, 2, 2, 2})) << queue;
    EXPECT_EQ(activities.Of(queue).active_applications, 0) << queue;
  }
  EXPECT_EQ(activities.Of("root.c").running, (std::array<int64_t, 4>{}));
}

TEST(QueueActivitiesTest, ApplicationsThatWaitAndTheirUsersAreActive) {
  QueueActivities activities;
  for (const auto& [queue, user, pending] : {std::tuple{"root.a", "ann", 3}, std::tuple{"root.a", "ann", 1},
                                             std::tuple{"root.a", "bob", 0}, std::tuple{"root.b", "ann", 2}}) {
    activities.Add(Row(queue, user, 1, pending), kNow);
  }
  EXPECT_EQ(activities.Of("root.a").active_applications, 2);
  EXPECT_EQ(activities.Of("root.a").active_users, 1);
  EXPECT_EQ(activities.Of("root").active_applications, 3);
  EXPECT_EQ(activities.Of("root").active_users, 2);
}

TEST(QueueActivitiesTest, EachUserHasSumsOfItsOwn) {
  QueueActivities activities(true);
  AppRow row = Row("root.a", "ann", 60, 3);
  row.usage.containers = 2;
  row.usage.used = model::Resources::Of(512, 2);
  activities.Add(row, kNow);
  activities.Add(row, kNow);
  activities.Add(Row("root.b", "ann", 1, 0), kNow);
  row.app.submission.user = "bob";
  row.app.state = model::rm::AppState::kKilled;
  activities.Add(row, kNow);
  ASSERT_EQ(activities.users().size(), 3U) << "bob's is over";
  const UserActivity& ann = activities.users().at({"root", "ann"});
  EXPECT_EQ(ann.sums.Live(), 3);
  EXPECT_EQ(ann.sums.containers, 4);
  EXPECT_EQ(ann.sums.pending, 6);
  EXPECT_EQ(ann.used, model::Resources::Of(1024, 4));
  EXPECT_EQ(ann.activity.running, (std::array<int64_t, 4>{1, 2, 0, 0}));
  EXPECT_EQ(ann.activity.active_applications, 2);
  EXPECT_EQ(activities.users().at({"root.b", "ann"}).sums.Live(), 1);
}

TEST(QueueActivitiesTest, OfTooManyUsersTheFirstAreThere) {
  QueueActivities activities(true);
  for (int number = 0; number < 2000; ++number) activities.Add(Row("root", std::to_string(number), 1, 0), kNow);
  activities.Add(Row("root", "0", 1, 0), kNow);
  EXPECT_EQ(activities.users().size(), QueueCounters::kMostUsers);
  EXPECT_EQ(activities.users().at({"root", "0"}).sums.Live(), 2);
}

TEST(QueueActivitiesTest, WhatHasEndedCountsNowhere) {
  QueueActivities activities;
  AppRow row = Row("root.a", "ann", 1, 1);
  row.app.state = model::rm::AppState::kFinished;
  activities.Add(row, kNow);
  EXPECT_EQ(activities.Of("root").active_applications, 0);
  EXPECT_EQ(activities.Of("root").running[0], 0);
}

}  // namespace
}  // namespace fairlead::process::rm
