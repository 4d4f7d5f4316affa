#include "model/queue_lifetimes.h"

#include <gtest/gtest.h>

namespace fairlead::model {
namespace {

// The rules of QueueAppLifetimeAndLimitSettings (3.4.3), one by one.
class QueueLifetimesTest : public ::testing::Test {
 protected:
  void Set(const std::string& path, int64_t maximum, int64_t standard) {
    CapacityQueueSettings& own = file_.queues[path].own;
    own.maximum_application_lifetime = maximum;
    own.default_application_lifetime = standard;
  }
  /// Maximum, default.
  std::pair<int64_t, int64_t> Of(const std::string& path) const {
    const QueueLifetimes of = LifetimesOf(file_, path);
    return {of.maximum, of.standard};
  }
  using Pair = std::pair<int64_t, int64_t>;
  CapacityQueues file_;
};

TEST_F(QueueLifetimesTest, WithoutKeysThereAreNone) {
  EXPECT_EQ(Of("root.a"), Pair(-1, -1));
  EXPECT_EQ(LifetimesOf(file_, "root.a").For(-1), -1);
  EXPECT_EQ(LifetimesOf(file_, "root.a").For(50), 50);
}

TEST_F(QueueLifetimesTest, AQueueHasItsOwnOrThoseAbove) {
  Set("root", 100, 40);
  Set("root.own", 30, 10);
  Set("root.none", 0, -1);
  Set("root.shorter", 20, -1);
  EXPECT_EQ(Of("root.a.b"), Pair(100, 40));
  EXPECT_EQ(Of("root.own.b"), Pair(30, 10));
  EXPECT_EQ(Of("root.none"), Pair(0, 0)) << "0 is no maximum, whatever stands above";
  EXPECT_EQ(Of("root.shorter"), Pair(20, 20)) << "the default from above is no longer than the maximum";
}

TEST_F(QueueLifetimesTest, TheMaximumIsTheDefaultWhereThatIsNotSaid) {
  Set("root.a", 70, -1);
  EXPECT_EQ(Of("root.a"), Pair(70, 70));
  Set("root.a", 70, 0);
  EXPECT_EQ(Of("root.a"), Pair(70, 70));
  const QueueLifetimes of = LifetimesOf(file_, "root.a");
  EXPECT_EQ(of.For(-1), 70);
  EXPECT_EQ(of.For(20), 20);
  EXPECT_EQ(of.For(500), 70);
}

TEST_F(QueueLifetimesTest, QueuesThatAreMadeHaveTheirTemplates) {
  file_.queues["root.users"].leaves.maximum_application_lifetime = 60;
  file_.queues["root.users"].children.default_application_lifetime = 50;
  EXPECT_EQ(Of("root.users.ann"), Pair(60, 50));
}

}  // namespace
}  // namespace fairlead::model
