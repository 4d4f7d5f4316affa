#include "sim/traces/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>

#include "sim/traces/comparison_report.h"
#include "sim/traces/configuration.h"
#include "sim/traces/report.h"
#include "sim/traces/scheduler.h"

namespace fairlead::sim {
namespace {

using model::scheduler::PendingReason;

JobResult Ended(int64_t number, const std::string& queue, const std::string& user, int64_t wait_ms, int64_t end_ms) {
  JobResult job;
  job.number = number;
  job.name = "job" + std::to_string(number);
  job.user = user;
  job.asked_queue = job.queue = queue;
  job.submit_ms = 1000;
  job.first_container_ms = 1000 + wait_ms;
  job.end_ms = 1000 + end_ms;
  return job;
}

RunResult RunOf(const std::string& name, std::vector<JobResult> jobs) {
  RunResult run;
  run.profile = name;
  run.jobs = static_cast<int64_t>(jobs.size());
  run.job_results = std::move(jobs);
  Summarize(run);
  return run;
}

std::vector<std::string> SentencesOf(const RunResult& from, const RunResult& to) {
  Comparison comparison = CompareRuns(from, to);
  (void)ReportOf(comparison, {from, to});
  return comparison.sentences;
}

TEST(ComparisonTest, SaysWhoWaitsLongerAndByHowMuch) {
  const RunResult from = RunOf("A", {Ended(0, "root.a", "ann", 0, 10'000), Ended(1, "root.a", "bob", 0, 10'000),
                                     Ended(2, "root.b", "bob", 4000, 20'000)});
  // Jobs end in another order.
  const RunResult to = RunOf("B", {Ended(2, "root.b", "bob", 0, 16'000), Ended(0, "root.a", "ann", 0, 10'000),
                                   Ended(1, "root.a", "bob", 20'000, 30'000)});
  const Comparison comparison = CompareRuns(from, to);
  ASSERT_EQ(comparison.queues.size(), 2U);
  const GroupComparison& a = comparison.queues[0];
  EXPECT_EQ(a.name, "root.a") << "it loses most";
  EXPECT_EQ(a.change, Change::kLater);
  EXPECT_EQ(a.mean_change_ms, 10'000);
  EXPECT_DOUBLE_EQ(a.relative_change, 1);
  EXPECT_EQ(a.later, 1);
  EXPECT_EQ(a.sooner, 0);
  EXPECT_EQ(a.from.wait.p95_ms, 0);
  EXPECT_EQ(a.to.wait.p95_ms, 20'000);
  EXPECT_EQ(a.to.wait.median_ms, 0);
  EXPECT_EQ(comparison.queues[1].change, Change::kSooner);
  EXPECT_EQ(comparison.queues[1].mean_change_ms, -4000);
  EXPECT_EQ(comparison.all.compared, 3);
  ASSERT_EQ(comparison.users.size(), 2U);
  EXPECT_EQ(comparison.users[0].name, "bob");
  EXPECT_EQ(comparison.users[0].mean_change_ms, 8000);
  EXPECT_EQ(comparison.users[1].change, Change::kSame);
  ASSERT_EQ(comparison.most_changed.size(), 2U);
  EXPECT_EQ(comparison.most_changed[0].name, "job1");
  EXPECT_EQ(comparison.most_changed[0].to_wait_ms, 20'000);
  EXPECT_TRUE(comparison.places.empty());
}

TEST(ComparisonTest, ASecondOrAHundredthIsNoChange) {
  const RunResult from = RunOf("A", {Ended(0, "root.a", "u", 0, 500), Ended(1, "root.b", "u", 0, 1'000'000)});
  const RunResult to = RunOf("B", {Ended(0, "root.a", "u", 0, 1499), Ended(1, "root.b", "u", 0, 1'009'000)});
  const Comparison comparison = CompareRuns(from, to);
  for (const GroupComparison& queue : comparison.queues) EXPECT_EQ(queue.change, Change::kSame) << queue.name;
  // One job is told, and neither its queue nor its user.
  EXPECT_THAT(SentencesOf(from, to), testing::ElementsAre("1 job is served later, by 9 s at most.",
                                                          "job1 (of u, root.b) ends 9 s later, after 17 min."));
}

TEST(ComparisonTest, JobsThatEndInOneRunAloneAreCountedAndNotCompared) {
  RunResult from = RunOf("A", {Ended(0, "root.a", "u", 0, 1000), Ended(1, "root.a", "u", 0, 5000)});
  RunResult to = RunOf("B", {Ended(0, "root.a", "u", 0, 1000)});
  to.unended_jobs.push_back({Ended(1, "root.a", "u", 0, 0), true, "UNKNOWN_QUEUE root.a"});
  to.unended_jobs.back().job.queue = "";
  to.rejected = 1;
  const Comparison comparison = CompareRuns(from, to);
  ASSERT_EQ(comparison.queues.size(), 1U);
  EXPECT_EQ(comparison.queues[0].jobs, 2);
  EXPECT_EQ(comparison.queues[0].compared, 1);
  EXPECT_EQ(comparison.queues[0].to.refused, 1);
  EXPECT_EQ(comparison.queues[0].from.ended, 2);
  ASSERT_EQ(comparison.places.size(), 1U);
  EXPECT_EQ(comparison.places[0].jobs, 1);
  EXPECT_TRUE(comparison.places[0].refused_to);
  EXPECT_FALSE(comparison.places[0].refused_from);
  EXPECT_THAT(SentencesOf(from, to), testing::Contains(testing::HasSubstr("B refuses them (UNKNOWN_QUEUE root.a)")));
  EXPECT_THAT(SentencesOf(from, to), testing::Contains("Only under A 1 job ends: job1 (of u, root.a)."));
}

TEST(ComparisonTest, ReasonsAreSummedOverQueuesAndUsers) {
  const RunResult from = RunOf("A", {Ended(0, "root.a", "u", 0, 1000)});
  RunResult to = RunOf("B", {Ended(0, "root.a", "u", 50'000, 60'000)});
  to.held_waits = {{"root.a", "u", PendingReason::kUserLimit, 30, "u uses 4", "raise it"},
                   {"root.b", "u", PendingReason::kUserLimit, 60, "u uses 8", "raise it"},
                   {"root.a", "u", PendingReason::kClusterFull, 10, "full", "add nodes"}};
  const Comparison comparison = CompareRuns(from, to);
  const std::vector<HeldBy>& user = comparison.users[0].to.held;
  ASSERT_EQ(user.size(), 2U);
  EXPECT_EQ(user[0].reason, PendingReason::kUserLimit);
  EXPECT_DOUBLE_EQ(user[0].part, 0.9);
  EXPECT_EQ(user[0].detail, "u uses 8") << "the numbers of the longest wait";
  EXPECT_DOUBLE_EQ(comparison.queues[0].to.held[0].part, 0.75);
  const std::vector<std::string> sentences = SentencesOf(from, to);
  EXPECT_THAT(sentences, testing::Contains(testing::HasSubstr(
                             "Under B they waited for user limit 75 %, cluster full 25 %; first of these: ")));
  EXPECT_THAT(sentences, testing::Contains("A limit begins to bind in root.a: what a user may run there, or use."));
}

TEST(MetricTableTest, ARunInWhichNothingEndedIsNeverBest) {
  RunResult works = RunOf("A", {Ended(0, "root.a", "u", 0, 60'000)});
  works.jain = 0.5;
  works.lost_seconds = 1;
  works.work_seconds = 9;
  RunResult stuck = RunOf("B", {});
  stuck.unfinished = 1;
  stuck.jain = 1;
  std::map<std::string, int> best;
  std::map<std::string, std::string> first;
  for (const report::Table::Row& row : MetricTable({stuck, works}).rows) {
    EXPECT_NE(row.best, 1) << row.cells[0];
    best[row.cells[0]] = row.best;
    first[row.cells[0]] = row.cells[1];
  }
  EXPECT_EQ(best["jobs ended"], 2);
  EXPECT_EQ(best["fairness (Jain)"], 2);
  EXPECT_EQ(first["makespan"] + first["slowdown, mean"] + first["slowdown, p99"], "---");
  for (const report::Table::Row& row : MetricTable({stuck, stuck}).rows) EXPECT_EQ(row.best, -1) << row.cells[0];
}

TEST(MetricTableTest, WhereNoJobOfASizeEndedNoneIsTheBest) {
  JobResult large = Ended(1, "root.a", "u", 0, 90'000);
  large.tasks = 5000;
  const RunResult all = RunOf("A", {Ended(0, "root.a", "u", 0, 60'000), large});
  const RunResult small = RunOf("B", {Ended(0, "root.a", "u", 0, 60'000)});
  int sizes = 0;
  for (const report::Table::Row& row : MetricTable({all, small}).rows) {
    if (!row.cells[0].ends_with("tasks, mean") || row.cells[2] != "-") continue;
    ++sizes;
    EXPECT_EQ(row.best, 1) << row.cells[0];
  }
  EXPECT_EQ(sizes, 1);
}

TEST(WaitLooksTest, FewStandForManyAndLooksBecomeRarer) {
  WaitLooks looks;
  std::vector<uint32_t> waiting;
  for (uint32_t i = 0; i < 1000; ++i) waiting.push_back(i);
  const auto chosen = looks.Choose(waiting);
  EXPECT_EQ(chosen.size(), WaitLooks::kMost);
  EXPECT_DOUBLE_EQ(chosen[0].second * static_cast<double>(chosen.size()), 1000);
  EXPECT_TRUE(looks.Choose({}).empty());
  int64_t count = 0;
  for (int64_t now = 0; now < 86'400'000; now += 100) {
    if (!looks.Due(now)) continue;
    looks.Looked(now);
    ++count;
  }
  EXPECT_GT(count, 500);
  EXPECT_LT(count, 2000) << "of a day";
}

// Migrations.

constexpr char kFair[] = R"(<?xml version="1.0"?>
<!-- <configuration> -->
<allocations>
  <queue name="a"><weight>3</weight><minResources>4096 mb, 4 vcores</minResources>
    <minSharePreemptionTimeout>30</minSharePreemptionTimeout></queue>
  <queue name="b"><weight>1</weight><maxResources>8192 mb, 8 vcores</maxResources></queue>
  <queue name="old"/>
</allocations>
)";

std::string Capacity(const std::string& more) {
  std::string text = "<configuration>";
  const auto add = [&](const std::string& key, const std::string& value) {
    text += "<property><name>yarn.scheduler.capacity." + key + "</name><value>" + value + "</value></property>\n";
  };
  add("root.queues", "a,b");
  add("root.a.capacity", "75");
  add("root.b.capacity", "25");
  add("maximum-am-resource-percent", "1.0");
  return text + more + "</configuration>";
}

std::string Property(const std::string& key, const std::string& value) {
  return "<property><name>" + key + "</name><value>" + value + "</value></property>";
}

/// Files in memory.
base::Result<Configuration> Read(const std::map<std::string, std::string>& files, const std::string& path,
                                 const std::string& version = "") {
  return ReadConfiguration(path, version, [&](const std::string& name) -> base::Result<std::string> {
    if (const auto file = files.find(name); file != files.end()) return file->second;
    for (const auto& [file, text] : files) {
      if (file.starts_with(name + "/")) return base::Error{"is a directory", EISDIR};
    }
    return base::Error{name + " is not there", ENOENT};
  });
}

RunResult RunUnder(const Configuration& configuration, const std::vector<TraceJob>& jobs, int nodes) {
  auto profile = MakeProfile(configuration);
  EXPECT_TRUE(profile.ok()) << profile.error().message;
  std::vector<TraceNode> list;
  for (int i = 0; i < nodes; ++i)
    list.push_back({"h" + std::to_string(i), "/r", model::Resources::Of(16 * 1024, 16), {}});
  profile->setup.look_at_waits = true;
  std::set<std::string> asked;
  for (const TraceJob& job : jobs) asked.insert("root." + job.queue);
  profile->setup.goes_to = PlacesFor(configuration.queues, asked);
  SchedulerTarget target(*profile->scheduler);
  JobList source(jobs);
  RunResult result = TraceRun(target, list, source, std::move(profile->setup)).Run();
  result.profile = configuration.profile;
  return result;
}

TraceJob Job(const std::string& queue, const std::string& user, size_t tasks, int64_t submit_ms) {
  TraceJob job;
  job.name = queue + "-" + user;
  job.queue = queue;
  job.user = user;
  job.submit_ms = submit_ms;
  job.stages.emplace_back();
  job.stages[0].run_ms.assign(tasks, 30'000);
  return job;
}

TEST(MigrationTest, AUserLimitMakesOneUserWaitLongerAndIsNamed) {
  const std::map<std::string, std::string> files = {
      {"fair-scheduler.xml", kFair},
      {"capacity-scheduler.xml", Capacity(Property("yarn.scheduler.capacity.root.b.user-limit-factor", "0.5") +
                                          Property("yarn.scheduler.capacity.root.a.user-limit-factor", "2"))}};
  const auto from = Read(files, "fair-scheduler.xml");
  const auto to = Read(files, "capacity-scheduler.xml", "3.3.6");
  ASSERT_TRUE(from.ok()) << from.error().message;
  ASSERT_TRUE(to.ok()) << to.error().message;
  EXPECT_EQ(from->profile + " " + from->version, "yarn-fair 3.4.3");
  EXPECT_EQ(to->profile + " " + to->version, "yarn-capacity 3.3.6");
  // Half of a quarter of 32 GiB is 4 GiB, where the fair scheduler gives 8.
  const std::vector<TraceJob> jobs = {Job("b", "bob", 40, 0), Job("a", "ann", 40, 500), Job("old", "eve", 2, 1000)};
  const RunResult before = RunUnder(*from, jobs, 2);
  const RunResult after = RunUnder(*to, jobs, 2);
  EXPECT_EQ(before.jobs, 3) << before.first_problem;
  const Comparison comparison = CompareRuns(before, after);
  const GroupComparison& bob = comparison.users[0];
  EXPECT_EQ(bob.name, "bob");
  EXPECT_EQ(bob.change, Change::kLater);
  EXPECT_GT(bob.relative_change, 0.5);
  ASSERT_FALSE(bob.to.held.empty());
  EXPECT_EQ(bob.to.held[0].reason, PendingReason::kUserLimit);
  EXPECT_GT(bob.to.held[0].part, 0.8);
  EXPECT_NE(bob.to.held[0].detail.find("user bob uses"), std::string::npos) << bob.to.held[0].detail;
  ASSERT_FALSE(bob.from.held.empty());
  EXPECT_EQ(bob.from.held[0].reason, PendingReason::kQueueMaximum);
  ASSERT_EQ(comparison.places.size(), 1U) << "the queue that one configuration does not have";
  EXPECT_EQ(comparison.places[0].asked, "root.old");
  EXPECT_EQ(comparison.places[0].from, "root.old");
  EXPECT_TRUE(comparison.places[0].refused_to);
  EXPECT_NE(ComparisonJson(comparison).find("\"reason\":\"USER_LIMIT\""), std::string::npos);
  Comparison told = comparison;
  const std::string page = report::Html(ReportOf(told, {before, after}));
  EXPECT_NE(page.find("user limit"), std::string::npos);
  EXPECT_NE(page.find("<svg"), std::string::npos);
}

std::string DifferenceText(const std::vector<SettingDifference>& all, const std::string& queue,
                           const std::string& setting) {
  for (const SettingDifference& one : all) {
    if (one.queue == queue && one.setting == setting) return one.from + " | " + one.to;
  }
  return "none";
}

TEST(MigrationTest, WhatAConverterDropsIsToldByQueue) {
  const std::map<std::string, std::string> files = {
      {"d/fair-scheduler.xml", kFair},
      {"d/yarn-site.xml", "<configuration>" + Property("yarn.scheduler.fair.preemption", "true") + "</configuration>"},
      {"e/capacity-scheduler.xml", Capacity("")}};
  const auto from = Read(files, "d");
  const auto to = Read(files, "e");
  ASSERT_TRUE(from.ok()) << from.error().message;
  ASSERT_TRUE(to.ok()) << to.error().message;
  const auto all = DifferencesOf(*from, *to);
  EXPECT_EQ(DifferenceText(all, "root.a", "minimum"), "4096 MiB, 4 cores | ");
  EXPECT_EQ(DifferenceText(all, "root.a", "preemption below the minimum after"), "30 s | ");
  EXPECT_EQ(DifferenceText(all, "root.b", "maximum"), "8192 MiB, 8 cores | ");
  EXPECT_EQ(DifferenceText(all, "root.old", "queue"), "is there | ");
  EXPECT_EQ(DifferenceText(all, "root.a", "share of its parent"), "60 % | 75 %");
  EXPECT_EQ(DifferenceText(all, "root.a", "a user"), " | at most 1 times the queue's capacity");
  EXPECT_EQ(DifferenceText(all, "", "preemption"), "on | off");
  EXPECT_TRUE(DifferencesOf(*from, *from).empty());
}

TEST(MigrationTest, ANumberWithWhichHadoopDoesNotStartIsToldAndLeftOut) {
  const std::string key = "yarn.scheduler.capacity.node-locality-delay";
  const auto read = Read({{"c.xml", Capacity(Property(key, "0.5"))}}, "c.xml");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->notes.size(), 1U);
  EXPECT_NE(read->notes[0].find(key + " is '0.5'"), std::string::npos) << read->notes[0];
  EXPECT_TRUE(MakeProfile(*read).ok());
  EXPECT_EQ(read->queues.capacity->node_locality_delay, 40);
}

TEST(MigrationTest, AProfileTakesTheOthersQueues) {
  const auto capacity = Read({{"c.xml", Capacity(Property("yarn.scheduler.capacity.root.b.maximum-capacity", "50") +
                                                 Property("yarn.scheduler.capacity.root.b.max-parallel-apps", "7"))}},
                             "c.xml");
  ASSERT_TRUE(capacity.ok()) << capacity.error().message;
  for (const char* name : {"fairlead", "tdw", "yarn-fair", "spark-standalone", "yarn-capacity"}) {
    SCOPED_TRACE(name);
    const auto named = NameConfiguration(name, "", *capacity);
    ASSERT_TRUE(named.ok()) << named.error().message;
    const RunResult run = RunUnder(*named, {Job("a", "ann", 3, 0), Job("b", "bob", 3, 10)}, 2);
    EXPECT_EQ(run.jobs, 2) << run.first_problem;
    if (std::string_view(name) == "yarn-capacity") continue;
    const auto& queues = named->queues.queues;
    const auto b = std::find_if(queues.begin(), queues.end(), [](const auto& queue) { return queue.name == "root.b"; });
    ASSERT_NE(b, queues.end());
    EXPECT_EQ(b->weight, 25);
    EXPECT_EQ(b->max_running_apps, 7);
    EXPECT_DOUBLE_EQ(b->max_resources->percent.at("*"), 50);
  }
  EXPECT_FALSE(NameConfiguration("tdw", "3.4.3", *capacity).ok());
}

/// Containers of 700 MiB are as large under it as they were.
TEST(MigrationTest, AProfileOnItsOwnQueuesDiffersInNothing) {
  const auto files = [](const char* scheduler) -> std::map<std::string, std::string> {
    return {{"c/yarn-site.xml", "<configuration>" + Property("fairlead.scheduler.profile", scheduler) +
                                    Property("yarn.scheduler.minimum-allocation-mb", "1") +
                                    Property("yarn.scheduler.increment-allocation-mb", "100") +
                                    Property("fairlead.scheduler.yarn-fair.version", "3.3.6") +
                                    Property("yarn.scheduler.fair.assignmultiple", "true") + "</configuration>"},
            {"c/fair-scheduler.xml", "<allocations><queue name='a'/><queue name='b'/></allocations>"}};
  };
  for (const char* name : {"fairlead", "tdw", "yarn-fair"}) {
    SCOPED_TRACE(name);
    const auto own = Read(files(name), "c");
    ASSERT_TRUE(own.ok()) << own.error().message;
    const auto named = NameConfiguration(name, "", *own);
    ASSERT_TRUE(named.ok()) << named.error().message;
    EXPECT_EQ(named->version, own->version);
    EXPECT_EQ(named->conf.String("yarn.scheduler.fair.assignmultiple"), "true");
    std::vector<TraceJob> jobs = {Job("a", "ann", 30, 0), Job("b", "bob", 30, 10)};
    for (TraceJob& job : jobs) job.stages[0].size = model::Resources::Of(1700, 1);
    EXPECT_EQ(RunUnder(*named, jobs, 1).decisions, RunUnder(*own, jobs, 1).decisions);
    const auto other = NameConfiguration(name == std::string_view("tdw") ? "fairlead" : "tdw", "", *own);
    EXPECT_EQ(other->conf.String("yarn.scheduler.increment-allocation-mb"), "100");
    EXPECT_FALSE(other->conf.IsSet("yarn.scheduler.fair.assignmultiple"));
  }
}

TEST(MigrationTest, AShortNameIsTheOnlyLeafOfThatName) {
  model::QueueTree tree;
  for (const char* name : {"root.x.prod", "root.x.dev", "root.y.dev"}) {
    tree.queues.emplace_back();
    tree.queues.back().name = name;
  }
  const auto places = PlacesFor(tree, {"root.prod", "root.dev", "root.x.dev", "root.nope", "root.x"});
  EXPECT_EQ(places, (std::map<std::string, std::string>{{"root.prod", "root.x.prod"}}));
}

TEST(MigrationTest, BadInputIsRefusedByName) {
  const std::map<std::string, std::string> files = {{"both/fair-scheduler.xml", kFair},
                                                    {"both/capacity-scheduler.xml", Capacity("")},
                                                    {"other.xml", "<a/>"},
                                                    {"broken.xml", "<allocations><queue>"},
                                                    {"empty.xml", ""},
                                                    {"none/core-site.xml", "<configuration/>"},
                                                    {"f.xml", kFair}};
  const auto error = [&](const std::string& path, const std::string& version = "") {
    const auto read = Read(files, path, version);
    if (!read.ok()) return read.error().message;
    const auto made = MakeProfile(*read);
    return made.ok() ? std::string("none") : made.error().message;
  };
  EXPECT_NE(error("both").find("name the one that counts"), std::string::npos) << error("both");
  EXPECT_NE(error("other.xml").find("neither a fair-scheduler.xml"), std::string::npos);
  EXPECT_NE(error("empty.xml").find("neither a fair-scheduler.xml"), std::string::npos);
  EXPECT_NE(error("broken.xml").find("broken.xml:1"), std::string::npos) << error("broken.xml");
  EXPECT_NE(error("none").find("has no fair-scheduler.xml and no capacity-scheduler.xml"), std::string::npos);
  EXPECT_NE(error("nowhere").find("is no file"), std::string::npos);
  EXPECT_NE(error("f.xml", "2.7.0").find("2.7.0"), std::string::npos) << error("f.xml", "2.7.0");
  EXPECT_EQ(error("f.xml"), "none");
}

}  // namespace
}  // namespace fairlead::sim
