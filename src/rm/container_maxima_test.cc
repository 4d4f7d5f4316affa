#include "rm/container_maxima.h"

#include <gtest/gtest.h>

namespace fairlead::rm {
namespace {

using model::Resources;

TEST(ContainerMaxima, TheNearestQueueThatSetsOneCounts) {
  model::QueueTree tree;
  const auto add = [&](const char* name) -> model::ConfiguredResources& {
    tree.queues.emplace_back().name = name;
    return tree.queues.back().max_container_allocation.emplace();
  };
  add("root.a").absolute = {{"memory-mb", 2048}};
  add("root.a.b").absolute = {{"memory-mb", 16384}, {"vcores", 1}};
  add("root.c").percent = {{"*", 10.0}};
  tree.queues.emplace_back().name = "root.a.d";
  const ContainerMaxima maxima(tree);
  const Resources cluster = Resources::Of(8192, 4);
  EXPECT_EQ(maxima.Within(cluster, "root.a"), Resources::Of(2048, 4));
  EXPECT_EQ(maxima.Within(cluster, "a.d"), Resources::Of(2048, 4));
  EXPECT_EQ(maxima.Within(cluster, "root.a.users.alice"), Resources::Of(2048, 4));
  EXPECT_EQ(maxima.Within(cluster, "root.a.b"), Resources::Of(8192, 1));
  EXPECT_EQ(maxima.Within(cluster, "root.c"), cluster);
  EXPECT_EQ(maxima.Within(cluster, "root.ab"), cluster);
  EXPECT_EQ(maxima.Within(cluster, ""), cluster);
  EXPECT_EQ(ContainerMaxima({}).Within(cluster, "root.a"), cluster);
}

}  // namespace
}  // namespace fairlead::rm
