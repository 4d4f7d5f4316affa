#include "sim/traces/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "model/exit_status.h"
#include "process/rm/test_outside.h"
#include "profiles/profile.h"

namespace fairlead::sim {
namespace {

using process::rm::ResourceMachine;
using process::rm::TestOutside;
using testing::ElementsAre;

constexpr int64_t kEpochMs = TestOutside::kEpochMs;

class JournalTraceTest : public testing::Test {
 protected:
  JournalTraceTest() {
    config::HadoopConf conf;
    machine_ = std::make_unique<ResourceMachine>(fairlead::rm::Config(), (*profiles::Read("fairlead", conf, {}))(0));
    outside_ =
        std::make_unique<TestOutside>(*machine_, [this](base::Instant, base::WallTime wall, const auto& events,
                                                        const auto&) { trace_.Stepped(wall, *machine_, events); });
    Watch();
  }
  /// The asks of a step are known when it decides; the watch alone is called then, and has them from the test.
  void Watch() {
    machine_->SetWatch(
        [this](base::WallTime wall, const auto& effects) { trace_.Decided(wall, *machine_, coming_, effects); });
  }
  void Ask(int64_t at_ms, const model::ApplicationId& app, int32_t count) {
    model::rm::AllocateCall call;
    call.attempt = {app, 1};
    model::Ask ask;
    ask.name = "*";
    ask.priority = 1;
    ask.count = count;
    call.asks = {ask};
    coming_ = {call};
    outside_->Ask(at_ms, app, 1024, count);
    coming_.clear();
  }
  void Run(const model::ContainerId& id, int64_t from_ms, int64_t to_ms, int32_t status = 0) {
    outside_->Start(from_ms, id);
    outside_->End(to_ms, id, status);
  }

  std::unique_ptr<ResourceMachine> machine_;
  JournalTrace trace_;
  std::vector<model::rm::OuterEvent> coming_;
  std::unique_ptr<TestOutside> outside_;
};

TEST_F(JournalTraceTest, AJobHasItsArrivalItsAsksAndTheTimesThatItsContainersRan) {
  outside_->AddNode(0, "n1", 8192, 8);
  outside_->AddNode(0, "n2", 8192, 8);
  const auto app = outside_->Submit(10'000, "ann", "root.a");
  outside_->Start(11'000, outside_->Master(app));
  outside_->Register(12'000, app);
  Ask(15'000, app, 2);
  Ask(15'100, app, 0);
  const std::vector<model::ContainerId> maps = outside_->Granted(app);
  ASSERT_EQ(maps.size(), 2u);
  outside_->Start(16'000, maps[0]);
  Run(maps[1], 16'000, 36'000);
  outside_->End(46'000, maps[0], 0);
  Ask(47'000, app, 1);  // nothing runs any more: it waited for both
  Ask(47'100, app, 0);
  Run(outside_->Granted(app).back(), 48'000, 53'000);
  outside_->Finish(60'000, app);

  const JournalJobs made = trace_.Finish();
  ASSERT_EQ(made.jobs.size(), 1u);
  const TraceJob& job = made.jobs[0];
  EXPECT_EQ(job.name, "job 1");
  EXPECT_EQ(job.user, "ann");
  EXPECT_EQ(job.queue, "root.a");
  EXPECT_EQ(job.submit_ms, 0);
  ASSERT_EQ(job.stages.size(), 2u);
  EXPECT_THAT(job.stages[0].run_ms, ElementsAre(20'000, 30'000));
  EXPECT_EQ(job.stages[0].after.millis(), 5000);
  EXPECT_FALSE(job.stages[0].waits_for_previous);
  EXPECT_THAT(job.stages[1].run_ms, ElementsAre(5000));
  EXPECT_TRUE(job.stages[1].waits_for_previous);
  EXPECT_EQ(job.stages[1].size, model::Resources::Of(1024, 1));
  ASSERT_EQ(made.nodes.size(), 2u);
  EXPECT_EQ(made.nodes[0].host, "n1");
  EXPECT_EQ(made.nodes[0].capacity, model::Resources::Of(8192, 8));
  EXPECT_EQ(made.ended, 1);
  EXPECT_EQ(made.completion_ms, 50'000);
  EXPECT_EQ(made.left_out, 0);
}

TEST_F(JournalTraceTest, WhatWasTakenBackOrNeverRanIsLeftOut) {
  outside_->AddNode(0, "n1", 8192, 8);
  const auto app = outside_->Submit(0, "ann", "root.a");
  outside_->Register(0, app);
  Ask(1000, app, 3);
  Ask(1100, app, 0);
  const std::vector<model::ContainerId> granted = outside_->Granted(app);
  ASSERT_EQ(granted.size(), 3u);
  Run(granted[0], 2000, 9000, model::kExitPreempted);
  outside_->End(9000, granted[1], model::kExitAborted);
  Run(granted[2], 9000, 19'000);
  outside_->Finish(20'000, app);
  const JournalJobs made = trace_.Finish();
  ASSERT_EQ(made.jobs.size(), 1u);
  ASSERT_EQ(made.jobs[0].stages.size(), 1u);
  EXPECT_THAT(made.jobs[0].stages[0].run_ms, ElementsAre(10'000));
  EXPECT_EQ(made.left_out, 2);
}

TEST_F(JournalTraceTest, WhatRunsAtTheBeginningAndAtTheEndRunsForAsLongAsIsSeen) {
  outside_->AddNode(0, "n1", 8192, 8);
  const auto app = outside_->Submit(0, "ann", "root.a");
  outside_->Register(0, app);
  Ask(1000, app, 1);
  outside_->Start(2000, outside_->Granted(app)[0]);
  trace_ = JournalTrace();
  trace_.Begin({kEpochMs + 100'000}, *machine_);
  const auto late = outside_->Submit(130'000, "bob", "root.b");
  outside_->End(140'000, outside_->Granted(app)[0], 0);
  outside_->Do(150'000, model::rm::Tick{});
  const JournalJobs made = trace_.Finish();
  ASSERT_EQ(made.jobs.size(), 2u);
  EXPECT_EQ(made.jobs[0].submit_ms, 0);
  EXPECT_THAT(made.jobs[0].stages[0].run_ms, ElementsAre(40'000));
  EXPECT_EQ(made.jobs[1].submit_ms, 30'000);
  EXPECT_THAT(made.jobs[1].stages[0].run_ms, ElementsAre(20'000))
      << "all that it has is its master: " << ToString(late);
  EXPECT_EQ(made.nodes.size(), 1u);
  EXPECT_EQ(made.ended, 0);
}

TEST_F(JournalTraceTest, WhatEndedUnseenIsLeftOutAndWhatRunsOnIsOneContainer) {
  outside_->AddNode(0, "n1", 8192, 8);
  const auto app = outside_->Submit(0, "ann", "root.a");
  const auto gone = outside_->Submit(0, "bob", "root.b");
  for (const auto& one : {app, gone}) outside_->Register(0, one);
  Ask(1000, app, 2);
  for (const auto& one : outside_->Granted(app)) outside_->Start(2000, one);
  const JournalTrace before = trace_;
  outside_->End(50'000, outside_->Granted(app)[0], 0);
  outside_->Finish(60'000, gone);
  trace_ = before;  // as if the journal had a hole there
  trace_.Begin({kEpochMs + 100'000}, *machine_);
  outside_->End(140'000, outside_->Granted(app)[1], 0);
  const JournalJobs made = trace_.Finish();
  EXPECT_EQ(made.left_out, 2) << "a container, and the other one's master";
  ASSERT_EQ(made.jobs.size(), 2u);
  EXPECT_THAT(made.jobs[0].stages[0].run_ms, ElementsAre(138'000));
  EXPECT_EQ(made.ended, 0) << "nobody saw when the other one ended";
}

TEST_F(JournalTraceTest, AMasterThatAsksAllTheTimeHasABoundedNumberOfStages) {
  outside_->AddNode(0, "n1", 8192, 8);
  const auto app = outside_->Submit(0, "ann", "root.a");
  outside_->Register(0, app);
  outside_->Start(50, outside_->Master(app));
  Ask(100, app, 1);
  Ask(200, app, 0);
  outside_->Start(300, outside_->Granted(app).back());
  for (int64_t i = 0; i < 1200; ++i) {
    const int64_t at = 2000 + i * 1500;
    Ask(at, app, 1);
    Ask(at + 100, app, 0);
    Run(outside_->Granted(app).back(), at + 200, at + 1200);
  }
  const JournalJobs made = trace_.Finish();
  ASSERT_EQ(made.jobs.size(), 1u);
  EXPECT_LE(made.jobs[0].stages.size(), 500u);
  size_t tasks = 0;
  for (const TraceStage& stage : made.jobs[0].stages) tasks += stage.run_ms.size();
  EXPECT_EQ(tasks, 1201u);
}

}  // namespace
}  // namespace fairlead::sim
