#include "sim/traces/real_use.h"

#include <gtest/gtest.h>

#include <map>

#include "sim/traces/both.h"
#include "sim/traces/profiles.h"
#include "sim/traces/synthetic.h"

namespace fairlead::sim {
namespace {

using model::Resources;

class RealUseTest : public testing::Test {
 protected:
  static UseOptions Options() {
    UseOptions options;
    options.part = 1;
    options.busy_cores = 1;
    return options;
  }
  static RealUse::Task Task(uint32_t sequence, double milli_cores, double left_ms) {
    RealUse::Task task;
    task.sequence = sequence;
    task.use.milli_cores = milli_cores;
    task.use.memory_mib = 1024;
    task.left_ms = left_ms;
    return task;
  }
  /// When each task ends, as far as known.
  std::map<uint32_t, int64_t> Start(const RealUse::Task& task, int64_t now_ms) {
    std::vector<RealUse::Task> moved;
    use_.Start(0, task, now_ms, moved);
    return Ends(moved);
  }
  std::map<uint32_t, int64_t> Stop(uint32_t sequence, int64_t now_ms) {
    std::vector<RealUse::Task> moved;
    use_.Stop(0, 0, sequence, now_ms, moved);
    return Ends(moved);
  }
  static std::map<uint32_t, int64_t> Ends(const std::vector<RealUse::Task>& moved) {
    std::map<uint32_t, int64_t> ends;
    for (const RealUse::Task& task : moved) ends[task.sequence] = task.end_ms;
    return ends;
  }
  RealUseTest() { use_.AddNode(0, 0, 0); }

  std::vector<TraceNode> list_ = {{"n0", "/r", Resources::Of(4096, 2), {}}};
  RealUse use_{Options(), list_};
};

TEST_F(RealUseTest, TasksShareTheCoresAndTakeLonger) {
  EXPECT_EQ(Start(Task(1, 2000, 10'000), 0), (std::map<uint32_t, int64_t>{{1, 10'000}}));
  // Four cores are wanted, two are there: both at half speed.
  EXPECT_EQ(Start(Task(2, 2000, 10'000), 5'000), (std::map<uint32_t, int64_t>{{1, 15'000}, {2, 25'000}}));
  EXPECT_EQ(Stop(1, 15'000), (std::map<uint32_t, int64_t>{{2, 20'000}}));
}

TEST_F(RealUseTest, TasksEndOnANodeWithoutCores) {
  list_[0].capacity = Resources::Of(4096, 0);
  use_.AddNode(0, 0, 0);
  EXPECT_EQ(Start(Task(1, 2000, 10'000), 0), (std::map<uint32_t, int64_t>{{1, 20'000}}));
}

TEST_F(RealUseTest, ATaskThatWaitsForADiskDoesNotWaitForCores) {
  RealUse::Task reads = Task(1, 0, 10'000);
  reads.waits_for_disk = true;
  reads.use.disk = 0.5;
  Start(reads, 0);
  EXPECT_EQ(Start(Task(2, 4000, 10'000), 0), (std::map<uint32_t, int64_t>{{2, 20'000}}));
}

TEST_F(RealUseTest, TheMeterTellsTheMeanSinceItLooked) {
  Start(Task(1, 1500, 60'000), 1'000);
  use_.Look(0, 2'000);
  EXPECT_EQ(use_.seen(0).milli_cores, 750);
  EXPECT_EQ(use_.seen(0).physical_bytes, int64_t{1} << 30);
  use_.Look(0, 5'000);
  EXPECT_EQ(use_.seen(0).milli_cores, 1500);
  Start(Task(2, 1500, 60'000), 5'000);
  use_.Look(0, 8'000);
  EXPECT_EQ(use_.seen(0).milli_cores, 2000);  // more there is not
}

TEST_F(RealUseTest, TheNewestTaskEndsForWantOfMemory) {
  for (uint32_t i = 0; i < 4; ++i) Start(Task(i, 100, 1000), 0);
  EXPECT_EQ(use_.OutOfMemory(0), nullptr);
  Start(Task(4, 100, 1000), 0);
  ASSERT_NE(use_.OutOfMemory(0), nullptr);
  EXPECT_EQ(use_.OutOfMemory(0)->sequence, 4);
}

TEST_F(RealUseTest, WhatIsDrawnIsTheSameWheneverItIsAsked) {
  double cores = 0;
  for (uint32_t job = 0; job < 1000; ++job) {
    const RealUse::Task task = use_.Draw(job, 7, Resources::Of(1000, 1));
    EXPECT_EQ(task.use.milli_cores, use_.Draw(job, 7, Resources::Of(1000, 1)).use.milli_cores);
    EXPECT_LE(task.use.memory_mib, 1000);
    cores += task.use.milli_cores / 1000;
  }
  EXPECT_NEAR(cores, 1000, 30);
}

/// Under every profile the resource manager makes the very same events of a node's reports, and the run ends.
TEST(MeasuredRunTest, TheResourceManagerTellsWhatNodesMeasured) {
  for (const char* name : {"fairlead", "yarn-fair"}) {
    SyntheticWorkload workload = TdwDay({0.002, 3, 0.2});
    ProfileOptions options;
    options.queues = workload.queues;
    options.keys["fairlead.scheduler.wishes"] = "measured-use";
    auto profile = MakeProfile(name, options);
    ASSERT_TRUE(profile.ok());
    profile->setup.master_size = workload.master_size;
    profile->setup.use.part = 0.5;
    profile->setup.use.busy_nodes = 0.3;
    profile->setup.use.busy_cores = 1;
    BothTarget target(*profile->scheduler);
    TraceRun run(target, workload.nodes, *workload.jobs, profile->setup);
    const RunResult result = run.Run();
    EXPECT_EQ(result.first_problem, "") << name;
    EXPECT_EQ(result.unfinished, 0) << name;
    EXPECT_EQ(result.out_of_memory, 0) << name;
  }
}

}  // namespace
}  // namespace fairlead::sim
