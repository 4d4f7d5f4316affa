#include <gtest/gtest.h>

#include <cmath>

#include "profiles/profile.h"
#include "sim/traces/both.h"
#include "sim/traces/comparison_report.h"
#include "sim/traces/profiles.h"
#include "sim/traces/read.h"
#include "sim/traces/report.h"
#include "sim/traces/synthetic.h"

namespace fairlead::sim {
namespace {

Profile ProfileOf(const std::string& name, const model::QueueTree& queues, const FaultPlan& faults, bool preemption) {
  ProfileOptions options;
  options.queues = queues;
  options.preemption = preemption;
  auto profile = MakeProfile(name, options);
  EXPECT_TRUE(profile.ok());
  profile->setup.faults = faults;
  return std::move(*profile);
}

RunResult RunProfile(const std::string& name, const std::vector<TraceNode>& nodes, JobSource& jobs,
                     const model::QueueTree& queues = {}, const FaultPlan& faults = {}, bool preemption = false) {
  const Profile profile = ProfileOf(name, queues, faults, preemption);
  BothTarget target(*profile.scheduler);
  TraceRun run(target, nodes, jobs, profile.setup);
  RunResult result = run.Run();
  EXPECT_EQ(target.Finish(), "");
  EXPECT_EQ(target.follower().machine().CheckInvariants(), "");
  result.profile = name;
  return result;
}

std::vector<TraceNode> Nodes(int count, int64_t cores) {
  std::vector<TraceNode> nodes;
  for (int i = 0; i < count; ++i) {
    nodes.push_back(
        {"h" + std::to_string(i), "/r" + std::to_string(i / 2), model::Resources::Of(cores * 1024, cores), {}});
  }
  return nodes;
}

TraceJob Job(const std::string& queue, size_t tasks, uint32_t run_ms, int64_t submit_ms = 0) {
  TraceJob job;
  job.name = queue + "-job";
  job.queue = queue;
  job.user = "u";
  job.submit_ms = submit_ms;
  job.stages.emplace_back();
  job.stages[0].run_ms.assign(tasks, run_ms);
  return job;
}

TEST(TraceRunTest, EveryProfileEndsASmallDayAndTwoRunsAreAlike) {
  for (const std::string& name : profiles::Names()) {
    SCOPED_TRACE(name);
    SyntheticWorkload first = TdwDay({0.002, 1, 0.5});
    SyntheticWorkload second = TdwDay({0.002, 1, 0.5});
    int64_t tasks = 0;
    TraceJob job;
    while (second.jobs->Next(job)) {
      for (const TraceStage& stage : job.stages) tasks += static_cast<int64_t>(stage.run_ms.size());
    }
    second = TdwDay({0.002, 1, 0.5});
    const RunResult result = RunProfile(name, first.nodes, *first.jobs, first.queues);
    EXPECT_EQ(result.unfinished + result.rejected, 0) << result.first_problem;
    EXPECT_EQ(result.jobs, first.jobs->jobs());
    EXPECT_EQ(result.tasks, tasks);
    EXPECT_EQ(result.lost_containers, 0);
    EXPECT_GT(result.cpu, 0.05);
    EXPECT_LE(result.cpu, 1);
    EXPECT_GT(result.jain, 0.5);
    const RunResult again = RunProfile(name, second.nodes, *second.jobs, second.queues);
    EXPECT_EQ(again.decisions, result.decisions);
    EXPECT_EQ(again.makespan_ms, result.makespan_ms);
  }
}

/// Two queues, five times as many tasks as cores, one of them larger than half a node.
RunResult Overloaded(const std::string& wishes) {
  std::vector<TraceJob> jobs;
  for (uint32_t i = 0; i < 300; ++i) {
    jobs.push_back(Job(i % 3 == 0 ? "a" : "b", 1 + (i * 37 % 11) * (i % 5), 10'000 + 977 * (i % 17), 700 * int64_t{i}));
    jobs.back().user = "u" + std::to_string(i % 7);
    if (i % 10 == 9) jobs.back().stages[0].size = model::Resources::Of(5 * 1024, 5);
  }
  ProfileOptions options;
  if (!wishes.empty()) options.keys[profiles::kWishesKey] = wishes;
  const auto profile = MakeProfile("fairlead", options);
  EXPECT_TRUE(profile.ok());
  BothTarget target(*profile->scheduler);
  JobList list(jobs);
  const std::vector<TraceNode> nodes = Nodes(8, 8);
  TraceRun run(target, nodes, list, profile->setup);
  RunResult result = run.Run();
  EXPECT_EQ(target.Finish(), "");
  EXPECT_EQ(result.jobs, 300) << result.first_problem;
  return result;
}

TEST(TraceRunTest, WithoutWishesEveryGrantIsAsBeforeSomeWereOnByDefault) {
  EXPECT_EQ(Overloaded("none").decisions, 2803033608167950235U);
  EXPECT_EQ(Overloaded("").decisions, Overloaded("small-jobs,park-masters").decisions);
  EXPECT_NE(Overloaded("").decisions, Overloaded("none").decisions);
}

/// The master's container ends with a node's heartbeat; until then its application is granted what it had asked for too
/// much. Some wait for room that the first job holds.
TEST(TraceRunTest, TasksShorterThanAHeartbeatEndUnderEveryProfile) {
  for (const std::string& name : profiles::Names()) {
    for (const uint32_t run_ms : {0, 1, 100, 999}) {
      SCOPED_TRACE(name + ", tasks of " + std::to_string(run_ms) + " ms");
      const std::vector<TraceJob> jobs = {Job("q", 12, 60'000), Job("q", 87, run_ms, 2909), Job("q", 1, run_ms, 2910)};
      JobList list(jobs);
      const RunResult result = RunProfile(name, Nodes(8, 4), list);
      EXPECT_EQ(result.jobs, 3) << result.first_problem;
      EXPECT_EQ(result.tasks, 100);
      EXPECT_GE(result.grants, 103);
    }
  }
}

TEST(TraceRunTest, TheResourceManagerTellsTheSchedulerWhatItWasToldWithoutIt) {
  const SyntheticOptions day{0.003, 5, 1};
  for (const std::string& name : profiles::Names()) {
    for (const bool rough : {false, true}) {
      SCOPED_TRACE(name + (rough ? " with preemption, lost racks and slow nodes" : ""));
      SyntheticWorkload first = TdwDay(day);
      SyntheticWorkload second = TdwDay(day);
      FaultOptions faults;
      faults.rack_losses = rough ? 8 : 0;
      faults.slow_nodes = rough ? 0.1 : 0;
      const FaultPlan plan = PlanFaults(faults, first.nodes, first.span_ms);
      const RunResult both = RunProfile(name, first.nodes, *first.jobs, first.queues, plan, rough);
      const Profile profile = ProfileOf(name, second.queues, plan, rough);
      SchedulerTarget target(*profile.scheduler);
      TraceRun run(target, second.nodes, *second.jobs, profile.setup);
      const RunResult alone = run.Run();
      EXPECT_EQ(both.first_problem, "");
      EXPECT_EQ(both.decisions, alone.decisions);
      EXPECT_EQ(both.makespan_ms, alone.makespan_ms);
      EXPECT_EQ(both.lost_containers > 0, rough);
    }
  }
}

TEST(TraceRunTest, AResourceManagerThatTellsOtherwiseIsFoundOut) {
  const Profile profile = ProfileOf("fairlead", {}, {}, false);
  SchedulerTarget leader(*profile.scheduler);
  StepLog log;
  leader.LogTo(&log);
  const std::vector<TraceJob> jobs = {Job("a", 8, 60'000, 500)};
  JobList list(jobs);
  const std::vector<TraceNode> nodes = Nodes(1, 5);
  TraceRun run(leader, nodes, list, profile.setup);
  ASSERT_EQ(run.Run().jobs, 1);
  RmFollower right;
  right.Follow(log);
  EXPECT_EQ(right.problem(), "");
  const auto acquired = std::find_if(log.events.rbegin(), log.events.rend(), [](const auto& event) {
    return std::holds_alternative<model::scheduler::Acquired>(event);
  });
  ASSERT_NE(acquired, log.events.rend());
  std::get<model::scheduler::Acquired>(*acquired).containers.pop_back();
  RmFollower wrong;
  wrong.Follow(log);
  EXPECT_NE(wrong.problem().find("acquired"), std::string::npos) << wrong.problem();
}

TEST(TraceRunTest, TimesAreThoseComputedByHand) {
  // One node of 5 cores: the master takes one, 8 tasks of a minute run four at a time.
  const std::vector<TraceJob> jobs = {Job("a", 8, 60'000, 500)};
  JobList list(jobs);
  const RunResult result = RunProfile("fairlead", Nodes(1, 5), list);
  EXPECT_EQ(result.makespan_ms, 120'000 + 1000) << "the second wave is learned of with the master's next heartbeat";
  ASSERT_EQ(result.job_results.size(), 1U);
  EXPECT_EQ(result.job_results[0].submit_ms, 500);
  EXPECT_EQ(result.job_results[0].first_start_ms, 500);
  EXPECT_EQ(result.job_results[0].ideal_ms, 8 * 60'000 / 5);
  EXPECT_DOUBLE_EQ(result.work_seconds, 8 * 60);
  EXPECT_NEAR(result.mean_slowdown, 121.0 / 96, 1e-9);
}

TEST(TraceRunTest, StagesWaitForThoseBeforeThem) {
  std::vector<TraceJob> jobs = {Job("a", 2, 10'000)};
  jobs[0].stages.emplace_back();
  jobs[0].stages[1].priority = 10;
  jobs[0].stages[1].waits_for_previous = true;
  jobs[0].stages[1].run_ms = {5000};
  JobList list(jobs);
  const RunResult result = RunProfile("spark-standalone", Nodes(1, 8), list);
  EXPECT_NEAR(static_cast<double>(result.makespan_ms), 15'000, 5);
  EXPECT_EQ(result.job_results[0].ideal_ms, 15'000);
}

TEST(TraceRunTest, TasksRunWhereTheyWouldLikeToWhenThereIsRoom) {
  std::vector<TraceJob> jobs = {Job("a", 4, 10'000)};
  jobs[0].stages[0].hosts = {"/r0/h0", "/r1/h3"};
  jobs[0].stages[0].wishes = {{0, kNoHost, kNoHost}, {1, kNoHost, kNoHost}, {0, 1, kNoHost}, {1, kNoHost, kNoHost}};
  for (const std::string& name : profiles::Names()) {
    JobList list(jobs);
    const RunResult result = RunProfile(name, Nodes(4, 8), list);
    EXPECT_EQ(result.unfinished, 0) << name << result.first_problem;
    EXPECT_EQ(result.node_local + result.rack_local + result.off_switch, 4) << name;
    if (name == "fairlead" || name == "tdw") {
      EXPECT_EQ(result.node_local, 4) << name;
    }
  }
}

TEST(TraceRunTest, LostNodesCostWorkAndNoJob) {
  std::vector<TraceJob> jobs;
  for (int i = 0; i < 6; ++i) jobs.push_back(Job(i % 2 ? "a" : "b", 20, 30'000, i * 1000));
  const std::vector<TraceNode> nodes = Nodes(4, 8);
  FaultPlan faults;
  for (const uint32_t node : {0U, 1U, 2U, 3U}) {
    faults.losses.push_back({10'000 + 15'000 * node, 40'000 + 15'000 * node, node});
  }
  for (const std::string& name : profiles::Names()) {
    SCOPED_TRACE(name);
    JobList list(jobs);
    const RunResult result = RunProfile(name, nodes, list, {}, faults);
    EXPECT_EQ(result.unfinished, 0) << result.first_problem;
    EXPECT_EQ(result.tasks, 120);
    EXPECT_GT(result.lost_containers, 0);
    EXPECT_GT(result.lost_seconds, 0);
    EXPECT_DOUBLE_EQ(result.work_seconds, 120 * 30) << "a task that is done counts once";
  }
}

TEST(TraceRunTest, WhatNoNodeCouldHoldDoesNotRunUnderAnyProfile) {
  std::vector<TraceJob> jobs = {Job("a", 2, 10'000), Job("a", 2, 10'000, 20'000)};
  jobs[0].stages[0].size = model::Resources::Of(1024, 9);
  for (const std::string& name : profiles::Names()) {
    SCOPED_TRACE(name);
    JobList list(jobs);
    const RunResult result = RunProfile(name, Nodes(2, 8), list);
    EXPECT_EQ(result.unfinished, 1);
    EXPECT_EQ(result.jobs, 1);
    EXPECT_EQ(result.tasks, 2);
    // Whatever other types of resources there are.
    EXPECT_NE(result.first_problem.find("vCores:9"), std::string::npos) << result.first_problem;
    EXPECT_NE(result.first_problem.find(">, larger than every node"), std::string::npos) << result.first_problem;
  }
}

TEST(TraceRunTest, SlowNodesTakeLonger) {
  const std::vector<TraceJob> jobs = {Job("a", 8, 10'000)};
  JobList list(jobs);
  FaultPlan faults;
  faults.slowness = {1, 3};
  const RunResult result = RunProfile("fairlead", Nodes(2, 5), list, {}, faults);
  EXPECT_EQ(result.makespan_ms, 30'000);
}

TEST(TraceRunTest, SharesOfAFullClusterFollowTheWeights) {
  model::QueueTree queues;
  for (const auto& [name, weight] : {std::pair("root.a", 3.0), std::pair("root.b", 1.0)}) {
    queues.queues.push_back({});
    queues.queues.back().name = name;
    queues.queues.back().weight = weight;
  }
  std::vector<TraceJob> jobs;
  for (int i = 0; i < 20; ++i) {
    jobs.push_back(Job("a", 100, 20'000));
    jobs.push_back(Job("b", 100, 20'000));
  }
  // tdw shares each type by itself: 20 masters each, and 3 : 1 of the other 120 cores.
  for (const auto& [name, expected] : {std::pair("fairlead", 0.75), {"yarn-fair", 0.75}, {"tdw", 110.0 / 160}}) {
    JobList list(jobs);
    const RunResult result = RunProfile(name, Nodes(10, 16), list, queues);
    double a = 0;
    double b = 0;
    for (const Sample& sample : result.samples) {
      if (sample.at_ms < 60'000 || sample.at_ms > 300'000) continue;  // both want more than there is
      a += static_cast<double>(sample.share[0]);
      b += static_cast<double>(sample.share[1]);
    }
    EXPECT_NEAR(a / (a + b), expected, 0.03) << name;
  }
}

/// Half an hour's work, nothing for ten hours, and half an hour's work again.
TEST(TraceRunTest, SamplesAreEvenlySpacedAndMeansOverThemAreOverTime) {
  const int64_t hour = 3'600'000;
  const std::vector<TraceJob> jobs = {Job("a", 400, 60'000), Job("b", 400, 60'000, 10 * hour)};
  JobList list(jobs);
  const RunResult result = RunProfile("fairlead", Nodes(2, 8), list);
  ASSERT_EQ(result.jobs, 2) << result.first_problem;
  ASSERT_GT(result.samples.size(), 500U);
  const int64_t every = result.samples[1].at_ms - result.samples[0].at_ms;
  for (size_t i = 1; i < result.samples.size(); ++i) {
    ASSERT_EQ(result.samples[i].at_ms - result.samples[i - 1].at_ms, every) << i;
  }
  EXPECT_GE(result.samples.back().at_ms, 10 * hour);
  // Each has its work done in 27 min of the 627; nearly nothing at other times.
  for (const QueueResult& queue : result.queue_results) EXPECT_NEAR(queue.mean_share, 27.0 / 627, 0.004);
}

/// All of a cluster is taken for 200 s before another queue wants half of it.
TEST(TraceRunTest, TheLongestTimeBelowHalfOfAShareIsTold) {
  const std::vector<TraceJob> jobs = {Job("a", 15, 300'000), Job("b", 7, 10'000, 100'000)};
  JobList list(jobs);
  const RunResult result = RunProfile("fairlead", Nodes(1, 16), list);
  ASSERT_EQ(result.queue_results.size(), 2U) << result.first_problem;
  EXPECT_EQ(result.queue_results[0].longest_short_ms, 0);
  EXPECT_NEAR(static_cast<double>(result.queue_results[1].longest_short_ms), 200'000, 2'000);
  EXPECT_NEAR(static_cast<double>(result.sizes[0].longest_wait_ms), 200'000, 2'000) << "of b's seven tasks";
}

TEST(TraceRunTest, UseIsWhatIsBooked) {
  // Tasks of two cores, for which one is booked.
  std::vector<TraceJob> jobs = {Job("a", 20, 60'000)};
  jobs[0].stages[0].size = model::Resources::Of(1024, 2);
  ProfileOptions options;
  options.keys["fairlead.scheduler.tdw.map.vcores"] = "1";
  const auto profile = MakeProfile("tdw", options);
  ASSERT_TRUE(profile.ok());
  JobList list(jobs);
  BothTarget target(*profile->scheduler);
  const RunResult result = TraceRun(target, Nodes(2, 8), list, profile->setup).Run();
  EXPECT_EQ(result.tasks, 20);
  EXPECT_GT(result.cpu, 0.5);
  EXPECT_LE(result.cpu, 1);
}

TEST(TraceRunTest, PreemptionTakesBackAndCountsWhatItCost) {
  model::QueueTree queues;
  for (const char* name : {"root.a", "root.b"}) {
    queues.queues.push_back({});
    queues.queues.back().name = name;
  }
  const std::vector<TraceJob> jobs = {Job("a", 200, 600'000), Job("b", 40, 60'000, 60'000)};
  JobList list(jobs);
  const RunResult kept = RunProfile("fairlead", Nodes(10, 8), list, queues);
  JobList again(jobs);
  const RunResult taken = RunProfile("fairlead", Nodes(10, 8), again, queues, {}, true);
  EXPECT_EQ(kept.preempted, 0);
  EXPECT_GT(taken.preempted, 0);
  EXPECT_GT(taken.lost_seconds, 0);
  EXPECT_EQ(taken.tasks, 240);
  EXPECT_LT(taken.job_results.front().end_ms, kept.job_results.front().end_ms)
      << "the small job does not wait for long";
}

TEST(TraceReadTest, SwimBytesBecomeTasks) {
  const auto trace = ReadTrace("j1\t100\t0\t200000000\t3000000000\t10\nj0\t90\t0\t5\t0\t5\n", "t.tsv");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 2U);
  EXPECT_EQ(trace->jobs[0].name, "j0");
  EXPECT_EQ(trace->jobs[0].submit_ms, 0);
  EXPECT_EQ(trace->jobs[0].stages.size(), 1U);
  EXPECT_EQ(trace->jobs[1].submit_ms, 10'000);
  ASSERT_EQ(trace->jobs[1].stages.size(), 2U);
  EXPECT_EQ(trace->jobs[1].stages[0].run_ms.size(), 3U) << "200 MB in blocks of 64 MiB";
  EXPECT_EQ(trace->jobs[1].stages[0].run_ms[0], 2000 + 6400);
  EXPECT_EQ(trace->jobs[1].stages[1].run_ms.size(), 3U) << "3 GB in GiB";
}

TEST(TraceReadTest, ALineOfTheStandardWorkloadFormatIsAJob) {
  const std::string text =
      "; MaxNodes: 256\n"
      "   1   94 -1  30.5  16 -1 -1 -1 -1 -1 1 7 -1 -1 2 -1 -1 -1\n"
      "   2  100 -1   -1   16 -1 -1 -1 -1 -1 0 7 -1 -1 2 -1 -1 -1\r\n"
      "   3   90 -1   10    4 -1 -1  8 -1 2097152 1 -1 -1 -1 -1 -1 -1 -1\n";
  auto trace = ReadTrace(text, "t.swf");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->format, "swf");
  ASSERT_EQ(trace->jobs.size(), 2U) << "the second never ran";
  const TraceJob& asked = trace->jobs[0];
  EXPECT_EQ(asked.name, "3");
  EXPECT_EQ(asked.queue, "default");
  EXPECT_EQ(asked.stages[0].run_ms, std::vector<uint32_t>(8, 10'000)) << "what it asked for, not what it got";
  EXPECT_EQ(asked.stages[0].size[0], 2048);
  const TraceJob& got = trace->jobs[1];
  EXPECT_EQ(got.user, "u7");
  EXPECT_EQ(got.queue, "q2");
  EXPECT_EQ(got.submit_ms, 4000);
  EXPECT_EQ(got.stages[0].run_ms, std::vector<uint32_t>(16, 30'000));
  Deal(trace->jobs, 2, 1);
  EXPECT_EQ(trace->jobs[1].queue, "q2");
  EXPECT_EQ(trace->jobs[1].user, "u1");
  EXPECT_NE(ReadTrace("1 2 3\n", "t.swf").error().message.find("t.swf:1: a line of the Standard"), std::string::npos);
  EXPECT_FALSE(ReadTrace("; x\n1 0 -1 99999999 1 -1 -1 -1 -1 -1 1 1 1 1 1 1 1 1\n", "t").ok()) << "24 days at most";
  EXPECT_FALSE(ReadTrace("; x\n1 0 -1 9 99999999999 -1 -1 -1 -1 -1 1 1 1 1 1 1 1 1\n", "t").ok()) << "a million tasks";
}

TEST(TraceReadTest, FirstGoodAttemptOfARumenTaskCounts) {
  const auto trace = ReadTrace(R"({"jobID": "j", "submitTime": 1000, "queue": "q", "mapTasks": [
      {"attempts": [{"startTime": 1, "finishTime": 9, "result": "FAILED"},
                    {"startTime": 10, "finishTime": 5010, "result": "SUCCESS", "hostName": "/r/h"}],
       "preferredLocations": []},
      {"attempts": [{"startTime": 10, "finishTime": -1}]}], "reduceTasks": []})",
                               "t.json");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace->jobs[0].stages.size(), 1U);
  EXPECT_EQ(trace->jobs[0].stages[0].run_ms, std::vector<uint32_t>{5000}) << "what never ended is no task";
  EXPECT_EQ(trace->jobs[0].stages[0].hosts, std::vector<std::string>{"/r/h"});
}

TEST(TraceReadTest, BoundsHold) {
  TraceOptions options;
  options.jobs = 2;
  options.tasks = 10;
  EXPECT_FALSE(ReadTrace("a\t0\t0\t1\t0\t0\nb\t0\t0\t1\t0\t0\nc\t0\t0\t1\t0\t0\n", "t", options).ok());
  EXPECT_FALSE(ReadTrace("a\t0\t0\t9999999999\t0\t0\n", "t", options).ok());
  EXPECT_FALSE(ReadTrace(R"({"job.count": 5, "job.tasks": []})", "t", options).ok());
  EXPECT_FALSE(ReadTrace(R"({"job.tasks": [{"container.duration.ms": 1e300}]})", "t").ok());
}

TEST(TraceReportTest, NamesFromATraceDoNotBreakThePage) {
  std::vector<TraceJob> jobs = {Job("<b>&\"", 1, 1000)};
  jobs[0].name = "=1+1,\"x\"";
  JobList list(jobs);
  const RunResult result = RunProfile("fairlead", Nodes(1, 4), list);
  ASSERT_EQ(result.jobs, 1) << result.first_problem;
  EXPECT_EQ(report::Html(ReportOf({result})).find("<b>"), std::string::npos);
  EXPECT_NE(JobsCsv({result}).find(",\"=1+1,\"\"x\"\"\","), std::string::npos) << JobsCsv({result});
}

}  // namespace
}  // namespace fairlead::sim
