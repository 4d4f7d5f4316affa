#include "process/driver/lost_work.h"

#include <gtest/gtest.h>

#include <deque>

#include "env_sim/world.h"
#include "process/driver/no_plans_for_test.h"

// A job of two stages on executors that do as the test says: two maps, then one reducer.

namespace fairlead::process::driver {
namespace {

namespace mt = model::tasks;
namespace we = wire::engine;

constexpr int32_t kMaps = 0;
constexpr int32_t kReduce = 1;
constexpr int32_t kShuffle = 5;

/// Keeps what it is to run.
struct Slots : ExecutorLink {
  void Send(const we::Message& message) override {
    if (const auto* const launch = std::get_if<we::Launch>(&message)) {
      tasks.insert(tasks.end(), launch->tasks.begin(), launch->tasks.end());
    }
  }
  std::deque<we::TaskLaunch> tasks;
};

class LostWorkTest : public testing::Test {
 protected:
  LostWorkTest() : driver_(machine_.loop(), WithService(), plans_), lost_(machine_.loop(), driver_.core()) {
    driver_.AddListener(&lost_);
  }
  static tasks::Config WithService() {
    tasks::Config config;
    config.external_shuffle_service = true;
    return config;
  }
  mt::ExecutorIndex Add(const std::string& id, int32_t slots, bool serves_own_files, Slots& link) {
    ExecutorInfo info;
    info.id = id;
    info.host = "h" + id;
    info.slots = slots;
    info.serves_own_files = serves_own_files;
    return driver_.AddExecutor(info, &link);
  }
  void Submit() {
    mt::SubmitJob job;
    job.job = 1;
    mt::Dataset maps;
    maps.id = kMaps;
    maps.partitions = 2;
    maps.cached = true;
    mt::Dataset reduce;
    reduce.id = kReduce;
    reduce.partitions = 1;
    mt::Dependency dependency;
    dependency.kind = mt::Dependency::Kind::kShuffle;
    dependency.dataset = kMaps;
    dependency.shuffle = kShuffle;
    reduce.dependencies = {dependency};
    job.datasets = {maps, reduce};
    job.target = kReduce;
    job.partitions = {0};
    driver_.Submit(std::move(job), {[](int32_t, std::string) {}, [](const mt::JobEnded&) {}});
    Run(0);
  }
  void Done(mt::ExecutorIndex executor, Slots& link) {
    ASSERT_FALSE(link.tasks.empty());
    we::TaskDone done;
    done.task = link.tasks.front().task;
    done.sizes = std::string(1, 1);
    link.tasks.pop_front();
    driver_.OnMessage(executor, done);
    Run(0);
  }
  void Run(int64_t seconds) {
    bool over = false;
    machine_.loop().After(base::Duration::Seconds(seconds) + base::Duration::Millis(1), [&] { over = true; });
    world_.RunUntil(base::Instant::Max(), [&] { return over; });
  }
  /// As a turn of the driver's loop sees it.
  int64_t Seconds(mt::ExecutorIndex executor) {
    int64_t seconds = -1;
    machine_.loop().Post([&] { seconds = lost_.Of(executor).millis() / 1000; });
    Run(0);
    return seconds;
  }

  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("d");
  NoPlans plans_;
  JobDriver driver_;
  LostWork lost_;
};

TEST_F(LostWorkTest, OutputsThatGoWithTheirExecutorAreLostWhileTheyAreNeeded) {
  Slots own_link, other_link;
  const mt::ExecutorIndex own = Add("1", 1, true, own_link);
  const mt::ExecutorIndex other = Add("2", 1, false, other_link);
  Submit();
  Run(10);
  EXPECT_EQ(Seconds(own), 10) << "what runs is lost";
  EXPECT_EQ(Seconds(other), 10);
  Done(own, own_link);
  Done(other, other_link);
  Run(20);
  const mt::ExecutorIndex reducer = own_link.tasks.empty() ? other : own;
  EXPECT_EQ(Seconds(own), 10 + (reducer.value == own.value ? 20 : 0)) << "its output is still to be read";
  EXPECT_EQ(Seconds(other), reducer.value == other.value ? 20 : 0) << "the node's service keeps its output";
  Done(reducer, reducer.value == own.value ? own_link : other_link);
  EXPECT_EQ(Seconds(own), 0) << "nobody needs the output any more";
  EXPECT_EQ(Seconds(other), 0);
}

TEST_F(LostWorkTest, ACachedPartitionCostsWhatItsTaskHadRunForUntilItIsForgotten) {
  Slots link;
  const mt::ExecutorIndex executor = Add("1", 2, false, link);
  Submit();
  Run(8);
  driver_.OnMessage(executor, we::BlockKept{kMaps, 1, true});
  Run(2);
  EXPECT_EQ(Seconds(executor), (10 + 10 + 8) / 2) << "two tasks beside each other, and the partition";
  Done(executor, link);
  Done(executor, link);
  Done(executor, link);
  Run(30);
  EXPECT_EQ(Seconds(executor), 4);
  driver_.Forget({kMaps}, {});
  Run(0);
  EXPECT_EQ(Seconds(executor), 0);
}

TEST_F(LostWorkTest, AnExecutorThatIsGoneLosesNothingMore) {
  Slots link;
  const mt::ExecutorIndex executor = Add("1", 1, false, link);
  Submit();
  Run(5);
  driver_.RemoveExecutor(executor, mt::LossKind::kExitedNotByApp, false, "taken back");
  Run(0);
  EXPECT_EQ(Seconds(executor), 0);
}

}  // namespace
}  // namespace fairlead::process::driver
