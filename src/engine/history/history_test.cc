#include "engine/history/history.h"

#include <gtest/gtest.h>

#include <tuple>

// The application's story: events as lines and back, a log that was cut off, what the summary says, and that nothing
// from a log gets into the page unescaped.

namespace fairlead::engine::history {
namespace {

TaskFinished Task(int64_t task, int32_t stage, int64_t begin, int64_t end, const std::string& how = "success") {
  TaskFinished finished;
  finished.launch = {begin, task, stage, 0, static_cast<int32_t>(task), 0, "1", "NODE_LOCAL", false, "", ""};
  finished.at_ms = end;
  finished.end = how;
  return finished;
}

std::vector<Event> Story() {
  std::vector<Event> events{ApplicationStarted{1000, 1, "application_1_0001", "word_count", ""},
                            ExecutorJoined{1100, "1", "host-a", 2, true}, JobStarted{1200, 0, "save <out>", "reports"},
                            StageStarted{1200, 4, 0, 0, "map \"text\"", 5, true, {}}};
  for (int64_t i = 0; i < 5; ++i) {
    TaskFinished task = Task(i, 4, 1200 + i, i == 4 ? 2300 : 1300 + i);
    task.metrics.bytes_read = 100 * (i + 1);
    task.metrics.spilled_bytes = i == 2 ? 7000 : 0;
    events.push_back(task);
  }
  TaskFinished broken = Task(5, 4, 1300, 1400, "exception");
  broken.reason = "std::runtime_error: <script>alert(1)</script>";
  events.push_back(broken);
  events.push_back(StageFinished{2300, 4, 0, ""});
  events.push_back(JobFinished{2350, 0, ""});
  events.push_back(ApplicationEnded{2400, ""});
  return events;
}

std::string LogOf(const std::vector<Event>& events) {
  std::string text;
  for (const Event& event : events) text += ToLine(event);
  return text;
}

TEST(HistoryTest, ReadsWhatWasWritten) {
  const auto history = ReadLog(LogOf(Story()));
  ASSERT_TRUE(history.ok()) << history.error().message;
  History live;
  for (const Event& event : Story()) {
    if (const auto* task = std::get_if<TaskFinished>(&event)) live.Apply(task->launch);
    live.Apply(event);
  }
  EXPECT_EQ(ToJson(*history), ToJson(live));
  EXPECT_EQ(history->executors().size(), 1u);
  EXPECT_TRUE(history->executors()[0].joined.serves_own_files);
  const StageRow& stage = history->stages().at({4, 0});
  EXPECT_EQ(stage.done, 5);
  EXPECT_EQ(stage.failed, 1);
  EXPECT_EQ(stage.running, 0);
  EXPECT_EQ(stage.started.name, "map \"text\"");
}

TEST(HistoryTest, TellsWhichTasksRun) {
  History live;
  for (const Event& event : Story()) {
    const auto* task = std::get_if<TaskFinished>(&event);
    if (task == nullptr) {
      if (!std::holds_alternative<StageFinished>(event) && !std::holds_alternative<JobFinished>(event))
        live.Apply(event);
      continue;
    }
    live.Apply(task->launch);
    if (task->launch.task != 2 && task->launch.task != 0) live.Apply(event);
  }
  const std::string json = RunningToJson(live);
  EXPECT_TRUE(json.starts_with("{\"total\":2,\"tasks\":[{\"stage\":4,\"stage_attempt\":0,\"task\":0,")) << json;
  EXPECT_NE(
      json.find("\"task\":2,\"partition\":2,\"attempt\":0,\"executor\":\"1\",\"at_ms\":1202,\"level\":\"NODE_LOCAL\""),
      std::string::npos)
      << json;
  EXPECT_EQ(RunningToJson(*ReadLog(LogOf(Story()))), "{\"total\":0,\"tasks\":[],\"stages\":[]}");
  const std::string sum = ToLine(Sum(live, live.stages().at({4, 0})));  // {"stage_summed":{...}}
  EXPECT_NE(json.find(sum.substr(sum.find(":{") + 1, sum.size() - sum.find(":{") - 3)), std::string::npos)
      << json << sum;
}

TEST(HistoryTest, SumsInALogTellTheSameAsItsTasks) {
  std::vector<Event> events = Story();
  History live;
  for (const Event& event : events) live.Apply(event);
  StageSummed early = Sum(live, live.stages().at({4, 0}));
  early.done = 1;
  early.summary.succeeded = 1;
  events.insert(events.end() - 1, early);  // more has happened since
  EXPECT_EQ(ToJson(*ReadLog(LogOf(events))), ToJson(live));
  EXPECT_EQ(ToJson(*ReadLog(LogOf(Story()) + SumLines(live))), ToJson(live));
}

TEST(HistoryTest, SummarizesAStage) {
  const auto history = ReadLog(LogOf(Story()));
  ASSERT_TRUE(history.ok());
  const StageSummary sum = history->Summarize(history->stages().at({4, 0}));
  EXPECT_EQ(sum.succeeded, 5);
  EXPECT_EQ(sum.failed, 1);
  EXPECT_EQ(sum.duration_ms.min, 100);
  EXPECT_EQ(sum.duration_ms.median, 100);
  EXPECT_EQ(sum.duration_ms.max, 1096);
  EXPECT_EQ(sum.read_bytes.median, 300);
  EXPECT_EQ(sum.input_bytes, 1500);
  EXPECT_EQ(sum.spilled_bytes, 7000);
  EXPECT_TRUE(sum.skewed());  // 1,096 ms beside 100
  EXPECT_EQ(sum.spill_bytes.max, 7000);
  EXPECT_EQ(sum.levels.at("NODE_LOCAL"), 6);
}

std::string Found(const History& history) {
  std::string text;
  for (const Finding& finding : FindingsOf(history.Summarize(history.stages().at({4, 0}))))
    text += finding.kind + " " + std::to_string(finding.count) + ": " + finding.text + "\n";
  return text;
}

TEST(HistoryTest, FindsWhatIsWorthALook) {
  EXPECT_EQ(Found(*ReadLog(LogOf(Story()))),
            "slow tasks 1: 1 task took up to 1.1 s, the median is 100 ms\n"
            "spilling tasks 1: 1 task spilled 6.8 KiB: more partitions or memory\n"
            "failed attempts 1: 1 attempt failed\n");
}

TEST(HistoryTest, WhatWasTakenBackHasNotFailed) {
  std::vector<Event> events = Story();
  int64_t task = 10;
  for (const char* end : {"killed", "commit_denied", "executor_lost caused_by_app=false",
                          "executor_lost caused_by_app=true", "fetch_failed"}) {
    events.insert(events.end() - 3, Task(task++, 4, 1300, 1400, end));
  }
  const auto history = ReadLog(LogOf(events));
  const StageSummary sum = history->Summarize(history->stages().at({4, 0}));
  EXPECT_EQ(sum.taken_back, 3);
  EXPECT_EQ(sum.failed, 3);
  EXPECT_NE(ToText(*history).find("3 attempts failed\n      3 attempts taken back\n"), std::string::npos);
}

TEST(HistoryTest, ALastLineCountsOnceItIsWhole) {
  const std::string log = LogOf(Story());
  const std::string_view bare = std::string_view(log).substr(0, log.size() - 1);
  EXPECT_EQ(ToJson(*ReadLog(bare)), ToJson(*ReadLog(log))) << "without its line end";
  const std::string_view before = bare.substr(0, bare.rfind('\n') + 1);
  EXPECT_EQ(ToJson(*ReadLog(bare.substr(0, bare.size() - 1))), ToJson(*ReadLog(before))) << "while it is written";
  EXPECT_NE(ToJson(*ReadLog(before)), ToJson(*ReadLog(log)));
}

TEST(HistoryTest, AnErrorOfManyLinesIsPrintedOnce) {
  std::vector<Event> events = Story();
  events.resize(events.size() - 3);
  const std::string error = "executor 1 lost: container, status 139\n./job(+0x1)[0x2]";
  events.push_back(ExecutorLeft{2290, "1", error});
  events.push_back(StageFinished{2300, 4, 0, "Job aborted: " + error});
  events.push_back(JobFinished{2350, 0, "Job aborted: " + error});
  events.push_back(ApplicationEnded{2400, "Job aborted: " + error});
  const std::string text = ToText(*ReadLog(LogOf(events)));
  const size_t first = text.find("./job(+0x1)");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("./job(+0x1)", first + 1), std::string::npos) << text;
  EXPECT_NE(text.find("left: executor 1 lost: container, status 139\n"), std::string::npos) << text;
  EXPECT_NE(text.find("      Job aborted: executor 1 lost: container, status 139\n"), std::string::npos) << text;
}

TEST(HistoryTest, AMedianIsSparks) {
  std::vector<Event> events = Story();
  events.resize(4);
  events.push_back(Task(0, 4, 1200, 1201));
  events.push_back(Task(1, 4, 1200, 1209));
  const auto history = ReadLog(LogOf(events));
  const Quantiles two = history->Summarize(history->stages().at({4, 0})).duration_ms;
  EXPECT_EQ(std::tie(two.min, two.p25, two.median, two.p75, two.max), std::make_tuple(1, 1, 9, 9, 9));
}

TEST(HistoryTest, ATaskThatReadsAllIsFoundWhereTheMedianReadsNothing) {
  std::vector<Event> events = Story();
  for (Event& event : events) {
    auto* const task = std::get_if<TaskFinished>(&event);
    if (task == nullptr) continue;
    task->metrics.bytes_read = task->launch.task == 2 ? 5 << 20 : 0;
    task->metrics.spilled_bytes = 0;
    task->at_ms = task->launch.at_ms + 50;
  }
  EXPECT_EQ(Found(*ReadLog(LogOf(events))),
            "large reads 1: 1 task read up to 5.0 MiB, the median is 0: keys that are far more frequent, or files that "
            "cannot be split\nfailed attempts 1: 1 attempt failed\n");
}

TEST(HistoryTest, AStageWhoseTasksAreNotAllInTheLogIsToldWithItsSums) {
  History live;
  for (const Event& event : Story()) live.Apply(event);
  const StageRow& whole = live.stages().at({4, 0});
  std::vector<Event> events = Story();
  events.erase(events.begin() + 6, events.begin() + 10);  // the last tasks; one failed
  events.insert(events.begin() + 6, {TasksOmitted{1400}, Sum(live, whole)});
  const auto history = ReadLog(LogOf(events));
  ASSERT_TRUE(history.ok()) << history.error().message;
  EXPECT_TRUE(history->tasks_omitted());
  EXPECT_EQ(history->stages().at({4, 0}).done, 5);
  EXPECT_EQ(history->stages().at({4, 0}).failed, 1);
  EXPECT_EQ(Found(*history), Found(live));
  EXPECT_EQ(history->Summarize(history->stages().at({4, 0})).levels.at("NODE_LOCAL"), 6);
}

TEST(HistoryTest, AnExecutorIsFoundThatIsSlowWithAllItsTasks) {
  std::vector<Event> events = Story();
  events.resize(4);
  events.push_back(ExecutorJoined{1200, "slow", "host-b", 2, true});
  for (int64_t i = 0; i < 10; ++i) {
    TaskFinished task = Task(i, 4, 1200, i < 3 ? 1440 : 1300);
    if (i < 3) task.launch.executor = "slow";
    events.push_back(task);
  }
  EXPECT_EQ(Found(*ReadLog(LogOf(events))),
            "slow executor 1: executor slow took twice the median or more: its node may be busy\n");
}

TEST(HistoryTest, ALogThatWasCutOffIsReadUpToThere) {
  const std::string whole = LogOf(Story());
  const auto cut = ReadLog(whole.substr(0, whole.size() - 10));
  ASSERT_TRUE(cut.ok()) << cut.error().message;
  EXPECT_FALSE(cut->ended());
  EXPECT_EQ(cut->jobs().at(0).ended_ms, 2350);
  const auto without_its_end = ReadLog(whole.substr(0, whole.size() - 1));
  ASSERT_TRUE(without_its_end.ok()) << without_its_end.error().message;
  EXPECT_TRUE(without_its_end->ended());
}

TEST(HistoryTest, RefusesWhatIsNoLog) {
  EXPECT_FALSE(ReadLog("").ok());
  EXPECT_FALSE(ReadLog("hello\n").ok());
  EXPECT_FALSE(ReadLog("{\"job_started\":{}}\n").ok());
  const auto broken = ReadLog(ToLine(ApplicationStarted{1, 1, "a", "b", ""}) + "{\"job_started\":\n");
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().message.find("line 2"), std::string::npos);
}

TEST(HistoryTest, PassesOverWhatALaterReleaseTells) {
  std::vector<Event> rest = Story();
  rest.erase(rest.begin());
  const auto history = ReadLog(LogOf({Story().front()}) + "{\"weather\":{\"at_ms\":1}}\n" + LogOf(rest));
  ASSERT_TRUE(history.ok()) << history.error().message;
  EXPECT_EQ(ToJson(*history), ToJson(*ReadLog(LogOf(Story()))));
}

TEST(HistoryTest, OldTasksBecomeSummaries) {
  History history;
  history.Apply(ApplicationStarted{1, 1, "a", "b", ""});
  history.Apply(ExecutorJoined{1, "1", "h", 1, false});
  const auto tasks = static_cast<int64_t>(History::kTasksMax / 2 + 10);
  for (int32_t stage = 0; stage < 3; ++stage) {
    history.Apply(StageStarted{1, stage, 0, 0, "s", static_cast<int32_t>(tasks), false, {}});
    for (int64_t i = 0; i < tasks; ++i) history.Apply(Task(stage * tasks + i, stage, 10, 30));
    history.Apply(StageFinished{40, stage, 0, ""});
  }
  EXPECT_TRUE(history.stages().at({0, 0}).dropped);
  EXPECT_TRUE(history.stages().at({0, 0}).tasks.empty());
  EXPECT_FALSE(history.stages().at({2, 0}).dropped);
  EXPECT_EQ(history.Summarize(history.stages().at({0, 0})).succeeded, tasks);
  EXPECT_EQ(history.Summarize(history.stages().at({0, 0})).duration_ms.median, 20);
}

TEST(HistoryTest, WhatRanWhenTheDriverWasKilledDidNotEnd) {
  std::vector<Event> events = Story();
  events.resize(events.size() - 3);  // its stage, its job and itself had not ended
  History history = *ReadLog(LogOf(events));
  EXPECT_EQ(history.state(), "running");
  EXPECT_NE(ToText(history).find(" UTC, last heard of after "), std::string::npos) << ToText(history);
  EXPECT_EQ(history.StateOf(history.jobs().at(0).ended_ms, ""), "running");
  history.Apply(ApplicationEnded{3000, "killed by <root>", true});
  EXPECT_EQ(history.state(), "killed");
  EXPECT_EQ(history.StateOf(history.jobs().at(0).ended_ms, ""), "not ended");
  const std::string text = ToText(history);
  EXPECT_NE(text.find("): killed, began"), std::string::npos);
  EXPECT_NE(text.find(" UTC, took "), std::string::npos);
}

TEST(HistoryTest, SaysWhyTasksRanAwayFromTheirData) {
  std::vector<Event> events = Story();
  std::get<ApplicationStarted>(events.front()).locality_waits = "process 3.0 s, node 0 ms, rack 0 ms";
  for (Event& event : events) {
    auto* const task = std::get_if<TaskFinished>(&event);
    if (task == nullptr || task->launch.task > 1) continue;
    task->launch.level = "ANY";
    task->launch.wanted = "<host-b>";
    task->launch.why = "no executor there";
  }
  const History history = *ReadLog(LogOf(events));
  EXPECT_EQ(history.Summarize(history.stages().at({4, 0})).away,
            (std::map<std::string, int64_t>{{"no executor there", 2}}));
  const std::string text = ToText(history);
  EXPECT_NE(text.find("2 tasks away from their data: no executor there"), std::string::npos);
  EXPECT_NE(text.find("waits for places near the data: process 3.0 s, node 0 ms"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::engine::history
