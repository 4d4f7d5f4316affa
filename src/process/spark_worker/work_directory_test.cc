#include "process/spark_worker/work_directory.h"

#include <gtest/gtest.h>

#include "env_sim/world.h"

namespace fairlead::process::spark_worker {
namespace {

TEST(WorkDirectory, OnlyWhatEndedAndIsOldIsAbandoned) {
  env_sim::World world(1);
  env_sim::Machine& machine = world.AddMachine("host");
  env::Disk& disk = machine.disk();
  for (const char* file : {"app-old/0/stderr", "app-alive/0/stderr", "app-writes/0/deep/log", "fairlead-shuffle/db",
                           "driver-old/job", ".hidden/file"}) {
    const std::string path = std::string("/spark/") + file;
    ASSERT_TRUE(disk.MakeDirectories(path.substr(0, path.rfind('/'))).ok());
    ASSERT_TRUE(disk.WriteFileAtomically(path, "bytes").ok());
  }
  const base::WallTime before{machine.loop().Wall().ms + 1000};
  bool passed = false;
  machine.loop().After(base::Duration::Seconds(2), [&] { passed = true; });
  world.RunUntil(world.now() + base::Duration::Seconds(3), [&] { return passed; });
  ASSERT_TRUE(passed);
  ASSERT_TRUE(disk.WriteFileAtomically("/spark/app-writes/0/deep/log", "more").ok());
  ASSERT_TRUE(disk.WriteFileAtomically("/spark/file", "no directory").ok());
  EXPECT_EQ(AbandonedDirectories(disk, "/spark", {"app-alive"}, before),
            (std::vector<std::string>{"/spark/app-old", "/spark/driver-old"}));
  EXPECT_TRUE(AbandonedDirectories(disk, "/nowhere", {}, before).empty());
}

}  // namespace
}  // namespace fairlead::process::spark_worker
