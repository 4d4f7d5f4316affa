#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "sim/executors/rules.h"
#include "sim/executors/workload.h"

namespace fairlead::sim {
namespace {

using testing::HasSubstr;

/// A stage whose tasks take so long whatever their executor did; the first task of a job a second longer.
TimedStage Stage(int32_t tasks, int32_t ms, std::vector<int32_t> parents = {}) {
  TimedStage stage;
  stage.tasks = tasks;
  stage.parents = std::move(parents);
  stage.times[5] = {.fresh = {}, .first = {ms}, .rest = {ms}};
  stage.mean_ms = ms;
  return stage;
}

/// The stages with children set from parents.
TimedJob Job(std::vector<TimedStage> stages) {
  for (size_t i = 0; i < stages.size(); ++i) {
    for (const int32_t parent : stages[i].parents) {
      stages[static_cast<size_t>(parent)].children.push_back(static_cast<int32_t>(i));
    }
  }
  return stages;
}

std::string Query(const std::string& durations, const std::string& edges = "[]") {
  return R"({"stages": 1, "edges": )" + edges + R"(, "durations": )" + durations + "}";
}

/// A whole workload in which one query is `special`.
std::string Workload(const std::string& special) {
  const std::string usual =
      Query(R"([{"fresh_durations": {"5": []}, "first_wave": {"5": [100]}, "rest_wave": {"5": []}}])");
  std::string all = "{";
  for (const std::string_view size : kQuerySizes) {
    for (int32_t i = 1; i <= kQueries; ++i) {
      const std::string name = std::string(size) + "/" + std::to_string(i);
      all += (all.size() > 1 ? ", \"" : "\"") + name + "\": " + (name == "5g/3" ? special : usual);
    }
  }
  return all + "}";
}

TEST(SimExecutors, AnExecutorMovesThenWarmsUpThenRunsOneTaskAfterTheOther) {
  const TimedJob job = Job({Stage(3, 1000)});
  SharedCluster cluster({.executors = 1}, 1);
  cluster.Submit(job, 500);
  EqualShares rule;
  EXPECT_THAT(cluster.Run(rule), testing::ElementsAre(2000 + 1000 + 3 * 1000));
}

TEST(SimExecutors, AStageWaitsForItsParents) {
  const TimedJob job = Job({Stage(2, 1000), Stage(2, 500, {0}), Stage(1, 100, {0, 1})});
  SharedCluster cluster({.executors = 2}, 1);
  cluster.Submit(job, 0);
  EqualShares rule;
  // An executor that waited for a stage warms up once more, as in the publication's environment.
  EXPECT_THAT(cluster.Run(rule), testing::ElementsAre(2000 + (1000 + 1000) + (1000 + 500) + (1000 + 100)));
}

TEST(SimExecutors, TheSmallJobGetsTheExcessOfTheLargeOne) {
  const TimedJob large = Job({Stage(400, 1000), Stage(400, 1000)});
  const TimedJob small = Job({Stage(4, 1000)});
  const auto run = [&](ExecutorRule& rule) {
    SharedCluster cluster({.executors = 8}, 1);
    cluster.Submit(large, 0);
    cluster.Submit(small, 10'000);
    return cluster.Run(rule);
  };
  EqualShares equal;
  std::vector<std::string> choices;
  LeastWorkFirst least(0, 1, [&](const std::string& choice) { choices.push_back(choice); });
  const std::vector<int64_t> stays = run(equal);
  const std::vector<int64_t> leaves = run(least);
  EXPECT_GT(stays[1], 50'000) << "executors stay with the large job until its stages have no more tasks";
  EXPECT_LT(leaves[1], stays[1]);
  EXPECT_GT(least.reasons().at(ShareReason::kBelowShare), 0);
  EXPECT_EQ(
      choices.at(0),
      "0.000 s: 8 executors of no job for stage 0 of job 0, which has 0: goes to the job with the least work left "
      "of those below their share");
  EXPECT_THAT(choices,
              testing::Contains(testing::MatchesRegex(
                  "[0-9]+\\.[0-9]+ s: [1-4] executors? of job 0 for stage 0 of job 1, which has [0-3]: goes to "
                  "the job with the least work left of those below their share")));
  int64_t counted = 0;
  for (const auto& [reason, times] : least.reasons()) counted += times;
  EXPECT_EQ(static_cast<int64_t>(choices.size()), counted) << "each choice is told";
}

TEST(SimExecutors, EveryJobEndsUnderBothRulesAndTheSameSeedGivesTheSame) {
  base::Rng rng(7);
  std::vector<TimedJob> jobs;
  for (int32_t i = 0; i < 40; ++i) {
    std::vector<TimedStage> stages;
    const auto number = static_cast<int32_t>(rng.Between(1, 6));
    for (int32_t s = 0; s < number; ++s) {
      std::vector<int32_t> parents;
      for (int32_t p = 0; p < s; ++p) {
        if (rng.Chance(0.4)) parents.push_back(p);
      }
      stages.push_back(
          Stage(static_cast<int32_t>(rng.Between(1, 30)), static_cast<int32_t>(rng.Between(1, 5000)), parents));
    }
    jobs.push_back(Job(std::move(stages)));
  }
  const auto run = [&](bool equal) {
    SharedCluster cluster({.executors = 10}, 3);
    for (size_t i = 0; i < jobs.size(); ++i) cluster.Submit(jobs[i], static_cast<int64_t>(i) * 3000);
    EqualShares first;
    LeastWorkFirst second(0.7, 3);
    return equal ? cluster.Run(first) : cluster.Run(second);
  };
  for (const bool equal : {true, false}) {
    const std::vector<int64_t> took = run(equal);
    ASSERT_EQ(took.size(), jobs.size());
    EXPECT_TRUE(std::all_of(took.begin(), took.end(), [](int64_t ms) { return ms > 0; }));
    EXPECT_EQ(run(equal), took);
  }
}

TEST(SimExecutors, ReadsQueriesAndCleansFirstWaves) {
  const std::string special = Query(
      R"([{"fresh_durations": {"5": [30], "10": [70, 70]}, "first_wave": {"5": [30, 20], "10": [70, 70]},
           "rest_wave": {"5": [10], "10": [10]}},
          {"fresh_durations": {"5": []}, "first_wave": {"5": [8]}, "rest_wave": {"5": []}}])",
      "[[0, 1]]");
  const auto queries = ReadQueries(Workload(special));
  ASSERT_TRUE(queries.ok()) << queries.error().message;
  ASSERT_EQ(queries->size(), 154U);
  const TimedQuery& query = (*queries)[22 + 2];
  EXPECT_EQ(query.name, "5g/3");
  ASSERT_EQ(query.stages.size(), 2U);
  EXPECT_EQ(query.stages[0].tasks, 3);
  EXPECT_THAT(query.stages[0].times.at(5).first, testing::ElementsAre(20));
  EXPECT_THAT(query.stages[0].times.at(10).first, testing::ElementsAre(20))
      << "an empty first wave takes the one below";
  EXPECT_THAT(query.stages[0].children, testing::ElementsAre(1));
  EXPECT_DOUBLE_EQ(query.stages[0].mean_ms, (20 + 20 + 10 + 10 + 30 + 70 + 70) / 7.0);
}

TEST(SimExecutors, BadQueriesAreRefusedByName) {
  const std::string stage = R"([{"fresh_durations": {"5": []}, "first_wave": {"5": [1]}, "rest_wave": {"5": []}}])";
  const std::pair<std::string, std::string> cases[] = {
      {"{}", "no query 2g/1"},
      {"[1]", "JSON object"},
      {"{\"2g/1\"", ""},
      {Workload("3"), "5g/3: needs"},
      {Workload(Query("[]")), "5g/3: has no stages"},
      {Workload(Query(stage, "[[0, 0]]")), "circle"},
      {Workload(Query(stage, "[[0, 1]]")), "edge"},
      {Workload(Query(R"([{"first_wave": {"5": [1]}, "rest_wave": {"5": []}}])")), "fresh_durations"},
      {Workload(Query(R"([{"fresh_durations": {"5": []}, "first_wave": {"5": [-1]}, "rest_wave": {"5": []}}])")),
       "stage 0"},
      {Workload(Query(R"([{"fresh_durations": {}, "first_wave": {}, "rest_wave": {}}])")), "never timed"},
  };
  for (const auto& [text, what] : cases) {
    const auto queries = ReadQueries(text);
    ASSERT_FALSE(queries.ok()) << what;
    EXPECT_THAT(queries.error().message, HasSubstr(what));
  }
}

}  // namespace
}  // namespace fairlead::sim
