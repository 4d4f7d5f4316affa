#include "scheduler/tdw/sizes.h"

#include <gtest/gtest.h>

namespace fairlead::scheduler::tdw {
namespace {

using model::Resources;

class SizesTest : public ::testing::Test {
 protected:
  SizesTest() {
    config_.network_type = "sizes-test/net";
    config_.disk_type = "sizes-test/disk";
    config_.jobtracker = {1, 50, 10};
    config_.map = {1, 10, 10};
    net_ = static_cast<size_t>(model::ResourceTypes::Add(config_.network_type));
    disk_ = static_cast<size_t>(model::ResourceTypes::Add(config_.disk_type));
  }
  Resources Of(TaskType type, model::scheduler::SessionTraits session = {}) const {
    return Sizes(config_).Of(Resources::Of(2048, 3), type, session);
  }

  TdwConfig config_;
  size_t net_;
  size_t disk_;
};

TEST_F(SizesTest, WhatIsSetForTheTypeCounts) {
  Resources map = Resources::Of(2048, 1);
  map[net_] = 10;
  map[disk_] = 10;
  EXPECT_EQ(Of(TaskType::kMap), map);
  EXPECT_EQ(Of(TaskType::kReduce), Resources::Of(2048, 3));  // nothing is set
  EXPECT_TRUE(Sizes(config_).any());
  EXPECT_FALSE(Sizes(TdwConfig{}).any());
}

TEST_F(SizesTest, TypesThatTheClusterLacksDoNotCount) {
  config_.network_type = "no such type";
  EXPECT_EQ(Of(TaskType::kMap)[net_], 0);
  EXPECT_EQ(Sizes(config_).untested(), SIZE_MAX);
}

TEST_F(SizesTest, NetworkIsTestedUnlessSaidOtherwise) {
  EXPECT_EQ(Sizes(config_).untested(), SIZE_MAX);
  config_.test_network = false;
  EXPECT_EQ(Sizes(config_).untested(), net_);
}

TEST_F(SizesTest, MemoryOfAJobtrackerGrowsWithItsTasks) {
  config_.master_memory = {500, 2, 10, 4000};
  EXPECT_EQ(Of(TaskType::kJobtracker, {true, 100, 5})[0], 500 + 200 + 50);
  EXPECT_EQ(Of(TaskType::kJobtracker, {true, 100'000'000, 100'000'000})[0], 4000);
  EXPECT_EQ(Of(TaskType::kJobtracker)[0], 2048);  // it did not say how many
  EXPECT_EQ(Of(TaskType::kMap, {true, 100, 5})[0], 2048);
}

TEST_F(SizesTest, NeverAboveTheLargestContainer) {
  config_.base.maximum_allocation = Resources::Of(1024, 4);
  config_.master_memory = {2000, 1, 1, 4000};
  EXPECT_EQ(Of(TaskType::kJobtracker, {true, 1, 0})[0], 1024);
}

}  // namespace
}  // namespace fairlead::scheduler::tdw
