#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "cluster_command.h"
#include "documents.h"
#include "progress.h"
#include "sim/cluster/fault_run.h"
#include "sim/standalone/standalone_faults.h"
#include "sim_drivers.h"
#include "sim_stages.h"
#include "sim_trace.h"
#include "table.h"

namespace fairlead::apps {
namespace {

struct FaultOptions {
  uint64_t first = 1;
  int seeds = 200;
  std::string plant;
  int twice = 0;
  bool ha = false;
  bool standalone = false;
  bool json = false;
  int managers() const { return ha ? 2 : 1; }
  /// What chose the cluster, on the command line.
  const char* kind() const { return standalone ? " --standalone" : ha ? " --ha" : ""; }
};

sim::PlantedBug BugOf(const std::string& name) {
  if (name == "double-grant") return sim::PlantedBug::kDoubleGrant;
  if (name == "lost-acknowledgement") return sim::PlantedBug::kLostAcknowledgement;
  if (name == "forgotten-container") return sim::PlantedBug::kForgottenContainer;
  if (name == "evicted-promise") return sim::PlantedBug::kEvictedPromise;
  if (name == "lost-kill") return sim::PlantedBug::kLostKill;
  if (name == "stale-table") return sim::PlantedBug::kStaleTable;
  if (name == "double-commit") return sim::PlantedBug::kDoubleCommit;
  if (name == "lost-merge") return sim::PlantedBug::kLostMerge;
  if (name == "no-fence") return sim::PlantedBug::kNoFence;
  if (name == "late-step-down") return sim::PlantedBug::kLateStepDown;
  if (name == "answered-twice") return sim::PlantedBug::kAnsweredTwice;
  return sim::PlantedBug::kNone;
}

void PrintFailure(const sim::FaultRunResult& run, const FaultOptions& options) {
  std::printf("seed %llu FAILED\n", static_cast<unsigned long long>(run.seed));
  for (size_t i = 0; i < run.violations.size() && i < 5; ++i) std::printf("  %s\n", run.violations[i].c_str());
  std::printf("  repeat it: fairlead sim faults%s --first %llu --seeds 1%s%s\n", options.kind(),
              static_cast<unsigned long long>(run.seed), options.plant.empty() ? "" : " --plant ",
              options.plant.c_str());
}

sim::FaultRunResult RunOnce(uint64_t seed, sim::PlantedBug bug, const FaultOptions& options) {
  return options.standalone ? sim::RunStandaloneFaults(seed, bug) : sim::RunFaults(seed, bug, options.managers());
}

/// Zero of an expected fault over all seeds means that the runs no longer test it.
bool PrintCounts(const env_sim::FaultCounts& counts, const FaultOptions& options, bool require_all) {
  Table table({"FAULT OR RARE BRANCH", "FIRED"});
  bool complete = true;
  for (const auto& [name, count] : counts) table.Add({name, std::to_string(count)});
  const std::vector<std::string> expected =
      options.standalone ? sim::ExpectedStandaloneFaults() : sim::ExpectedFaults(options.managers());
  for (const std::string& name : expected) {
    if (counts.contains(name)) continue;
    table.Add({name, require_all ? "0  NEVER" : "0"});
    complete = false;
  }
  if (!options.json) table.Print();
  return complete || !require_all;
}

int Faults(const FaultOptions& options) {
  const sim::PlantedBug bug = BugOf(options.plant);
  env_sim::FaultCounts counts;
  double virtual_seconds = 0;
  int failed = 0;
  std::vector<SeedFailure> failures;
  const auto began = std::chrono::steady_clock::now();
  Progress progress("sim faults");
  for (int i = 0; i < options.seeds; ++i) {
    progress.Show(i, options.seeds, "seeds", failed == 0 ? "" : ", " + std::to_string(failed) + " failed");
    const uint64_t seed = options.first + static_cast<uint64_t>(i);
    sim::FaultRunResult run = RunOnce(seed, bug, options);
    if (i < options.twice && RunOnce(seed, bug, options).hash != run.hash) {
      run.violations.push_back("a second run of the same seed ended in another state");
    }
    if (options.seeds <= 10 || !run.ok()) progress.TakeAway();
    virtual_seconds += run.virtual_seconds;
    for (const auto& [name, count] : run.counts) counts[name] += count;
    if (options.seeds <= 10 && !options.json) {
      std::printf("seed %llu hash %016llx, %lld steps, %.0f s\n", static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(run.hash), static_cast<long long>(run.steps), run.virtual_seconds);
    }
    if (run.ok()) continue;
    ++failed;
    failures.push_back({seed, run.violations});
    if (!options.json) PrintFailure(run, options);
    if (bug != sim::PlantedBug::kNone) break;  // found
  }
  progress.TakeAway();
  const std::chrono::duration<double> real = std::chrono::steady_clock::now() - began;
  const bool many = options.seeds >= 100;
  const bool planted = bug != sim::PlantedBug::kNone;
  const bool complete = planted || PrintCounts(counts, options, many);
  if (options.json) {
    PrintDocument(
        FaultRuns{options.seeds, failures, {{counts.begin(), counts.end()}}, complete, virtual_seconds, real.count()});
    return complete && (failed != 0) == planted ? kOk : kFailed;
  }
  std::printf("%.0f simulated seconds in %.1f s (%.0f per second)\n", virtual_seconds, real.count(),
              virtual_seconds / std::max(real.count(), 1e-9));
  if (planted) {
    std::printf(failed ? "the planted bug was found\n" : "the planted bug was NOT found\n");
    return failed ? kOk : kFailed;
  }
  if (!complete) std::printf("a fault never fired\n");
  std::printf("%d passed, %d failed\n", options.seeds - failed, failed);
  return failed == 0 && complete ? kOk : kFailed;
}

}  // namespace

void AddSim(CLI::App& app, int& exit_code) {
  CLI::App* sim = app.add_subcommand("sim", "Run the production code in a simulated cluster");
  sim->require_subcommand(1);
  AddSimTraces(*sim, exit_code);
  AddSimStages(*sim, exit_code);
  AddSimDrivers(*sim, exit_code);
  CLI::App* faults = sim->add_subcommand(
      "faults",
      "Jobs on a small cluster while connections break and machines crash, by seed; invariants after every step");
  faults->footer(
      "Examples:\n  fairlead sim faults --seeds 200\n  fairlead sim faults --ha --seeds 200\n  fairlead sim faults "
      "--standalone --seeds 200\n  fairlead sim faults --first 17 --seeds 1");
  auto options = std::make_shared<FaultOptions>();
  faults->add_option("--first", options->first, "first seed")
      ->check(CLI::Range(int64_t{0}, kSeedMax))
      ->capture_default_str();
  faults->add_option("--seeds", options->seeds, "number of seeds")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  faults->add_option("--twice", options->twice, "run so many of the seeds a second time and compare the final states")
      ->check(CLI::Range(0, 1'000'000'000))
      ->capture_default_str();
  faults->add_option("--plant", options->plant, "put a bug in and stop when it is found")
      ->check(CLI::IsMember({"double-grant", "lost-acknowledgement", "forgotten-container", "evicted-promise",
                             "lost-kill", "stale-table", "double-commit", "lost-merge", "no-fence", "late-step-down",
                             "answered-twice"}));
  CLI::Option* ha =
      faults->add_flag("--ha", options->ha, "two resource managers, of which one leads, and changes of the leader");
  faults
      ->add_flag("--standalone", options->standalone,
                 "a Standalone cluster: two Masters, of which one leads, Workers and drivers")
      ->excludes(ha);
  faults->add_flag("--json", options->json, "print JSON");
  faults->callback([options, &exit_code] {
    const bool known = options->plant.empty() || options->plant == "no-fence" || options->plant == "late-step-down";
    if (options->standalone && !known) {
      throw CLI::ValidationError("--plant", "of a Standalone cluster there are no-fence and late-step-down");
    }
    exit_code = Faults(*options);
  });
}

}  // namespace fairlead::apps
