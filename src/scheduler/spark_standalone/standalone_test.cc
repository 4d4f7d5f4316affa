#include "scheduler/spark_standalone/standalone.h"

#include <gtest/gtest.h>

#include "scheduler/fairlead/test_cluster.h"

namespace fairlead::scheduler {
namespace {

TEST(StandaloneTest, AGangIsGrantedWholeOrNotAtAll) {
  TestCluster cluster(MakeStandalone({}));
  cluster.Node(0, 4, 8);
  cluster.App(0, "root.a");
  model::Ask member = TestCluster::Want(3, 2, 1);
  member.gang = 7;
  cluster.Ask(0, {member});
  EXPECT_EQ(cluster.LiveOf(0).size(), 0u);
  cluster.Node(1, 2, 8);
  EXPECT_EQ(cluster.LiveOf(0).size(), 3u);
  EXPECT_EQ(cluster.scheduler().CheckInvariants(), "");
}

}  // namespace
}  // namespace fairlead::scheduler
