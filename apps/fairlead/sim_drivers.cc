#include "sim_drivers.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "between.h"
#include "commands.h"
#include "sim/drivers/drivers.h"
#include "table.h"

namespace fairlead::apps {
namespace {

int Failed(const base::Error& error) {
  std::fprintf(stderr, "fairlead sim drivers: %s\n", error.message.c_str());
  return kFailed;
}

int Day(const sim::DriversOptions& options, bool json) {
  Table table({"RULES", "SLOWDOWN", "P99", "COMPLETION", "MAKESPAN", "EXECUTORS", "ENDED"});
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const sim::DriverRules& rules : sim::DriverRuleSets()) {
    const auto run = sim::RunDrivers(options, rules);
    if (!run.ok()) return Failed(run.error());
    rows.push_back({{"rules", rules.name},
                    {"meanSlowdown", run->slowdown_mean},
                    {"p99Slowdown", run->slowdown_p99},
                    {"meanCompletionSeconds", run->completion_mean.seconds()},
                    {"makespanSeconds", run->makespan.seconds()},
                    {"executors", run->executors},
                    {"ended", run->ended}});
    table.Add({rules.name, Fixed(run->slowdown_mean, 1), Fixed(run->slowdown_p99, 1),
               Fixed(run->completion_mean.seconds(), 0) + " s", Fixed(run->makespan.seconds(), 0) + " s",
               std::to_string(run->executors), std::to_string(run->ended)});
  }
  if (json) {
    std::printf("%s\n", nlohmann::ordered_json{{"runs", rows}}.dump(1).c_str());
  } else {
    table.Print();
  }
  return kOk;
}

int Beside(const sim::DriversOptions& options, int32_t seeds, bool json) {
  const auto compared = sim::CompareDrivers(options, seeds);
  if (!compared.ok()) return Failed(compared.error());
  Table table({"RULES", "SLOWDOWN", "WORST SEED", "P99", "COMPLETION", "MAKESPAN"});
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const sim::DriversBeside& row : *compared) {
    rows.push_back({{"rules", row.name},
                    {"meanSlowdownRatio", row.slowdown_mean},
                    {"meanSlowdownRatioWorst", row.slowdown_worst},
                    {"p99SlowdownRatio", row.slowdown_p99},
                    {"meanCompletionRatio", row.completion_mean},
                    {"makespanRatio", row.makespan}});
    table.Add({row.name, Fixed(row.slowdown_mean, 3), Fixed(row.slowdown_worst, 3), Fixed(row.slowdown_p99, 3),
               Fixed(row.completion_mean, 3), Fixed(row.makespan, 3)});
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

void AddSimDrivers(CLI::App& sim, int& exit_code) {
  CLI::App* drivers = sim.add_subcommand(
      "drivers", "Run a day of applications at spark://, by Spark's rules and by the queues of profile fairlead");
  drivers->footer(
      "SLOWDOWN is the time from submission to end, divided by what the application takes alone.\n"
      "Examples:\n  fairlead sim drivers\n  fairlead sim drivers --load 0.7 --dynamic 1\n  fairlead sim drivers "
      "--seeds 8");
  auto options = std::make_shared<sim::DriversOptions>();
  auto json = std::make_shared<bool>(false);
  auto seeds = std::make_shared<int32_t>(1);
  drivers->add_option("--applications", options->applications, "number of applications")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  drivers->add_option("--workers", options->workers, "number of Workers, of 16 cores and 64 GiB each")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  drivers->add_option("--load", options->load, "work that comes, as a part of what the Workers do in that time")
      ->check(Between(0.01, 100.0))
      ->capture_default_str();
  drivers->add_option("--dynamic", options->dynamic, "part of the applications with dynamic allocation")
      ->check(Between(0.0, 1.0))
      ->capture_default_str();
  drivers->add_option("--bounded", options->bounded, "part of the applications with a spark.cores.max (8 to 64)")
      ->check(Between(0.0, 1.0))
      ->capture_default_str();
  drivers->add_option("--seed", options->seed, "of everything that is drawn")
      ->check(CLI::Range(int64_t{0}, kSeedMax))
      ->capture_default_str();
  drivers->add_option("--seeds", *seeds, "that many seeds from there on: the queues beside Spark's rules")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  drivers->add_flag("--json", *json, "print results as JSON");
  drivers->callback([options, seeds, json, &exit_code] {
    exit_code = *seeds > 1 ? Beside(*options, *seeds, *json) : Day(*options, *json);
  });
}

}  // namespace fairlead::apps
