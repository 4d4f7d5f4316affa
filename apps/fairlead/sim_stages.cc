#include "sim_stages.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.h"
#include "sim/stages/stages.h"
#include "table.h"

namespace fairlead::apps {
namespace {

nlohmann::ordered_json JsonOf(const std::string& rules, const sim::StagesResult& result) {
  return {{"rules", rules},
          {"jobsDone", result.jobs_done},
          {"jobsFailed", result.jobs_failed},
          {"mixedResults", result.mixed_results},
          {"makespanSeconds", result.makespan.seconds()},
          {"jobMeanSeconds", result.job_mean.seconds()},
          {"jobP95Seconds", result.job_p95.seconds()},
          {"local", result.local},
          {"remoteReadSeconds", result.remote_reads.seconds()},
          {"tasks", result.tasks},
          {"recomputed", result.recomputed},
          {"launchMessages", result.launch_messages},
          {"executorHours", result.executors_held.seconds() / 3600}};
}

int Stages(const sim::StagesOptions& options, bool json) {
  Table table({"RULES", "JOB MEAN", "JOB P95", "LOCAL", "REMOTE READS", "TASKS", "RECOMPUTED", "MESSAGES",
               "EXECUTOR HOURS", "FAILED", "MIXED"});
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const sim::StageRules& rules : sim::StageRuleSets()) {
    const sim::StagesResult result = sim::RunStages(options, rules.config);
    rows.push_back(JsonOf(rules.name, result));
    table.Add({rules.name, Fixed(result.job_mean.seconds(), 1) + " s", Fixed(result.job_p95.seconds(), 1) + " s",
               Fixed(100 * result.local, 0) + " %", Fixed(result.remote_reads.seconds(), 0) + " s",
               std::to_string(result.tasks), std::to_string(result.recomputed), std::to_string(result.launch_messages),
               Fixed(result.executors_held.seconds() / 3600, 2), std::to_string(result.jobs_failed),
               std::to_string(result.mixed_results)});
  }
  if (json) {
    std::printf("%s\n", nlohmann::ordered_json{{"runs", rows}}.dump(1).c_str());
  } else {
    table.Print();
  }
  return kOk;
}

int Beside(const sim::StagesOptions& options, int32_t seeds, bool json) {
  Table table({"RULES", "JOB MEAN", "WORST SEED", "JOB P95", "FAILED"});
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const sim::StagesBeside& row : sim::CompareStages(options, seeds)) {
    rows.push_back({{"rules", row.name},
                    {"jobMeanRatio", row.job_mean},
                    {"jobMeanRatioWorst", row.job_mean_worst},
                    {"jobP95Ratio", row.job_p95},
                    {"jobsFailed", row.jobs_failed}});
    table.Add({row.name, Fixed(row.job_mean, 2), Fixed(row.job_mean_worst, 2), Fixed(row.job_p95, 2),
               std::to_string(row.jobs_failed)});
  }
  if (json) {
    std::printf("%s\n", nlohmann::ordered_json{{"seeds", seeds}, {"besideSpark", rows}}.dump(1).c_str());
  } else {
    std::printf("Of Spark's on the same seed, over %d seeds (geometric mean):\n", seeds);
    table.Print();
  }
  return kOk;
}

}  // namespace

void AddSimStages(CLI::App& sim, int& exit_code) {
  CLI::App* stages = sim.add_subcommand(
      "stages", "Run jobs of several stages through the task scheduler, by Spark's rules and by those beyond Spark");
  stages->footer(
      "MIXED counts jobs whose tasks read different rows of one output, so that their result may be wrong.\n"
      "Examples:\n  fairlead sim stages\n  fairlead sim stages --jobs 1000 --hosts 100 --seed 7\n  fairlead sim stages "
      "--seeds 8");
  auto options = std::make_shared<sim::StagesOptions>();
  auto json = std::make_shared<bool>(false);
  auto seeds = std::make_shared<int32_t>(1);
  stages->add_option("--jobs", options->jobs, "number of jobs")->check(CLI::Range(1, 100'000))->capture_default_str();
  stages->add_option("--hosts", options->hosts, "number of hosts, with one executor of four slots each")
      ->check(CLI::Range(2, 10'000))
      ->capture_default_str();
  stages->add_option("--seed", options->seed, "of everything that is drawn")
      ->check(CLI::Range(int64_t{0}, kSeedMax))
      ->capture_default_str();
  stages->add_option("--seeds", *seeds, "that many seeds from there on: each set of rules beside Spark's")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  stages->add_flag("--json", *json, "print results as JSON");
  stages->callback([options, seeds, json, &exit_code] {
    exit_code = *seeds > 1 ? Beside(*options, *seeds, *json) : Stages(*options, *json);
  });
}

}  // namespace fairlead::apps
