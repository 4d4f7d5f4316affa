#include "sim_trace.h"

#include <zlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "base/did_you_mean.h"
#include "commands.h"
#include "config/allocation_file.h"
#include "env_posix/posix_loop.h"
#include "profiles/profile.h"
#include "progress.h"
#include "sim/traces/both.h"
#include "sim/traces/faults.h"
#include "sim/traces/profiles.h"
#include "sim/traces/read.h"
#include "sim/traces/report.h"
#include "sim/traces/synthetic.h"
#include "table.h"

namespace fairlead::apps {
namespace {

/// Bound of a trace file, unpacked.
constexpr size_t kTraceBytes = size_t{4} << 30;

struct TraceArguments {
  std::vector<std::string> traces;
  std::string profile = "fairlead";
  std::string queues;
  std::vector<std::string> weights;
  std::string node_list;
  int64_t nodes = 0;
  int64_t node_memory = 0;
  int64_t node_vcores = 0;
  double scale = 0.01;
  double hours = 24;
  double faster = 1;
  uint64_t seed = 1;
  bool preemption = false;
  bool scheduler_only = false;
  std::vector<std::string> keys;
  std::string wishes;
  sim::FaultOptions faults;
  sim::UseOptions use;
  double measure_seconds = 3;
  int64_t repair_seconds = 600;
  int64_t block_mib = 64;
  std::string out;
  bool json = false;
};

/// The cluster and the jobs that the arguments speak of; several sources may be made from it.
struct Workload {
  std::string name;
  std::vector<sim::TraceNode> nodes;
  model::QueueTree queues;
  int64_t span_ms = 0;
  bool synthetic = false;
  model::Resources master_size = model::Resources::Of(1024, 1);
  std::vector<sim::TraceJob> jobs;  // of files
};

/// Reads a file, unpacking it when it is gzip.
base::Result<std::string> ReadTraceFile(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) return base::Error{path + ": cannot be opened", kNotFound};
  std::string text;
  std::string piece(1 << 20, '\0');
  for (;;) {
    const int got = gzread(file.get(), piece.data(), static_cast<unsigned>(piece.size()));
    if (got < 0) return base::Error{path + ": cannot be read, or is damaged gzip"};
    if (got == 0) return text;
    if (text.size() + static_cast<size_t>(got) > kTraceBytes) return base::Error{path + ": larger than 4 GiB"};
    text.append(piece, 0, static_cast<size_t>(got));
  }
}

/// "NAME=VALUE" split at the first '='.
base::Result<std::pair<std::string, std::string>> SplitPair(const std::string& text, const char* option) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    return base::Error{std::string(option) + " takes NAME=VALUE, not \"" + text + "\"", kUsage};
  }
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

/// Every queue that a file, a generator or a job names.
std::vector<std::string> QueueNames(const Workload& workload) {
  std::set<std::string> names;
  for (const auto& queue : workload.queues.queues) names.insert(queue.name);
  for (const sim::TraceJob& job : workload.jobs)
    names.insert(job.queue.starts_with("root.") ? job.queue : "root." + job.queue);
  return {names.begin(), names.end()};
}

base::Status AddQueues(const TraceArguments& arguments, Workload& workload) {
  if (!arguments.queues.empty()) {
    const auto text = ReadTraceFile(arguments.queues);
    if (!text) return text.error();
    auto file = config::ParseAllocationFile(*text, arguments.queues);
    if (!file) return base::Error{file.error().message, kUsage};
    workload.queues = std::move(file->tree);
  }
  for (const std::string& text : arguments.weights) {
    const auto pair = SplitPair(text, "--weight");
    if (!pair) return pair.error();
    const std::string name = pair->first.starts_with("root.") ? pair->first : "root." + pair->first;
    char* end = nullptr;
    const double weight = std::strtod(pair->second.c_str(), &end);
    if (pair->second.empty() || *end != '\0' || !(weight > 0 && weight <= 1e6)) {
      return base::Error{"--weight " + text + ": a weight is a number above 0, at most 1000000", kUsage};
    }
    auto& queues = workload.queues.queues;
    const auto it = std::find_if(queues.begin(), queues.end(), [&](const auto& queue) { return queue.name == name; });
    if (it != queues.end()) {
      it->weight = weight;
    } else {
      const std::vector<std::string> known = QueueNames(workload);
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        return base::Error{"--weight " + text + ": no job is in a queue " + name + base::DidYouMean(name, known),
                           kUsage};
      }
      queues.push_back({});
      queues.back().name = name;
      queues.back().weight = weight;
    }
  }
  return {};
}

base::Status AddNodes(const TraceArguments& arguments, Workload& workload) {
  model::Resources size = workload.synthetic && arguments.traces[0] == "tdw" ? sim::TdwNode() : model::Resources{};
  size[0] = 10'240;  // as in Hadoop's simulator
  size[1] = 10;
  if (arguments.node_memory > 0) size[0] = arguments.node_memory;
  if (arguments.node_vcores > 0) size[1] = arguments.node_vcores;
  if (!arguments.node_list.empty()) {
    const auto text = ReadTraceFile(arguments.node_list);
    if (!text) return text.error();
    auto nodes = sim::ReadNodes(*text, arguments.node_list, size);
    if (!nodes) return nodes.error();
    workload.nodes = std::move(*nodes);
    return {};
  }
  if (arguments.nodes == 0 && !workload.synthetic) workload.nodes = sim::NodesNamedBy(workload.jobs, size);
  if (!workload.nodes.empty() && arguments.nodes == 0) return {};
  workload.nodes.clear();
  for (int64_t i = 0; i < (arguments.nodes ? arguments.nodes : 100); ++i) {
    workload.nodes.push_back({"n" + std::to_string(i), "/r" + std::to_string(i / 20), size, {}});
  }
  return {};
}

sim::SyntheticWorkload Synthetic(const TraceArguments& arguments) {
  const sim::SyntheticOptions options{arguments.scale, arguments.seed, arguments.hours};
  return arguments.traces[0] == "tdw" ? sim::TdwDay(options) : sim::GoogleMix(options);
}

base::Status AddJobs(const TraceArguments& arguments, Workload& workload) {
  sim::TraceOptions options;
  options.seed = arguments.seed;
  options.swim.block_bytes = arguments.block_mib << 20;
  for (const std::string& path : arguments.traces) {
    if (path == "tdw" || path == "google") {
      if (arguments.traces.size() > 1) return base::Error{"\"" + path + "\" cannot be mixed with other traces", kUsage};
      sim::SyntheticWorkload made = Synthetic(arguments);
      workload.synthetic = true;
      workload.nodes = std::move(made.nodes);
      workload.queues = std::move(made.queues);
      workload.span_ms = made.span_ms;
      workload.master_size = made.master_size;
      workload.name = path == "tdw" ? "TDW day" : "Google-like mix";
      workload.name += ", scale " + CLI::detail::to_string(arguments.scale);
      return {};
    }
    const auto text = ReadTraceFile(path);
    if (!text) return text.error();
    auto trace = sim::ReadTrace(*text, path, options);
    if (!trace) return trace.error();
    workload.name += (workload.name.empty() ? "" : " + ") + std::filesystem::path(path).filename().string();
    std::move(trace->jobs.begin(), trace->jobs.end(), std::back_inserter(workload.jobs));
  }
  for (sim::TraceJob& job : workload.jobs) {
    job.submit_ms = static_cast<int64_t>(static_cast<double>(job.submit_ms) / arguments.faster);
  }
  std::stable_sort(workload.jobs.begin(), workload.jobs.end(),
                   [](const auto& a, const auto& b) { return a.submit_ms < b.submit_ms; });
  if (!workload.jobs.empty()) workload.span_ms = workload.jobs.back().submit_ms + 1;
  return {};
}

base::Result<Workload> Load(const TraceArguments& arguments) {
  Workload workload;
  for (const auto add : {AddJobs, AddQueues, AddNodes}) {
    if (const base::Status status = add(arguments, workload); !status) return status.error();
  }
  return workload;
}

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
  sim::FaultOptions faults = arguments.faults;
  faults.seed = arguments.seed;
  faults.repair_ms = arguments.repair_seconds * 1000;
  profile->setup.master_size = workload.master_size;
  profile->setup.use = arguments.use;
  profile->setup.use.seed = arguments.seed;
  profile->setup.use.measure_ms = static_cast<int64_t>(arguments.measure_seconds * 1000);
  profile->setup.faults = sim::PlanFaults(faults, workload.nodes, workload.span_ms);
  const std::unique_ptr<sim::JobSource> jobs =
      workload.synthetic ? std::move(Synthetic(arguments).jobs) : std::make_unique<sim::JobList>(workload.jobs);
  sim::PlacedJobs placed(*jobs, workload.nodes, arguments.seed);
  sim::StormyJobs stormy(placed, faults, workload.span_ms);
  std::unique_ptr<sim::TraceTarget> target;
  if (arguments.scheduler_only) {
    target = std::make_unique<sim::SchedulerTarget>(*profile->scheduler);
  } else {
    target = std::make_unique<sim::BothTarget>(*profile->scheduler);
  }
  sim::TraceRun run(*target, workload.nodes, stormy, std::move(profile->setup));
  Progress progress(name);
  sim::RunResult result = run.Run([&](const sim::Progress& now) {
    progress.Show(now.jobs_ended, now.jobs, "jobs",
                  ", " + Counted(now.tasks_ended, "task") + ", " + sim::SpanText(now.now_ms));
  });
  result.profile = name;
  result.wishes = ToString(profile->wishes);
  result.trace = workload.name;
  result.seed = arguments.seed;
  return result;
}

base::Status WriteResults(const std::string& directory, const std::vector<sim::RunResult>& runs) {
  const auto disk = env_posix::MakePosixDisk();
  const std::pair<const char*, std::string> files[] = {{"report.html", sim::ReportHtml(runs)},
                                                       {"results.json", sim::ResultsJson(runs)},
                                                       {"samples.csv", sim::SamplesCsv(runs)},
                                                       {"jobs.csv", sim::JobsCsv(runs)}};
  for (const auto& [name, text] : files) {
    if (const base::Status written = disk->WriteFileAtomically(directory + "/" + name, text); !written) return written;
  }
  return {};
}

void PrintTable(const std::vector<sim::RunResult>& runs) {
  std::vector<std::string> header = {""};
  for (const sim::RunResult& run : runs) header.push_back(run.profile);
  Table table(header);
  for (const sim::MetricRow& row : sim::Compare(runs)) {
    std::vector<std::string> cells = {row.name};
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const bool marked = runs.size() > 1 && static_cast<int>(i) == row.best;
      cells.push_back(row.cells[i] + (marked ? " *" : ""));
    }
    table.Add(std::move(cells));
  }
  table.Print();
  if (runs.size() > 1) std::puts("* the best of the row");
}

/// The largest queues of one run; the rest is in the files.
void PrintQueues(const sim::RunResult& run) {
  constexpr size_t kMost = 12;
  Table table({"QUEUE", "JOBS", "SLOWDOWN", "P99", "SHARE"});
  std::vector<std::vector<std::string>> rows = sim::QueueRows(run);
  const size_t left_out = rows.size() > kMost ? rows.size() - kMost : 0;
  rows.resize(rows.size() - left_out);
  for (std::vector<std::string>& row : rows) table.Add(std::move(row));
  std::puts("");
  table.Print();
  if (left_out > 0) std::printf("... and %zu more queues\n", left_out);
}

/// Error: a key that none of the profiles reads, so that the run would try nothing.
base::Status CheckKeys(const std::vector<std::string>& keys, const std::vector<std::string>& profiles) {
  std::vector<std::string> known;
  for (const std::string& name : profiles) {
    for (const profiles::Setting& setting : profiles::Find(name)->settings()) known.push_back(setting.key);
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
  if (!workload) {
    const int code = workload.error().code;
    return Complain(command, workload.error().message, code == 0 ? kUsage : static_cast<ExitCode>(code));
  }
  if (workload->jobs.empty() && !workload->synthetic) return Complain(command, "the trace has no jobs", kUsage);
  if (!arguments.out.empty()) {  // before minutes of work, not after
    const base::Status made = env_posix::MakePosixDisk()->MakeDirectories(arguments.out);
    if (!made) return Complain(command, made.error().message, kFailed);
  }
  std::vector<sim::RunResult> runs;
  for (const std::string& name : profiles) {
    auto run = RunOne(arguments, *workload, name);
    if (!run) return Complain(command, run.error().message, kUsage);
    runs.push_back(std::move(*run));
  }
  if (arguments.json) {
    std::fputs(sim::ResultsJson(runs).c_str(), stdout);
  } else {
    std::printf("%s: %lld jobs, %lld tasks, %lld nodes, seed %llu\n", workload->name.c_str(),
                static_cast<long long>(runs[0].jobs), static_cast<long long>(runs[0].tasks),
                static_cast<long long>(runs[0].nodes), static_cast<unsigned long long>(arguments.seed));
    PrintTable(runs);
    if (runs.size() == 1) PrintQueues(runs[0]);
    for (const sim::RunResult& run : runs) {
      std::printf("%s: %lld grants in %.1f s, decisions %016llx\n", run.profile.c_str(),
                  static_cast<long long>(run.grants), run.real_seconds, static_cast<unsigned long long>(run.decisions));
    }
  }
  if (!arguments.out.empty()) {
    const base::Status written = WriteResults(arguments.out, runs);
    if (!written) return Complain(command, written.error().message, kFailed);
    if (!arguments.json) {
      std::printf("written: %s/report.html, results.json, samples.csv, jobs.csv\n", arguments.out.c_str());
    }
  }
  int code = kOk;
  for (const sim::RunResult& run : runs) {
    if (run.unfinished + run.rejected > 0 || run.diverged)
      code = Complain(command, run.profile + ": " + run.first_problem, kFailed);
  }
  return code;
}

/// What tasks really use (docs/simulator.md).
void AddUseOptions(CLI::App& command, TraceArguments& arguments) {
  command
      .add_option("--real-use", arguments.use.part,
                  "tasks use so much of what they ask for, and nodes measure it (1: all; 0: nobody measures)")
      ->check(CLI::Range(0.0, 4.0));
  const auto add = [&](const char* name, double& value, const char* about, double low, double high) {
    command.add_option(name, value, about)->check(CLI::Range(low, high))->capture_default_str()->needs("--real-use");
  };
  add("--io-jobs", arguments.use.io_jobs, "this part of the jobs waits for disks and hardly for cores", 0, 1);
  add("--io-disk", arguments.use.io_disk, "of a disk's time each of their tasks takes", 0, 1);
  add("--busy-nodes", arguments.use.busy_nodes, "this part of the nodes runs other programs", 0, 1);
  add("--busy-cores", arguments.use.busy_cores, "which want so many times its cores, and so much of its disk's time", 0,
      10);
  command
      .add_option("--use-kinds", arguments.use.kinds,
                  "jobs are of so many kinds, and those of one use alike (0: each is one of its own)")
      ->check(CLI::Range(0, 1'000'000))
      ->needs("--real-use");
  add("--measure-every", arguments.measure_seconds, "seconds between two reports of a node", 0.1, 3600);
  add("--input-size", arguments.use.input_mib, "MiB that a task with places reads, if it runs elsewhere", 0, 1e6);
  add("--rack-mbit", arguments.use.rack_mbit, "how fast within its rack", 1, 1e6);
  add("--cluster-mbit", arguments.use.cluster_mbit, "and from another rack", 1, 1e6);
}

void AddTraceOptions(CLI::App& command, TraceArguments& arguments) {
  command
      .add_option("trace", arguments.traces,
                  "trace files, also gzip: Hadoop SLS, Rumen, SLS workload (syn.json), SWIM; or \"tdw\" or \"google\" "
                  "for a synthetic day")
      ->required();
  command.add_option("--queues", arguments.queues, "fair-scheduler.xml; without it, queues as jobs name them, alike");
  command.add_option("--weight", arguments.weights, "QUEUE=WEIGHT over what the file says; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--node-list", arguments.node_list, "SLS node list (nodes.json)");
  command.add_option("--nodes", arguments.nodes, "number of nodes (default: those that the trace names, else 100)")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--node-memory", arguments.node_memory, "MiB of a node (default 10240)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  command.add_option("--node-vcores", arguments.node_vcores, "cores of a node (default 10)")
      ->check(CLI::Range(1, 1 << 20));
  command.add_option("--scale", arguments.scale, "tdw, google: part of the real cluster and its jobs")
      ->check(CLI::Range(0.0001, 10.0))
      ->capture_default_str();
  command.add_option("--hours", arguments.hours, "tdw, google: for so long jobs come")
      ->check(CLI::Range(0.01, 240.0))
      ->capture_default_str();
  command.add_option("--faster", arguments.faster, "files: jobs come so many times as fast as in the trace")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  command.add_option("--block-size", arguments.block_mib, "SWIM: MiB of input per map")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command.add_option("--seed", arguments.seed, "of everything that is drawn: jobs, places of blocks, faults")
      ->check(CLI::Range(int64_t{0}, kSeedMax))
      ->capture_default_str();
  command.add_flag("--preemption", arguments.preemption, "take containers back from queues above their share");
  command.add_flag("--scheduler-only", arguments.scheduler_only,
                   "step the scheduler by itself, without the resource manager's part: faster");
  command.add_option("--key", arguments.keys, "KEY=VALUE of the profile (fairlead config profiles); may be repeated")
      ->allow_extra_args(false);
  command.add_option("--wishes", arguments.wishes,
                     "switches of profile fairlead with commas between, or all (docs/wishes.md)");
  command.add_option("--lose-racks", arguments.faults.rack_losses, "so often a whole rack is lost")
      ->check(CLI::Range(0, 10'000));
  command.add_option("--repair", arguments.repair_seconds, "seconds until a lost rack comes back")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  command.add_option("--slow-nodes", arguments.faults.slow_nodes, "part of the nodes that is slow, 0 to 1")
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--slow-factor", arguments.faults.slow_factor, "tasks take so many times as long there")
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  command.add_option("--storms", arguments.faults.storms, "so often 200 small jobs come within a second")
      ->check(CLI::Range(0, 10'000));
  AddUseOptions(command, arguments);
  command.add_option("--out", arguments.out, "directory for report.html, results.json, samples.csv, jobs.csv");
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
}

}  // namespace fairlead::apps
