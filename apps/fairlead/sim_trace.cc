#include "sim_trace.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/did_you_mean.h"
#include "profiles/profile.h"
#include "report_out.h"
#include "sim/traces/comparison_report.h"
#include "sim/traces/report.h"
#include "sim_migrate.h"
#include "sim_workload.h"

namespace fairlead::apps {
namespace {

base::Result<sim::RunResult> RunOne(const TraceArguments& arguments, const Workload& workload,
                                    const std::string& name) {
  sim::ProfileOptions options;
  options.queues = workload.queues;
  options.preemption = arguments.preemption;
  for (const std::string& text : arguments.keys) {
    const auto pair = SplitPair(text, "--key");
    if (!pair) return pair.error();
    options.keys[pair->first] = pair->second;
  }
  if (!arguments.wishes.empty()) options.keys[profiles::kWishesKey] = arguments.wishes;
  auto profile = sim::MakeProfile(name, options);
  if (!profile) return base::Error{profile.error().message, kUsage};
  return RunUnder(arguments, workload, std::move(*profile), name);
}

/// Error: a key that none of the profiles reads, so that the run would try nothing.
base::Status CheckKeys(const std::vector<std::string>& keys, const std::vector<std::string>& profiles) {
  std::vector<std::string> known;
  for (const std::string& name : profiles) {
    for (const config::Setting& setting : profiles::Find(name)->settings()) known.push_back(setting.key);
  }
  for (const std::string& text : keys) {
    const std::string key = text.substr(0, text.find('='));
    if (key.starts_with("yarn.scheduler.") || std::find(known.begin(), known.end(), key) != known.end()) continue;
    return base::Error{"--key " + key + " is read by no profile of this run" + base::DidYouMean(key, known)};
  }
  return {};
}

int RunTraces(const std::string& command, const TraceArguments& arguments, const std::vector<std::string>& profiles) {
  if (const auto keys = CheckKeys(arguments.keys, profiles); !keys)
    return Complain(command, keys.error().message, kUsage);
  const auto wishes = model::ParseWishes(arguments.wishes);
  if (!wishes) return Complain(command, "--wishes: " + wishes.error().message, kUsage);
  if (!arguments.wishes.empty() && std::find(profiles.begin(), profiles.end(), "fairlead") == profiles.end()) {
    return Complain(command, "--wishes are switches of profile fairlead; leave one of both away", kUsage);
  }
  for (const std::string& told : model::WithoutEffect(*wishes))
    std::fprintf(stderr, "fairlead %s: --wishes: %s\n", command.c_str(), told.c_str());
  const auto workload = Load(arguments);
  if (!workload) return Complain(command, workload.error().message, CodeOfLoad(workload.error()));
  if (workload->jobs.empty() && !workload->synthetic) return Complain(command, "the trace has no jobs", kUsage);
  if (const auto made = MakeOut(arguments.out); !made) return Complain(command, made.error().message, kFailed);
  std::vector<sim::RunResult> runs;
  for (const std::string& name : profiles) {
    auto run = RunOne(arguments, *workload, name);
    if (!run) return Complain(command, run.error().message, kUsage);
    runs.push_back(std::move(*run));
  }
  report::Report report = sim::ReportOf(runs);
  for (const sim::RunResult& run : runs) {
    char line[80];
    std::snprintf(line, sizeof line, ": %lld grants in %.1f s, decisions %016llx", static_cast<long long>(run.grants),
                  run.real_seconds, static_cast<unsigned long long>(run.decisions));
    report.about.push_back(run.profile + line);
    if (!run.first_problem.empty()) report.about.push_back(run.profile + ": " + run.first_problem);
  }
  const std::string json = sim::ResultsJson(runs, report.parts);
  const std::string text = TextOf(report);
  std::fputs((arguments.json ? json : text).c_str(), stdout);
  const auto written =
      WriteOut(arguments.out, report, text,
               {{"results.json", json}, {"samples.csv", sim::SamplesCsv(runs)}, {"jobs.csv", sim::JobsCsv(runs)}});
  if (!written) return Complain(command, written.error().message, kFailed);
  if (!arguments.json) std::fputs(written->c_str(), stdout);
  int code = kOk;
  for (const sim::RunResult& run : runs) {
    if (run.unfinished + run.rejected > 0 || run.diverged)
      code = Complain(command, run.profile + ": " + run.first_problem, kFailed);
  }
  return code;
}

void AddTraceOptions(CLI::App& command, TraceArguments& arguments) {
  AddWorkloadOptions(command, "trace", arguments);
  command.add_option("--queues", arguments.queues, "fair-scheduler.xml; without it, queues as jobs name them, alike");
  command.add_option("--weight", arguments.weights, "QUEUE=WEIGHT over what the file says; may be repeated")
      ->allow_extra_args(false);
  command.add_flag("--preemption", arguments.preemption, "take containers back from queues above their share");
  command.add_flag("--scheduler-only", arguments.scheduler_only,
                   "step the scheduler by itself, without the resource manager's part: faster");
  command.add_option("--key", arguments.keys, "KEY=VALUE of the profile (fairlead config profiles); may be repeated")
      ->allow_extra_args(false);
  command.add_option("--wishes", arguments.wishes,
                     "switches of profile fairlead with commas between, or all (docs/wishes.md)");
  command.add_option("--out", arguments.out,
                     "directory for report.html, report.txt, results.json, samples.csv, jobs.csv");
  command.add_flag("--json", arguments.json, "print results as JSON");
}

}  // namespace

void AddSimTraces(CLI::App& sim, int& exit_code) {
  auto run_arguments = std::make_shared<TraceArguments>();
  CLI::App* run = sim.add_subcommand("run", "Run a trace through one profile of the scheduler, over virtual time");
  AddTraceOptions(*run, *run_arguments);
  run->add_option("--profile", run_arguments->profile, "the scheduler's profile")
      ->check(CLI::IsMember(profiles::Names()))
      ->capture_default_str();
  run->footer(
      "Examples:\n"
      "  fairlead sim run jobs.json --node-list nodes.json --queues fair-scheduler.xml --out result\n"
      "  fairlead sim run FB-2009_samples_24_times_1hr_0.tsv --nodes 100 --faster 4\n"
      "  fairlead sim run tdw --scale 0.05 --lose-racks 3 --slow-nodes 0.02 --out result");
  run->callback(
      [run_arguments, &exit_code] { exit_code = RunTraces("sim run", *run_arguments, {run_arguments->profile}); });

  auto compare_arguments = std::make_shared<TraceArguments>();
  CLI::App* compare = sim.add_subcommand("compare", "Run a trace through all profiles and set them side by side");
  AddTraceOptions(*compare, *compare_arguments);
  compare->footer(
      "Examples:\n"
      "  fairlead sim compare tdw --scale 0.01 --hours 4 --out result\n"
      "  fairlead sim compare trace.tsv.gz --nodes 60 --faster 8 --queues fair-scheduler.xml");
  compare->callback(
      [compare_arguments, &exit_code] { exit_code = RunTraces("sim compare", *compare_arguments, profiles::Names()); });

  AddSimMigrate(sim, exit_code);
}

}  // namespace fairlead::apps
