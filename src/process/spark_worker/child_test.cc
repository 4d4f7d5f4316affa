#include "process/spark_worker/child.h"

#include <gtest/gtest.h>

#include <csignal>
#include <utility>
#include <vector>

#include "env_sim/world.h"

namespace fairlead::process::spark_worker {
namespace {

using Signals = std::vector<std::pair<int64_t, int>>;

/// Notes what it is asked; the one process ends when the test says so.
class NotedProcesses final : public env::Processes {
 public:
  base::Result<int64_t> Spawn(const env::SpawnRequest&, ExitHandler on_exit) override {
    exit = std::move(on_exit);
    return int64_t{7};
  }
  void Watch(int64_t, uint64_t, std::function<void()>) override {}
  base::Status Signal(int64_t pid, int signal) override {
    signals.emplace_back(pid, signal);
    return {};
  }
  ExitHandler exit;
  Signals signals;
};

class ChildTest : public testing::Test {
 protected:
  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("worker");
  NotedProcesses processes_;
  Child child_{machine_.loop(), processes_};
  int32_t code_ = -1;
};

TEST_F(ChildTest, OneThatDoesNotEndIsKilledAfterItsGrace) {
  ASSERT_TRUE(child_.Start({}, [this](int32_t code) { code_ = code; }).ok());
  child_.End();
  child_.End();
  EXPECT_EQ(processes_.signals, (Signals{{7, SIGTERM}}));
  world_.RunUntil(world_.now() + Child::kGrace * 2, [] { return false; });
  EXPECT_EQ(processes_.signals, (Signals{{7, SIGTERM}, {-7, SIGKILL}}));
}

// To the kernel 0 is whoever asks, and all of its group.
TEST_F(ChildTest, NobodyIsKilledForOneThatEndedWhenItWasAskedTo) {
  ASSERT_TRUE(child_.Start({}, [this](int32_t code) { code_ = code; }).ok());
  child_.End();
  processes_.exit({0, SIGTERM});
  EXPECT_EQ(code_, 128 + SIGTERM);
  EXPECT_FALSE(child_.running());
  world_.RunUntil(world_.now() + Child::kGrace * 2, [] { return false; });
  EXPECT_EQ(processes_.signals, (Signals{{7, SIGTERM}, {-7, SIGKILL}})) << "what it left behind, once";
}

}  // namespace
}  // namespace fairlead::process::spark_worker
