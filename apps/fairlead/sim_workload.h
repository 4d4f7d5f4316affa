#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "commands.h"
#include "sim/traces/faults.h"
#include "sim/traces/journal.h"
#include "sim/traces/profiles.h"
#include "sim/traces/real_use.h"
#include "sim/traces/result.h"
#include "sim/traces/trace.h"
#include "table.h"

namespace CLI {
class App;
}

// What `sim run`, `sim compare` and `sim migrate` have in common: the cluster and the jobs, and one run of them.

namespace fairlead::apps {

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
  int64_t deal_queues = 0;
  int64_t deal_users = 0;
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

/// Its jobs after those that are there; its nodes and the size of its masters.
void TakeRecorded(sim::JournalJobs recorded, Workload& workload);

/// Every queue that a file, a generator or a job names, in full.
std::vector<std::string> QueueNames(const Workload& workload);

/// Reads a file of at most 4 GiB, unpacking it when it is gzip.
base::Result<std::string> ReadTraceFile(const std::string& path);

/// "NAME=VALUE" split at the first '='.
base::Result<std::pair<std::string, std::string>> SplitPair(const std::string& text, const char* option);

/// The cluster and the jobs of the arguments.
base::Result<Workload> Load(const TraceArguments& arguments);
/// The command's exit code when Load fails.
ExitCode CodeOfLoad(const base::Error& error);

/// Runs the workload to its end under a profile, with its progress on standard error; the result is called `name`.
sim::RunResult RunUnder(const TraceArguments& arguments, const Workload& workload, sim::Profile profile,
                        const std::string& name);

/// `trace`: how the traces are given.
void AddWorkloadOptions(CLI::App& command, const std::string& trace, TraceArguments& arguments);

}  // namespace fairlead::apps
