#include "sim/stages/stages.h"

#include <gtest/gtest.h>

#include <map>

namespace fairlead::sim {
namespace {

/// Results of one trace by name of the rules.
std::map<std::string, StagesResult> Compare(const StagesOptions& options) {
  std::map<std::string, StagesResult> results;
  for (const StageRules& rules : StageRuleSets()) results[rules.name] = RunStages(options, rules.config);
  return results;
}

TEST(StagesTest, EachRuleBeyondSparkShowsWhatItIsFor) {
  std::map<std::string, StagesResult> results = Compare(StagesOptions());
  const StagesResult& spark = results["Spark's"];
  for (const auto& [name, result] : results) EXPECT_EQ(result.jobs_done + result.jobs_failed, 200) << name;
  EXPECT_LT(results["adaptive delay"].job_mean, spark.job_mean);
  EXPECT_LT(results["load against locality"].job_mean, spark.job_mean);
  EXPECT_LT(results["executors kept for their outputs"].recomputed, spark.recomputed);
  EXPECT_LT(results["templates"].launch_messages, spark.launch_messages);
  EXPECT_EQ(results["templates"].job_mean, spark.job_mean);
  EXPECT_LT(results["all of these"].job_mean, spark.job_mean);
  EXPECT_EQ(spark.mixed_results, 0);
  EXPECT_EQ(results["all of these"].mixed_results, 0);
}

/// Recomputing only what was lost of rows that depend on the order of their input gives results of mixed rows.
TEST(StagesTest, LostOutputsOnlyMixesRows) {
  int64_t mixed = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    StagesOptions options;
    options.seed = seed;
    tasks::Config rules;
    EXPECT_EQ(RunStages(options, rules).mixed_results, 0) << seed;
    rules.beyond.whole_stage_when_indeterminate = false;
    mixed += RunStages(options, rules).mixed_results;
  }
  EXPECT_GT(mixed, 0);
}

/// What a driver of ours has by default is no slower than Spark's rules over seeds that nothing was fitted to.
TEST(StagesTest, ADriversDefaultsBesideSparks) {
  StagesOptions options;
  options.seed = 101;
  const std::vector<StagesBeside> rows = CompareStages(options, 4);
  EXPECT_EQ(rows.front().job_mean, 1);
  EXPECT_EQ(rows.front().job_mean_worst, 1);
  const StagesBeside& defaults = rows[3];
  EXPECT_EQ(defaults.name, "executors kept for their outputs");
  EXPECT_LT(defaults.job_mean, 1);
  EXPECT_LE(defaults.job_mean, defaults.job_mean_worst);
  EXPECT_LT(defaults.jobs_failed, rows.front().jobs_failed);
}

TEST(StagesTest, SameSeedSameResult) {
  const tasks::Config rules = StageRuleSets().front().config;
  const StagesResult a = RunStages(StagesOptions(), rules);
  const StagesResult b = RunStages(StagesOptions(), rules);
  EXPECT_EQ(a.makespan, b.makespan);
  EXPECT_EQ(a.job_mean, b.job_mean);
  EXPECT_EQ(a.tasks, b.tasks);
  EXPECT_EQ(a.remote_reads, b.remote_reads);
}

}  // namespace
}  // namespace fairlead::sim
