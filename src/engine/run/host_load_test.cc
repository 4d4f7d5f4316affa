#include "engine/run/host_load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace fairlead::engine {
namespace {

model::MeasuredUse Use(int64_t milli_cores, int64_t disk_bytes, int64_t disk_busy, int64_t network_bytes) {
  model::MeasuredUse use;
  use.milli_cores = milli_cores;
  use.disk_bytes = disk_bytes;
  use.disk_busy = disk_busy;
  use.network_bytes = network_bytes;
  return use;
}

TEST(HostLoad, IsTheLargestShareThatOthersHave) {
  EXPECT_EQ(HostLoad(Use(3000, 0, 0, 0), Use(1000, 0, 0, 0), 4), 500);
  EXPECT_EQ(HostLoad(Use(1000, 100, 900, 0), Use(1000, 0, 0, 0), 4), 900);
  EXPECT_EQ(HostLoad(Use(1000, 0, 0, kNetworkBytes / 4), Use(1000, 0, 0, 0), 4), 250);
}

TEST(HostLoad, WhatTheExecutorDoesItselfIsNotLoad) {
  EXPECT_EQ(HostLoad(Use(2000, 100, 800, 500), Use(2000, 100, 0, 500), 4), 0);
  EXPECT_EQ(HostLoad(Use(2000, 100, 800, 0), Use(2000, 50, 0, 0), 4), 400);
}

TEST(HostLoad, StaysInItsBounds) {
  EXPECT_EQ(HostLoad({}, {}, 4), 0);
  EXPECT_EQ(HostLoad(Use(1000, 0, 0, 0), Use(9000, 0, 0, 0), 4), 0);
  EXPECT_EQ(HostLoad(Use(INT64_MAX / 2, 1, 5000, INT64_MAX / 2), Use(0, 0, 0, 0), 4), 1000);
  EXPECT_EQ(HostLoad(Use(1000, 0, 0, 0), {}, 0), 0);
}

TEST(HostLoad, AFileSaysItInsteadOfTheMeter) {
  const std::string file = testing::TempDir() + "host_load_" + std::to_string(::getpid());
  std::ofstream(file) << "a 700\nb 5000\n";
  const base::Instant now;
  EXPECT_EQ(HostLoadMeter("a", file).Measure(now), 700);
  EXPECT_EQ(HostLoadMeter("b", file).Measure(now), 1000);
  EXPECT_EQ(HostLoadMeter("c", file).Measure(now), 0);
  std::remove(file.c_str());
  EXPECT_EQ(HostLoadMeter("a", file).Measure(now), 0);
}

}  // namespace
}  // namespace fairlead::engine
