#include "sim_workload.h"

#include <zlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "base/did_you_mean.h"
#include "between.h"
#include "config/allocation_file.h"
#include "env_posix/posix_loop.h"
#include "progress.h"
#include "report/words.h"
#include "sim/traces/both.h"
#include "sim/traces/queue_settings.h"
#include "sim/traces/read.h"
#include "sim/traces/synthetic.h"
#include "sim_journal.h"

namespace fairlead::apps {
namespace {

/// Bound of a trace file, unpacked.
constexpr size_t kTraceBytes = size_t{4} << 30;

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
  if (arguments.nodes == 0 && workload.nodes.empty()) workload.nodes = sim::NodesNamedBy(workload.jobs, size);
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

base::Status AddJournal(const std::string& path, Workload& workload) {
  auto recorded = ReadJournal(path);
  if (!recorded) return recorded.error();
  TakeRecorded(std::move(recorded->jobs), workload);
  workload.queues = sim::FairTreeOf(recorded->configuration.queues);
  return {};
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
    workload.name += (workload.name.empty() ? "" : " + ") + std::filesystem::path(path).filename().string();
    if (IsJournal(path)) {
      if (const base::Status added = AddJournal(path, workload); !added) return added;
      continue;
    }
    const auto text = ReadTraceFile(path);
    if (!text) return text.error();
    auto trace = sim::ReadTrace(*text, path, options);
    if (!trace) return trace.error();
    std::move(trace->jobs.begin(), trace->jobs.end(), std::back_inserter(workload.jobs));
  }
  for (sim::TraceJob& job : workload.jobs) {
    job.submit_ms = static_cast<int64_t>(static_cast<double>(job.submit_ms) / arguments.faster);
  }
  std::stable_sort(workload.jobs.begin(), workload.jobs.end(),
                   [](const auto& a, const auto& b) { return a.submit_ms < b.submit_ms; });
  sim::Deal(workload.jobs, arguments.deal_queues, arguments.deal_users);
  if (!workload.jobs.empty()) workload.span_ms = workload.jobs.back().submit_ms + 1;
  return {};
}

/// What tasks really use (docs/simulator.md).
void AddUseOptions(CLI::App& command, TraceArguments& arguments) {
  command
      .add_option("--real-use", arguments.use.part,
                  "tasks use so much of what they ask for, and nodes measure it (1: all; 0: nobody measures)")
      ->check(Between(0.0, 4.0));
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

}  // namespace

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

base::Result<std::pair<std::string, std::string>> SplitPair(const std::string& text, const char* option) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    return base::Error{std::string(option) + " takes NAME=VALUE, not \"" + text + "\"", kUsage};
  }
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

void TakeRecorded(sim::JournalJobs recorded, Workload& workload) {
  std::move(recorded.jobs.begin(), recorded.jobs.end(), std::back_inserter(workload.jobs));
  if (!workload.jobs.empty()) workload.span_ms = workload.jobs.back().submit_ms + 1;
  workload.nodes = std::move(recorded.nodes);
  workload.master_size = recorded.master_size;
}

std::vector<std::string> QueueNames(const Workload& workload) {
  std::set<std::string> names;
  for (const auto& queue : workload.queues.queues) names.insert(queue.name);
  for (const sim::TraceJob& job : workload.jobs)
    names.insert(job.queue.starts_with("root.") ? job.queue : "root." + job.queue);
  return {names.begin(), names.end()};
}

base::Result<Workload> Load(const TraceArguments& arguments) {
  Workload workload;
  for (const auto add : {AddJobs, AddQueues, AddNodes}) {
    if (const base::Status status = add(arguments, workload); !status) return status.error();
  }
  return workload;
}

ExitCode CodeOfLoad(const base::Error& error) { return error.code == 0 ? kUsage : static_cast<ExitCode>(error.code); }

sim::RunResult RunUnder(const TraceArguments& arguments, const Workload& workload, sim::Profile profile,
                        const std::string& name) {
  sim::FaultOptions faults = arguments.faults;
  faults.seed = arguments.seed;
  faults.repair_ms = arguments.repair_seconds * 1000;
  profile.setup.master_size = workload.master_size;
  profile.setup.use = arguments.use;
  profile.setup.use.seed = arguments.seed;
  profile.setup.use.measure_ms = static_cast<int64_t>(arguments.measure_seconds * 1000);
  profile.setup.faults = sim::PlanFaults(faults, workload.nodes, workload.span_ms);
  const std::unique_ptr<sim::JobSource> jobs =
      workload.synthetic ? std::move(Synthetic(arguments).jobs) : std::make_unique<sim::JobList>(workload.jobs);
  sim::PlacedJobs placed(*jobs, workload.nodes, arguments.seed);
  sim::StormyJobs stormy(placed, faults, workload.span_ms);
  std::unique_ptr<sim::TraceTarget> target;
  if (arguments.scheduler_only) {
    target = std::make_unique<sim::SchedulerTarget>(*profile.scheduler);
  } else {
    target = std::make_unique<sim::BothTarget>(*profile.scheduler);
  }
  sim::TraceRun run(*target, workload.nodes, stormy, std::move(profile.setup));
  Progress progress(name);
  sim::RunResult result = run.Run([&](const sim::Progress& now) {
    progress.Show(now.jobs_ended, now.jobs, "jobs",
                  ", " + Counted(now.tasks_ended, "task") + ", " + report::SpanText(now.now_ms));
  });
  result.profile = name;
  result.wishes = ToString(profile.wishes);
  result.trace = workload.name;
  result.seed = arguments.seed;
  return result;
}

void AddWorkloadOptions(CLI::App& command, const std::string& trace, TraceArguments& arguments) {
  command
      .add_option(trace, arguments.traces,
                  "trace files, also gzip: Hadoop SLS, Rumen, SLS workload (syn.json), SWIM, SWF; a resource manager's "
                  "journal, or "
                  "the directory of one; or \"tdw\" or \"google\" "
                  "for a synthetic day")
      ->required();
  command.add_option("--node-list", arguments.node_list, "SLS node list (nodes.json)");
  command.add_option("--nodes", arguments.nodes, "number of nodes (default: those that the trace names, else 100)")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--node-memory", arguments.node_memory, "MiB of a node (default 10240)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  command.add_option("--node-vcores", arguments.node_vcores, "cores of a node (default 10)")
      ->check(CLI::Range(1, 1 << 20));
  command.add_option("--scale", arguments.scale, "tdw, google: part of the real cluster and its jobs")
      ->check(Between(0.0001, 10.0))
      ->capture_default_str();
  command.add_option("--hours", arguments.hours, "tdw, google: for so long jobs come")
      ->check(Between(0.01, 240.0))
      ->capture_default_str();
  command.add_option("--faster", arguments.faster, "files: jobs come so many times as fast as in the trace")
      ->check(Between(0.001, 1e6))
      ->capture_default_str();
  command.add_option("--block-size", arguments.block_mib, "SWIM: MiB of input per map")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command.add_option("--deal-queues", arguments.deal_queues, "files: jobs are dealt over so many queues, q1, q2, ...")
      ->check(CLI::Range(1, 1000));
  command.add_option("--deal-users", arguments.deal_users, "files: and in each queue over so many users")
      ->check(CLI::Range(1, 100'000));
  command.add_option("--seed", arguments.seed, "of everything that is drawn: jobs, places of blocks, faults")
      ->check(CLI::Range(int64_t{0}, kSeedMax))
      ->capture_default_str();
  command.add_option("--lose-racks", arguments.faults.rack_losses, "so often a whole rack is lost")
      ->check(CLI::Range(0, 10'000));
  command.add_option("--repair", arguments.repair_seconds, "seconds until a lost rack comes back")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  command.add_option("--slow-nodes", arguments.faults.slow_nodes, "part of the nodes that is slow, 0 to 1")
      ->check(Between(0.0, 1.0));
  command.add_option("--slow-factor", arguments.faults.slow_factor, "tasks take so many times as long there")
      ->check(Between(1.0, 1000.0))
      ->capture_default_str();
  command.add_option("--storms", arguments.faults.storms, "so often 200 small jobs come within a second")
      ->check(CLI::Range(0, 10'000));
  AddUseOptions(command, arguments);
}

}  // namespace fairlead::apps
