#include "scheduler/hadoop/apps.h"

#include <gtest/gtest.h>

namespace fairlead::scheduler::hadoop {
namespace {

TEST(Apps, AreKnownByIndexAndByIdUntilTheyGo) {
  Apps apps;
  apps.Add({3}, {true, false, {1, 7}, "user", {"group"}, QueueId{2}, {}});
  EXPECT_EQ(apps.Find({1, 7}), AppIndex{3});
  EXPECT_FALSE(apps.Current({3}).valid());
  apps.SetCurrent({3}, AttemptId{4});
  EXPECT_EQ(apps.Current({3}), AttemptId{4});
  EXPECT_FALSE(apps.Alive({1}));
  apps.Remove({3});
  EXPECT_FALSE(apps.Find({1, 7}).valid());
  EXPECT_FALSE(apps.Current({3}).valid());
  EXPECT_FALSE(apps.Current(apps.Find({9, 9})).valid());
  EXPECT_EQ(apps[{3}].current, AttemptId{4}) << "still to be read";
}

TEST(Master, ItsBlacklistCountsOnceItIsKnownToHaveAContainer) {
  Master master(false);
  EXPECT_TRUE(master.Starts());
  master.Start(model::Resources::Of(1, 1));
  EXPECT_FALSE(master.Starts());
  EXPECT_EQ(master.BlacklistNow(), Blacklist::Of::kSystem);
  master.SetKnown();
  EXPECT_EQ(master.BlacklistNow(), Blacklist::Of::kMaster);
}

TEST(Master, AnUnmanagedOneNeedsNoContainer) {
  const Master master(true);
  EXPECT_FALSE(master.Starts());
  EXPECT_FALSE(master.running());
  EXPECT_EQ(master.BlacklistNow(), Blacklist::Of::kMaster);
}

}  // namespace
}  // namespace fairlead::scheduler::hadoop
